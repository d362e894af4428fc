"""What third parties write cannot leave the fence or the line it stands in."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.records import Hit, Work
from retrieval.context.markdown import block, code, fenced, inline, inline_path, license_of, relation_of, source
from retrieval.context.units import PackUnit
from tests.fakes import small_lineage as small

CODE = Hit(1, 0.5, replace(small.chunks()[0], language="python"), small.works()[2], reference=small.reference())
SAID = Hit(1, 0.5, small.chunks()[6], small.works()[0], from_target=True)
HOSTILE = st.text(st.sampled_from("`~#*_<>[]|ab\n\r \u200b\u202e\x1b\x00é"), max_size=60)


@given(HOSTILE, st.sampled_from(["python", "c++", "", "py thon", "`", "x" * 30, "python\n"]))
@settings(max_examples=25, deadline=None)
def test_no_text_closes_its_fence(text, language):
    made = fenced(text, language)
    first, *inside, last = made.split("\n")
    assert re.fullmatch(r"`{3,}", last)
    assert re.fullmatch(rf"{last}[A-Za-z+#0-9-]+ untrusted", first)
    assert last not in "\n".join(inside)
    assert "\n".join(inside) == text.rstrip()


@given(HOSTILE)
@settings(max_examples=25, deadline=None)
def test_what_stands_outside_of_fences_is_one_line_without_marks(text):
    assert not set(inline(text)) & set("`*<>[]|#\n\r\u200b\u202e\x1b\x00")
    assert not re.search(r"(?:\A|\s)_|_(?:\s|\Z)", inline(text))
    assert re.fullmatch(r"`[^`\n\r]*`", code(text))
    assert "\n" not in inline_path(text)
    assert inline(inline(text)) == inline(text)


@pytest.mark.parametrize("path", ["configs/nonlinear2_additive.py", "src/__init__.py", "_base_.py", "../_a/b_.sh", "learning_rate"])
def test_a_path_or_a_name_stays_as_it_is(path):
    assert inline(f"_likely_: {path} is *its* run, not {path}") == f"likely : {path} is its run, not {path}"


def test_a_long_line_is_cut_and_says_so():
    assert inline("word " * 60, 12) == "word word w…"
    assert inline("word word", 9) == "word word"
    assert inline("word     wor", 6) == "word…"
    assert len(inline("x" * 900)) == 160


@pytest.mark.parametrize(
    ("named", "kind", "said"),
    [
        ("MIT", "code", "MIT"),
        ("Apache-2.0", "code", "Apache-2.0"),
        ("CC BY-NC 4.0", "paper", "CC-BY-NC-4.0"),
        ("Permission is hereby granted, free of charge", "code", "custom license"),
        ("x", "code", "custom license"),
        ("MIT `rm`", "code", "custom license"),
        (None, "code", "license unknown"),
        ("", "paper", ""),
        ("***", "code", "custom license"),
    ],
)
def test_a_licence_goes_by_its_name_or_is_one_of_its_own(named, kind, said):
    assert license_of(replace(CODE, work=Work(small.REPO, kind, license=named))) == said


@pytest.mark.parametrize(
    ("hit", "said"),
    [
        (SAID, "target's own"),
        (CODE, "baseline of the target"),
        (replace(CODE, reference=replace(small.reference(), roles=())), "reference of the target"),
        (replace(CODE, reference=replace(small.reference(), distance=2, citing=small.CITED)), "baseline of its ancestor arxiv:2006.10726"),
        (replace(CODE, reference=None), ""),
    ],
)
def test_how_a_work_belongs_to_the_lineage(hit, said):
    assert relation_of(hit) == said


def test_the_line_of_a_source_says_where_whose_and_why():
    assert source(SAID) == "`arXiv:2401.00001#3`"
    assert source(CODE) == "`github.com/DequanWang/tent/tent.py#L9-L12@e9e926a6` · MIT · baseline of the target"
    assert source(replace(CODE, from_target=True)).endswith(" · MIT · target's own")


def test_units_of_one_chunk_stand_in_one_fence_under_its_name():
    made = block([PackUnit(CODE, "imitate", "\na = 1\n", {}), PackUnit(CODE, "imitate", "b = 2", {})])
    head, *rest = made.split("\n")
    assert head == f"**{source(CODE)}** · `_init_weights`"
    assert rest == ["```python untrusted", "a = 1", "", "b = 2", "```"]
    assert block([PackUnit(SAID, "stated", "x", {})]).split("\n")[:2] == ["**`arXiv:2401.00001#3`**", "```text untrusted"]
