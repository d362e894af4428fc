"""A lineage is named by its name or by its target in any form; what is not there is answered with what is near."""

from __future__ import annotations

import pytest

from indexer.store.generations import Store
from lineage import generation as layout
from lineage import lineage_names
from lineage.errors import AmbiguousTarget, NotFound, UsageError
from lineage.records import Work, WorkId

DYT = Work(
    WorkId("arxiv:2503.10622"),
    title="Transformers without Normalization",
    aliases=(WorkId("doi:10.1109/cvpr.2025.1"), WorkId("s2:CorpusId:276961218"), WorkId("acl:P18-1234")),
)
OLD = Work(WorkId("arxiv:hep-th/9901001"), title="Strings at Work")


def place(home, work: Work, name: str, request: str = "") -> None:
    with Store(home).writing(name) as writing, writing.draft() as draft:
        with draft.catalog() as catalog:
            catalog.add_works([work])
            catalog.set_meta("request", {"target": request or work.id})
            catalog.finish()
        draft.commit(target=work.id, fingerprint="f", made_by="test")


@pytest.fixture
def home(tmp_path):
    place(tmp_path, DYT, "arxiv-2503.10622")
    place(tmp_path, OLD, "strings")
    return tmp_path


FORMS = (
    *("arxiv-2503.10622", "arxiv:2503.10622", "arXiv:2503.10622v2", "2503.10622", "2503.10622v1", " 2503.10622 "),
    *("https://arxiv.org/abs/2503.10622", "https://arxiv.org/pdf/2503.10622v1.pdf", "10.48550/arXiv.2503.10622"),
    *("doi:10.1109/CVPR.2025.1", "https://doi.org/10.1109/cvpr.2025.1", "CorpusId:276961218", "s2:CorpusId:276961218"),
    *("https://aclanthology.org/P18-1234", "ACL:P18-1234", '"Transformers without Normalization"', "transformers WITHOUT normalization"),
)


@pytest.mark.parametrize("text", FORMS)
def test_a_target_in_any_form_names_its_lineage(home, text):
    assert lineage_names.resolve(home, text) == "arxiv-2503.10622"


@pytest.mark.parametrize("text", ["strings", "hep-th/9901001", "https://arxiv.org/abs/hep-th/9901001", "Strings at Work"])
def test_a_lineage_with_a_name_of_its_own_is_named_by_its_target_too(home, text):
    assert lineage_names.resolve(home, text) == "strings"


def test_a_path_names_the_lineage_that_was_built_from_it(home, tmp_path, monkeypatch):
    paper = tmp_path / "paper.tex"
    paper.write_text("x")
    place(home, Work(WorkId("local:0123456789abcdef"), title="Mine"), "local-0123456789abcdef", str(paper))
    monkeypatch.chdir(tmp_path)
    assert lineage_names.resolve(home, "./paper.tex") == lineage_names.resolve(home, "local:0123456789abcdef") == "local-0123456789abcdef"


def test_an_address_without_an_identifier_names_what_was_built_from_it(home):
    address = "https://openreview.net/forum?id=abc"
    place(home, Work(WorkId("s2:" + "a" * 40), title="Reviewed"), "reviewed", address)
    assert lineage_names.resolve(home, address) == "reviewed"


def test_the_name_counts_before_the_target(home):
    place(home, OLD, "arxiv-2503.10623")
    assert lineage_names.resolve(home, "arxiv-2503.10623") == "arxiv-2503.10623"
    place(home, Work(WorkId("arxiv:2503.10623"), title="Another"), "another")
    assert lineage_names.resolve(home, "arxiv:2503.10623") == "another"


def test_of_two_lineages_of_one_target_the_one_with_the_default_name_is_meant(home):
    place(home, DYT, "dyt-without-code")
    for text in ("2503.10622", "10.1109/cvpr.2025.1", "Transformers without Normalization"):
        assert lineage_names.resolve(home, text) == "arxiv-2503.10622"


def test_several_lineages_that_fit_are_listed(home):
    place(home, OLD, "strings-again")
    with pytest.raises(AmbiguousTarget) as raised:
        lineage_names.resolve(home, "hep-th/9901001")
    assert raised.value.exit_code == 3
    assert raised.value.candidates == ("strings  Strings at Work", "strings-again  Strings at Work")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("arxiv:2503.10623", "arxiv-2503.10622"),
        ("arxiv-2503.1062", "arxiv-2503.10622"),
        ("without normalization", "arxiv-2503.10622"),
        ("string", "strings"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is_near(home, text, near):
    with pytest.raises(NotFound, match="there is no lineage") as raised:
        lineage_names.resolve(home, text)
    assert f"\n  {near}  " in raised.value.hint


def test_what_is_near_nothing_is_answered_with_what_there_is_and_how_to_build_it(home):
    with pytest.raises(NotFound) as raised:
        lineage_names.resolve(home, "arxiv:1706.03762")
    assert raised.value.hint == "build it: lineage build arxiv:1706.03762\nknown: arxiv-2503.10622, strings"


@pytest.mark.parametrize("text", ["../..", "/etc/passwd", "a\x00b", "x" * 5000, "%2e%2e", "arxiv:nonsense", "()", "\udcff"])
def test_what_can_name_nothing_is_not_found(home, text):
    with pytest.raises(NotFound) as raised:
        lineage_names.resolve(home, text)
    assert len(str(raised.value)) < 400


def test_without_a_name_the_only_one_is_meant(tmp_path):
    with pytest.raises(NotFound, match="there is no lineage"):
        lineage_names.resolve(tmp_path, "")
    place(tmp_path, DYT, "only")
    assert lineage_names.resolve(tmp_path, "") == "only"
    place(tmp_path, OLD, "second")
    with pytest.raises(UsageError) as raised:
        lineage_names.resolve(tmp_path, "")
    assert raised.value.hint == "name one of: only, second"


def test_a_damaged_lineage_hides_no_other(home):
    place(home, DYT, "broken")
    (layout.generation_folder(home, "broken", layout.current(home, "broken")) / "catalog.db").write_bytes(b"")
    assert lineage_names.resolve(home, "Strings at Work") == "strings"
