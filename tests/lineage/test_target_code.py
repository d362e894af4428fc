"""What a finished catalogue holds of the target's code, under any name, and a catalogue that does without it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, replace

import pytest

from indexer.store.generations import Store
from lineage.catalog.partial import PartialCatalog
from lineage.code_links.target_code import in_catalog, own_exclusion
from lineage.code_reuse.reuse import Shared
from lineage.generation import open_generation
from lineage.records import Chunk, CodeLink, Document, Fact, Reference, Tier, Work, WorkId
from tests.honest_world import code

TARGET = Work(WorkId("arxiv:2401.00001"), title="QuillNet: Feathered Networks", meta={"published": "2024-02-01"})
CITED = Work(WorkId("arxiv:2006.10726"), title="Baseline Rows")
OWN, BASE, OTHER = (WorkId(f"repo:github.com/{name}") for name in ("lab/quillnet", "base/line", "some/one"))
OURS = {f"{name}.py": code(name, "quill") for name in ("a", "b", "c", "d")}
THEIRS = {f"{name}.py": code(name, "rows") for name in ("e", "f", "g")}
LATE = {"created": "2024-06-01T00:00:00Z"}
EARLY = {"created": "2020-06-01T00:00:00Z"}


def repo(id_, files, *, aliases=(), **meta):
    return Work(id_, "code", id_.partition("github.com/")[2], aliases=aliases, meta={"commit": "a" * 40, **meta}), files


OWNED = repo(OWN, {**OURS, **{f"vendor/{name}": text for name, text in THEIRS.items()}}, created="2024-01-01T00:00:00Z")
LINK = CodeLink(TARGET.id, OWN, Tier.OFFICIAL, ("latex",))


@pytest.fixture
def held(tmp_path):
    """What a catalogue of these repositories holds of the target's code: works and files, with the reasons."""
    made = iter(range(100))

    def run(*repositories, links=(LINK,)):
        name = f"small{next(made)}"
        with Store(tmp_path).writing(name) as writing, writing.draft() as draft:
            with draft.catalog() as catalog:
                catalog.add_works([TARGET, CITED, *(work for work, _ in repositories)])
                catalog.add_links(links)
                for work, files in repositories:
                    for path, text in files.items():
                        catalog.add_document(Document(work.id, path, text, (), "code@1", "docs" if path.endswith(".md") else "code"))
                catalog.set_meta("target", TARGET.id)
                catalog.finish()
            draft.commit(target=TARGET.id, fingerprint="f", made_by="test")
        with open_generation(tmp_path, name) as generation:
            return in_catalog(generation.catalog, own_exclusion(generation.catalog))

    return run


OTHERS = (
    ("a fork", repo(OTHER, {"x.py": "x = 1\n"}, fork_of="lab/quillnet"), "a fork of github.com/lab/quillnet"),
    ("a fork of a fork", repo(OTHER, {"x.py": "x = 1\n"}, fork_of="base/line", parent="lab/quillnet"), "a fork of github.com/lab/quillnet"),
    ("a former name", repo(OTHER, {"x.py": "x = 1\n"}, aliases=(OWN,)), "is the target's own code"),
    ("a copy", repo(OTHER, OURS, **LATE), "4 of its 4 files are files of the target's own code"),
    ("a copy of unknown age", repo(OTHER, OURS), "4 of its 4 files are files of the target's own code"),
    ("a README", repo(OTHER, {"README.md": "# Code of QuillNet: Feathered Networks, arxiv.org/abs/2401.00001\n"}), "its README says"),
)


@pytest.mark.parametrize(("work", "why"), [row[1:] for row in OTHERS], ids=[row[0] for row in OTHERS])
def test_it_is_known_under_any_name(held, work, why):
    found = held(OWNED, work)
    assert set(found.works) == {OWN, OTHER}
    assert why in found.works[OTHER]


@pytest.mark.parametrize(
    ("work", "links"),
    [
        (repo(BASE, THEIRS, **LATE), [CodeLink(CITED.id, BASE, Tier.OFFICIAL, ("readme",))]),
        (repo(BASE, THEIRS, **EARLY), [CodeLink(CITED.id, BASE, Tier.MENTIONED)]),
        (repo(BASE, THEIRS, **EARLY), [CodeLink(TARGET.id, BASE, Tier.MENTIONED, ("latex",))]),
        (repo(BASE, THEIRS, **EARLY), []),
        (repo(BASE, {"h.py": code("h", "rows")}, **LATE), [CodeLink(TARGET.id, BASE, Tier.MENTIONED, ("latex",))]),
        (repo(BASE, OURS, **LATE), [CodeLink(CITED.id, BASE, Tier.OFFICIAL, ("readme",)), CodeLink(TARGET.id, BASE, Tier.OFFICIAL, ("latex",))]),
    ],
    ids=["vendored and official", "vendored and older", "mentioned by URL", "unlinked and older", "mentioned", "official of two works"],
)
def test_what_is_not_the_targets_stays(held, work, links):
    found = held(OWNED, work, links=[LINK, *links])
    assert (set(found.works), found.files) == ({OWN}, {})


def test_a_third_repository_with_the_vendored_files_is_no_copy_of_the_target(held):
    found = held(OWNED, repo(BASE, THEIRS, **EARLY), repo(OTHER, THEIRS, **LATE))
    assert (set(found.works), found.files) == ({OWN}, {})


