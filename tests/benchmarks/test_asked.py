"""Written questions become pairs: the passage as it stands in the wheel, and passages that only look like the answer."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from benchmarks.models import asked as module
from benchmarks.models.asked import FIRST, Row, distinct, forms, kept_out, negatives, pairs, passages, pool, rows, worded
from benchmarks.models.corpus import package
from benchmarks.models.pairs import shingles
from tests.benchmarks.test_models import wheel

SOURCE = '''import torch


def pool(x, mask):
    """Mean over positions
    that are not padding.
    """
    total = (x * mask[..., None]).sum(1)
    count = mask.sum(1, keepdim=True).clamp(min=1)
    return total / count
'''
ASKED = (("A", 5, 6, "is padding left out of the average?"), ("C", 6, 6, "clamp the count"))
CODE = Row("net", "net/pool.py", "net/pool.py · pool", ((4, 10),), ASKED)
PROSE = Row("net", "net/pool.py", "net > pool", ((5, 6),), (("P", 0, 0, "which positions count?"),))


def test_a_passage_of_code_is_its_lines() -> None:
    assert CODE.text(SOURCE).startswith("def pool(x, mask):\n")
    assert CODE.text(SOURCE).endswith("return total / count")


def test_a_passage_of_prose_is_a_docstring_without_its_quotes() -> None:
    assert PROSE.text(SOURCE) == "Mean over positions\nthat are not padding."


def test_passages_in_parts_are_joined() -> None:
    apart = Row("net", "net/pool.py", "net > pool", ((5, 5), (8, 8)), (("P", 0, 0, "?"),))
    assert apart.text(SOURCE) == "Mean over positions\n\ntotal = (x * mask[..., None]).sum(1)"


def test_passages_are_read_out_of_the_wheels_that_are_there_with_and_without_docstring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel(tmp_path, "net", "License: MIT", files={"net/pool.py": SOURCE})
    absent = Row("other", "other/pool.py", "other/pool.py", ((1, 1),), ASKED)
    monkeypatch.setattr(module, "rows", lambda: [CODE, PROSE, absent])
    (code, text), prose = passages(tmp_path)
    assert (code, prose) == (CODE, (PROSE, PROSE.text(SOURCE)))
    assert [form.count("Mean over positions") for form in forms(code, text)] == [1, 0]
    assert forms(*prose) == ["net > pool\nMean over positions\nthat are not padding."]


def test_negatives_are_near_but_neither_the_nearest_nor_like_the_answer() -> None:
    others = np.eye(80, dtype=np.float32)
    question = np.linspace(1.0, 0.1, 80, dtype=np.float32)[None]
    right = others[10:11]
    found = next(negatives(question, right, others))
    assert not {0, 1, 2, 3, 10} & set(found)
    assert set(found) <= set(range(60))


def test_negatives_of_the_second_round_share_words_but_are_not_the_first_found() -> None:
    texts = [*("padding is left out " * (10 - at) + "of the mean" for at in range(9)), "learning rate", "batch size"]
    assert list(worded(["is padding left out?", "learning", "nothing"], texts)) == [list(range(FIRST, 9)), [], []]


def test_the_pool_holds_the_files_that_are_asked_about_and_a_passage_is_no_negative_of_itself(tmp_path: Path) -> None:
    found = package(wheel(tmp_path, "net", "License: MIT", files={"net/pool.py": SOURCE, "net/other.py": SOURCE.replace("pool", "other")}))
    others = pool(found, [CODE])
    assert {chunk.path for chunk in others} == {"net/pool.py", "net/other.py"}
    made = list(pairs(CODE, CODE.text(SOURCE), others, [range(len(others))] * 2, Random(0)))
    assert [pair.kind for pair in made] == ["asked A", "asked C"]
    assert [text.partition("\n")[0] for text in made[0].negatives] == [chunk.header for chunk in others if chunk.path == "net/other.py"]
    assert "Mean over positions" in made[0].passages[0]
    assert "Mean over positions" not in made[0].passages[1]


def test_what_the_evaluation_holds_is_told_apart() -> None:
    held = frozenset(shingles(SOURCE))
    assert not distinct(["x = 1", CODE.text(SOURCE)], held)
    assert distinct(["x = 1", "total = 2"], held)
    assert distinct([SOURCE], frozenset())


def test_a_tenth_of_the_packages_is_kept_out() -> None:
    names = {row.package for row in rows()}
    share = sum(map(kept_out, names)) / len(names)
    assert 0.07 < share < 0.13


def test_every_written_row_has_its_questions_and_lines() -> None:
    found = rows()
    assert (len(found), sum(row.round == 2 for row in found)) == (12398, 4151)
    assert all(len(row.asked) == 3 and all(first <= last for first, last in row.lines) for row in found)
    assert all(0 <= first <= last for row in found for _, first, last, _ in row.asked)
