"""What goes into a catalogue comes out of it, and damage is noticed."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from lineage.catalog.reader import Catalog
from lineage.catalog.writer import CatalogWriter
from lineage.errors import LineageError, StoreDamaged, StoreError
from lineage.generation import open_generation
from lineage.records import Document, Fact, LedgerRow, Setting, Status, WorkId
from lineage.text.tokens import fts_any, terms
from tests.fakes import small_lineage as small


def written(path, pieces=None, extra=lambda catalog: None):
    with CatalogWriter(path) as catalog:
        catalog.add_works(small.works())
        catalog.add_references([small.reference()])
        catalog.add_links(small.links())
        catalog.add_document(Document(small.REPO, "tent.py", "import torch\nprint('größe')\n", (), "code@1", "code"))
        catalog.add_chunks(small.chunks() if pieces is None else pieces)
        catalog.add_ledger(small.ledger())
        extra(catalog)
        catalog.finish()
    return path


@pytest.fixture
def catalog(tmp_path):
    with Catalog(written(tmp_path / "catalog.db")) as found:
        yield found


def of_files(path, files, former=None, read_by="one", unread=(), commit="second"):
    """A catalog of files of lines, a chunk, a fact and a setting a line, and what is new of it."""
    with CatalogWriter(path, former, read_by) as catalog:
        catalog.add_works(small.works())
        documents = [Document(small.REPO, name, text, (), "code@1", "code", blob=commit) for name, text in files.items()]
        new = [document for document in documents if catalog.add_document(document, text_lines(document.text))]
        lines = [(document, n, line) for document in new for n, line in enumerate(document.text.splitlines())]
        pieces = [small.chunk(small.REPO, document.path, line, first=n, symbol=f"{line}_{n}") for document, n, line in lines]
        pieces = [replace(piece, id=f"{piece.id} {document.text}") for piece, (document, _, _) in zip(pieces, lines, strict=True)]
        catalog.add_chunks(pieces, unread)
        catalog.add_facts(Fact("lr", piece.text, "", piece.work, piece.id, "default", piece.start_line) for piece in pieces)
        catalog.add_settings(Setting("lr", piece.text, "default", piece.work, piece.path, piece.id, piece.start_line) for piece in pieces)
        catalog.finish()
    return [document.path for document in new], catalog.rows


def text_lines(text):
    return len(text.splitlines())


def told(path):
    """What a catalog tells, whatever its rows are."""
    with Catalog(path) as catalog:
        rows = catalog.rows().tolist()
        ids = dict(zip(rows, (chunk.id for chunk in catalog.chunks(rows)), strict=True))
        found = {word: sorted((ids[row], round(score, 9)) for row, score in catalog.lexical([(fts_any([word]), 1.0)], 99)) for word in WORDS}
        assert list(catalog.damage()) == []
        return catalog.content_hash(), found, catalog.frequencies(WORDS), catalog.settings(small.REPO), catalog.documents()


WORDS = ("alpha", "beta", "gamma", "delta", "omega", "1", "2", "3", "4")
FORMER = {"a.py": "alpha\nbeta\ngamma", "b.py": "delta\nalpha", "c.py": "omega\nbeta\nalpha\ndelta", "d.py": "alpha\nalpha\nomega"}


@pytest.mark.parametrize(
    ("changed", "new", "rows"),
    [
        ({"e.py": "gamma\nalpha"}, ["e.py"], [*range(12), -1, -1]),
        ({"b.py": "delta\ngamma\nbeta"}, ["b.py"], [0, 1, 2, -1, -1, *range(5, 12), -1]),
        ({"a.py": None, "c.py": "omega"}, ["c.py"], [-1, 11, 10, 3, 4, 9]),
        ({"d.py": None}, [], list(range(9))),
        (dict.fromkeys(("a.py", "b.py", "c.py")), [], [11, 10, 9]),
        ({}, [], list(range(12))),
    ],
)
def test_a_catalog_out_of_a_former_one_tells_what_one_from_scratch_does(tmp_path, changed, new, rows):
    of_files(tmp_path / "former.db", FORMER, commit="first")
    files = {name: text for name, text in (FORMER | changed).items() if text}
    assert of_files(tmp_path / "after.db", files, tmp_path / "former.db") == (new, rows)
    of_files(tmp_path / "scratch.db", files)
    assert told(tmp_path / "after.db") == told(tmp_path / "scratch.db")


@pytest.mark.parametrize("former", [{"read_by": "another"}, {"unread": {0}}], ids=["other readers", "no texts"])
def test_what_was_read_otherwise_is_written_anew(tmp_path, former):
    of_files(tmp_path / "former.db", FORMER, **former)
    assert of_files(tmp_path / "after.db", FORMER, tmp_path / "former.db") == (list(FORMER), [-1] * 12)
    of_files(tmp_path / "scratch.db", FORMER)
    assert told(tmp_path / "after.db") == told(tmp_path / "scratch.db")


def test_a_text_of_another_file_is_cut_anew_unless_the_text_is_all_that_is_read(tmp_path):
    paper = Document(small.TARGET, "main.tex", "alpha", (), "latex@1", "paper", blob="one")
    code = replace(paper, work=small.REPO, path="a.py", parser="code@1", kind="code")
    for path, former, blob, new in ((tmp_path / "a.db", None, "one", [True, True]), (tmp_path / "b.db", tmp_path / "a.db", "two", [True, False])):
        with CatalogWriter(path, former, "one") as catalog:
            catalog.add_works(small.works())
            assert [catalog.add_document(replace(document, blob=blob)) for document in (paper, code)] == new
            catalog.finish()


def test_works_references_links_and_ledger_come_back_as_they_went_in(catalog):
    assert sorted(catalog.works(), key=lambda w: w.id) == sorted(small.works(), key=lambda w: w.id)
    assert catalog.references(small.TARGET) == (small.reference(),)
    assert set(catalog.links()) == set(small.links())
    assert set(catalog.ledger()) == set(small.ledger())


def test_a_work_is_found_by_its_alias(catalog):
    assert catalog.work("s2:abc").id == small.CITED
    assert catalog.work("s2:other") is None


def test_chunks_come_back_in_the_order_asked_for(catalog):
    assert catalog.chunks([3, 0]) == [small.chunks()[3], small.chunks()[0]]
    assert catalog.chunk(small.chunks()[1].id) == small.chunks()[1]
    assert catalog.chunk("c_unknown") is None


def test_a_row_that_is_not_there_is_damage(catalog):
    with pytest.raises(StoreDamaged, match="row 99"):
        catalog.chunks([99])


def test_a_window_of_a_document_is_cut_from_its_text(catalog):
    assert catalog.window(small.REPO, "tent.py", 7, 12) == "torch"
    assert catalog.window(small.REPO, "tent.py", 20, 1000) == "größe')\n"
    assert catalog.window(small.REPO, "none.py", 0, 5) == ""


def test_the_ledger_adds_up_by_outcome(catalog):
    assert catalog.sums("member") == {"in": 4, "ok": 1, "degraded": 1, "failed": 1, "excluded": 1}
    assert catalog.statuses("reference") == {Status.OK: 1}


def test_the_lexical_search_finds_by_symbol_body_and_number(catalog):
    assert catalog.lexical([(fts_any(terms("initWeights")), 1.0)], 5)[0][0] in {0, 4}
    assert catalog.lexical([(fts_any(terms("learning rate 0.001")), 1.0)], 5)[0][0] == 2
    assert catalog.lexical([("", 1.0)], 5) == []


def test_the_lexical_search_keeps_to_kinds_and_works(catalog):
    everything = [(fts_any(terms("init weights entropy adam")), 1.0)]
    assert {row for row, _ in catalog.lexical(everything, 9, kinds={"config"})} == {2}
    assert {row for row, _ in catalog.lexical(everything, 9, kinds={"code"}, without={small.REPO})} == {4}


def test_expressions_add_up_by_their_weights(catalog):
    one, half = catalog.lexical([("entropy", 1.0)], 1)[0], catalog.lexical([("entropy", 1.0), ("entropy", 0.5)], 1)[0]
    assert half[0] == one[0]
    assert half[1] == pytest.approx(1.5 * one[1])


def test_rows_of_a_scope_are_ascending(catalog):
    assert np.array_equal(catalog.rows(kinds={"code"}), [0, 1, 4, 7])
    assert np.array_equal(catalog.rows(without={small.REPO, small.FORK}), [5, 6, 7])


def test_equal_texts_know_each_other_whatever_their_indentation(catalog):
    assert [(row, work) for row, work, *_ in catalog.homes([0])[0]] == [(0, small.REPO), (4, small.FORK)]


def test_frequencies_count_chunks(catalog):
    assert catalog.frequencies(["entropy", "nowhere", "adapt"]) == {"adapt": 2, "entropy": 2, "nowhere": 0}


def test_the_content_hash_does_not_depend_on_the_order_or_on_notes(tmp_path, catalog):
    def noted(other):
        other.set_meta("seconds", 12.5)

    with Catalog(written(tmp_path / "other.db", list(reversed(small.chunks())), noted)) as other:
        assert other.content_hash() == catalog.content_hash()


def test_the_content_hash_changes_with_the_content(tmp_path, catalog):
    changed = [replace(small.chunks()[0], id="c_other"), *small.chunks()[1:]]
    with Catalog(written(tmp_path / "other.db", changed)) as other:
        assert other.content_hash() != catalog.content_hash()


def test_a_ledger_that_does_not_add_up_is_never_finished(tmp_path):
    with pytest.raises(LineageError, match="5 member rows went in, 4 came out"):
        written(tmp_path / "catalog.db", extra=lambda catalog: catalog.expect("member", 5))


def test_a_subject_of_the_same_name_gets_a_row_of_its_own(tmp_path):
    row = LedgerRow("member", small.REPO, "a.py", "parse", Status.OK)
    with CatalogWriter(tmp_path / "catalog.db") as catalog:
        catalog.add_ledger([row, row, row])
        catalog.expect("member", 3)
        catalog.finish()
    with Catalog(tmp_path / "catalog.db") as found:
        assert [one.subject for one in found.ledger()] == ["a.py", "a.py (2)", "a.py (3)"]


def test_a_second_document_of_the_same_name_is_refused(tmp_path):
    document = Document(small.REPO, "a.py", "x", (), "code@1", "code")
    with CatalogWriter(tmp_path / "catalog.db") as catalog:
        catalog.add_document(document)
        with pytest.raises(ValueError, match="documents"):
            catalog.add_document(document)


def test_text_that_is_no_unicode_is_stored_readably(tmp_path):
    odd = replace(small.chunks()[0], text="x = '\ud800'", path="\udce9.py")
    with Catalog(written(tmp_path / "catalog.db", [odd])) as catalog:
        assert catalog.chunks([0])[0].text == "x = '?'"


def test_an_unfinished_catalogue_holds_nothing(tmp_path):
    with CatalogWriter(tmp_path / "catalog.db") as catalog:
        catalog.add_works(small.works())
    with Catalog(tmp_path / "catalog.db") as found:
        assert found.works() == ()


def test_a_catalogue_is_never_written_over(tmp_path):
    written(tmp_path / "catalog.db")
    with pytest.raises(StoreError, match="exists already"):
        CatalogWriter(tmp_path / "catalog.db")


def test_a_missing_file_and_a_file_of_another_kind_are_damage(tmp_path):
    with pytest.raises(StoreDamaged, match="missing"):
        Catalog(tmp_path / "none.db")
    (tmp_path / "odd.db").write_bytes(b"not a database, but long enough to be one " * 100)
    with pytest.raises(StoreDamaged, match="damaged"):
        Catalog(tmp_path / "odd.db")


@pytest.mark.parametrize("form", [4, 99])
def test_an_unknown_format_is_refused(tmp_path, form):
    path = written(tmp_path / "catalog.db")
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version={form}")
    with pytest.raises(StoreDamaged, match=f"format {form}"):
        Catalog(path)


def test_mentions_of_the_format_before_are_read(tmp_path):
    path = written(tmp_path / "catalog.db")
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=5")
        db.execute("""UPDATE edges SET evidence = replace(evidence, ',"printed":""', '')""")
        assert not db.execute("SELECT 1 FROM edges WHERE evidence LIKE '%printed%'").fetchall()
    with Catalog(path) as found:
        assert any(edge.mentions for edge in found.references())


def test_a_catalogue_cannot_be_changed_by_a_reader(catalog):
    with pytest.raises(LineageError):
        catalog._all("DELETE FROM chunks")


def test_a_chunk_that_was_altered_is_neither_returned_nor_passed_over(tmp_path):
    path = written(tmp_path / "catalog.db")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE chunks SET text = 'lr = 1' WHERE row = 2")
        db.execute("UPDATE documents SET packed = x'00'")
    with Catalog(path) as catalog:
        with pytest.raises(StoreDamaged, match="not what was written"):
            catalog.chunks([2])
        with pytest.raises(StoreDamaged, match=r"tent\.py"):
            catalog.document_text(small.REPO, "tent.py")
        damage = list(catalog.damage())
    assert [word.split(" is ")[0] for word in damage] == ["chunk row 2 (c_tent_conf.yaml_1)", "document repo:github.com/DequanWang/tent#tent.py"]


def test_tables_that_do_not_fit_together_are_damage(tmp_path):
    path = written(tmp_path / "catalog.db")
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM chunks WHERE row = 7")
        db.execute("DELETE FROM works WHERE id = ?", (small.FORK,))
    with Catalog(path) as catalog:
        damage = list(catalog.damage())
    assert damage == ["the lexical index has 8 rows for 7 chunks", "chunks of repo:github.com/someone/fork, which is not among the works"]


def test_facts_are_found_by_name_in_any_case(tmp_path):
    small.build(tmp_path)
    folder = next((tmp_path / "lineages/small/gen").iterdir())
    with Catalog(folder / "catalog.db") as catalog:
        assert [fact.value for fact in catalog.facts("LR")] == ["1e-3"]
        assert catalog.facts("beta") == ()
        assert catalog.documents(WorkId("none:")) == ()
        assert catalog.documents()[0].sha256 == catalog.documents(small.REPO)[0].sha256


def test_facts_keep_their_words_and_come_back_as_written(tmp_path):
    fact = Fact("learning_rate", "args.lr * 2", "", small.REPO, small.chunks()[0].id, "call", 3, "lr", "args.lr * 2", "main:AdamW", literal=False)
    small.build(tmp_path, facts=[fact])
    with open_generation(tmp_path, "small") as generation:
        assert generation.catalog.facts() == (fact,)
        before = generation.manifest.content_hash
    small.build(tmp_path, facts=[replace(fact, said="args.lr * 4")], name="other")
    with open_generation(tmp_path, "other") as generation:
        assert generation.manifest.content_hash != before