def test_a_reimplementation_of_the_target_is_its_code(held):
    again = CodeLink(TARGET.id, OTHER, Tier.REIMPLEMENTATION, ("readme",))
    assert set(held(OWNED, repo(OTHER, {"x.py": "x = 1\n"}), links=[LINK, again]).works) == {OWN, OTHER}


def test_single_files_of_the_target_in_a_repository_that_stays(held):
    taken = {"same.py": OURS["a.py"], "said.py": "# adapted from https://github.com/lab/quillnet\nx = 1\n", "free.py": code("free", "own")}
    named = {"README.md": "We compare with https://github.com/lab/quillnet, based on https://github.com/lab/quillnet.\n"}
    found = held(OWNED, repo(OTHER, {**taken, **named}, **LATE))
    assert set(found.works) == {OWN}
    assert {path: why.split(",")[0] for (_, path), why in found.files.items()} == {
        "same.py": "the same file as in the target's own code",
        "said.py": "it says that it was taken from github.com/lab/quillnet",
    }


def test_a_target_without_code_has_none(held):
    found = held(repo(BASE, THEIRS), repo(OTHER, THEIRS), links=())
    assert (found.works, found.files) == ({}, {})


def chunk(work, path, n):
    return Chunk(f"c_{n}", work, path, "code", "function", f"def quill_{n}(): pass", "", 0, 10, 1, 1)


def test_a_catalogue_without_some_works_and_files_tells_nothing_of_them(tmp_path):
    pieces = [chunk(OWN, "a.py", 0), chunk(BASE, "e.py", 1), chunk(BASE, "f.py", 2)]
    edge = Reference(TARGET.id, CITED.id, score=0.9, why=("built upon", "its repository shares 3 files with the target's"))
    shared = Shared(BASE, OWN, 3, 0)
    with Store(tmp_path).writing("small") as writing, writing.draft() as draft:
        with draft.catalog() as catalog:
            catalog.add_works([TARGET, CITED, OWNED[0], repo(BASE, {})[0]])
            catalog.add_references([edge, replace(edge, cited=OWN, why=())])
            catalog.add_links([LINK, CodeLink(CITED.id, BASE, Tier.OFFICIAL)])
            for one in pieces:
                catalog.add_document(Document(one.work, one.path, one.text, (), "code@1", "code"))
            catalog.add_chunks(pieces)
            catalog.add_facts([Fact("lr", str(n), "", one.work, one.id, "config", 1) for n, one in enumerate(pieces)])
            ends = [
                {"source": {"work": BASE, "path": path}, "taker": {"work": taker, "path": "x.py"}} for path, taker in (("e.py", OWN), ("f.py", BASE))
            ]
            told = {CITED.id: [["reuse", 1.0, edge.why[1]]]}
            for key, value in {"target": TARGET.id, "shared_code": [asdict(shared)], "derivations": ends, "code_signals": told}.items():
                catalog.set_meta(key, value)
            catalog.expect("reference", 0)
            catalog.finish()
        draft.commit(target=TARGET.id, fingerprint="f", made_by="test")
    whole = open_generation(tmp_path, "small").catalog
    with closing(PartialCatalog(whole, [OWN], [(BASE, "f.py")])) as part:
        assert [work.id for work in part.works()] == [CITED.id, TARGET.id, BASE]
        assert (part.work(OWN), part.work(BASE).id) == (None, BASE)
        assert [link.repo for link in part.links()] == [BASE]
        assert [fact.value for fact in part.facts()] == ["1"]
        assert [(one.work, one.path) for one in part.documents()] == [(BASE, "e.py")]
        assert (part.document_text(BASE, "f.py"), part.document_text(OWN, "a.py")) == (None, None)
        assert [part.chunk(one.id) is None for one in pieces] == [True, False, True]
        assert part.rows().tolist() == [1]
        assert [row for row, _ in part.lexical([("def", 1.0)], 10)] == [1]
        assert part.meta()["shared_code"] == part.meta()["derivations"] == []
        (left,) = part.references()
        assert (left.why, left.score < edge.score) == (("built upon",), True)
        assert len(whole.references()) == 2


def test_without_the_targets_code_ancestors_and_scores_rest_on_the_text(tmp_path):
    edge = Reference(TARGET.id, CITED.id, score=0.9, why=("its repository shares 9 files", "the target's own code loads it", "built upon"))
    said = {"code_signals": {CITED.id: [["reuse", 1.0, edge.why[0]], ["checkpoint", 1.0, edge.why[1]]]}, "target": TARGET.id}
    rows = [{"part": "model", "work": CITED.id, "score": score, "reason": reason} for score, reason in ((0.8, edge.why[1]), (0.4, "We build on it."))]
    with Store(tmp_path).writing("small") as writing, writing.draft() as draft:
        with draft.catalog() as catalog:
            catalog.add_works([TARGET, CITED])
            catalog.add_references([edge])
            for key, value in {**said, "ancestors": rows[:1], "ancestors_by_text": rows[1:]}.items():
                catalog.set_meta(key, value)
            catalog.finish()
        draft.commit(target=TARGET.id, fingerprint="f", made_by="test")
    whole = open_generation(tmp_path, "small").catalog
    with closing(PartialCatalog(whole, [OWN])) as part:
        assert whole.meta()["ancestors"] == rows[:1]
        assert part.meta()["ancestors"] == rows[1:]
        (left,) = part.references()
        assert left.why == ("built upon",)
        assert left.score < 0.5 < edge.score
