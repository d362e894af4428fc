"""The report of gaps that a generation keeps: the same as one made anew, and of no use to whoever has other lists."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.bootstrap import Parts
from lineage import settings
from lineage.errors import StoreDamaged
from lineage.generation import REPORT, REPORT_WITHOUT, open_generation
from retrieval.gaps.stored_report import digest, dumped, loaded
from tests.fakes import small_lineage
from tests.fakes.embedder import HashingEmbedder


@pytest.fixture
def parts(tmp_path):
    parts = Parts(settings.load(home=tmp_path))
    parts.__dict__["embedder"] = HashingEmbedder()
    return parts


@pytest.fixture
def kept(parts):
    """The parts over a generation that keeps its reports."""
    small_lineage.build(parts.settings.home, parts.embedder, reports=parts.made)
    return parts


def test_a_report_is_read_as_it_was_made(kept):
    for name, excluded in ((REPORT, False), (REPORT_WITHOUT, True)):
        with kept.asked("small", excluded) as engine:
            made = kept.report(engine)
            data = engine.generation.file(name)
            assert loaded(data, kept.report_digest, engine.generation.catalog, engine.relations) == made
            assert kept.kept_gaps("small", excluded) == kept.gaps(engine) == made
            assert len(data) < len(repr(made))


def test_one_made_with_other_lists_or_cut_short_is_none(kept):
    with kept.asked("small", False) as engine:
        catalog, relations = engine.generation.catalog, engine.relations
        data = dumped(kept.report(engine), "these", catalog, relations)
        assert loaded(data, "those", catalog, relations) is None
        assert loaded(data[:-9], "these", catalog, relations) is None


def test_a_users_own_list_makes_another_digest(tmp_path):
    own = tmp_path / "details.json"
    own.write_text("{}")
    assert digest((None, None)) == digest((tmp_path / "none.json", None)) != digest((own, None))


def test_a_generation_without_a_report_has_one_made_and_says_so(parts):
    small_lineage.build(parts.settings.home, parts.embedder)
    assert parts.kept_gaps("small", False) is None
    with parts.asked("small", False) as engine:
        made = parts.gaps(engine)
        assert "computed now" in made.notes[-1]
        assert replace(made, notes=made.notes[:-1]) == parts.report(engine)


def test_a_damaged_report_is_no_report(kept):
    with open_generation(kept.settings.home, "small") as generation:
        path = generation.folder / REPORT
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.chmod(0o644)
        path.write_bytes(data)
        with pytest.raises(StoreDamaged, match=r"report\.json is not what was written"):
            generation.file(REPORT)
