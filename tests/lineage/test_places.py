"""The index of words as arrays scores as FTS5 does; this is what makes a database answer as a file does."""

from __future__ import annotations

import random
import sqlite3

import numpy as np
import pytest

from lineage.catalog import places
from lineage.text.tokens import fts_any, fts_phrase

WORDS = [f"w{n}" for n in range(30)]


def _rows(seed: int, count: int) -> list[list[str]]:
    rnd = random.Random(seed)
    return [[" ".join(rnd.choices(WORDS, weights=range(1, 31), k=rnd.randint(0, 20))) for _ in range(4)] for _ in range(count)]


@pytest.fixture
def rows():
    return _rows(7, 300)


@pytest.fixture
def lexicon(rows):
    made = places.Indexed()
    for row, fields in enumerate(rows):
        made.add(row, [field.split() for field in fields])
    stored = {term: {"bag": bag, "places": stands} for term, _, bag, stands in made.vocabulary()}
    lengths = np.frombuffer(made.lengths(np.zeros(len(rows), np.int32)), "<i4")
    return places.Lexicon(lambda column, terms: [(term, stored[term][column]) for term in terms if term in stored], lengths)


@pytest.fixture
def fts(rows):
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE lexical USING fts5(symbol, path, header, body, content='', tokenize=\"unicode61 remove_diacritics 0\")")
    db.executemany("INSERT INTO lexical (rowid, symbol, path, header, body) VALUES (?,?,?,?,?)", [(n, *fields) for n, fields in enumerate(rows)])
    return lambda expression: dict(
        db.execute("SELECT rowid, -bm25(lexical, 4, 1, 1, 1) FROM lexical WHERE lexical MATCH ?", (expression,)).fetchall()
    )


@pytest.mark.parametrize(
    "expression",
    [fts_any(["w3"]), fts_any(["w3", "w9", "w29", "absent"]), fts_phrase(["w28", "w29"]), fts_phrase(["w29", "w29", "w27"]), fts_any(WORDS)],
)
def test_scores_are_those_of_fts5(lexicon, fts, expression):
    found, scores = lexicon.scores([(expression, 1.0)])
    wanted = fts(expression)
    assert set(found.tolist()) == set(wanted)
    assert scores == pytest.approx([wanted[row] for row in found.tolist()], rel=1e-12, abs=1e-15)


def test_scores_of_several_expressions_add_up_by_weight(lexicon, fts):
    one, other = fts_any(["w1", "w2"]), fts_phrase(["w20", "w29"])
    found, scores = lexicon.scores([(one, 1.0), (other, 0.5)])
    wanted = [fts(one).get(row, 0.0) + 0.5 * fts(other).get(row, 0.0) for row in found.tolist()]
    assert scores == pytest.approx(wanted, rel=1e-12)


def test_the_best_are_in_order_and_equals_by_row():
    assert places.best(np.array([4, 7, 9, 11]), np.array([1.0, 2.0, 1.0, 1.0]), 3) == [(7, 2.0), (4, 1.0), (9, 1.0)]


def test_what_is_packed_comes_back():
    numbers = np.array([0, 5, (3 << 17) + 19_999, (90_000_000 << 17) + 1], np.int64)
    assert np.array_equal(places.unpacked(places.packed(numbers)), numbers)
    assert places.unpacked(places.packed([])).size == 0
    with pytest.raises(ValueError, match="."):
        places.unpacked(b"no such thing")


def test_every_word_of_a_list_is_found_where_all_are(lexicon, rows):
    wanted = [n for n, fields in enumerate(rows) if {"w3", "w9"} <= set(" ".join(fields).split())]
    assert lexicon.all_of(["w3", "w9"]).tolist() == wanted
    assert lexicon.all_of(["w3", "absent"]).size == 0


def test_words_that_no_row_has_are_not_kept(lexicon):
    """They are without number: a server that keeps them grows with each question."""
    for n in range(100):
        lexicon.scores([(fts_any(["w1", f"unheard{n}"]), 1.0)])
    assert list(lexicon._kept) == ["w1"]


def test_no_more_rows_of_words_are_kept_than_there_is_room_for(lexicon, monkeypatch):
    monkeypatch.setattr(places, "_KEPT", 100)
    lexicon._room = 100
    alone = [len(lexicon.scores([(fts_any([word]), 1.0)]).rows) for word in WORDS]
    assert sum(alone) > 1_000
    assert sum(len(scores.rows) for scores in lexicon._kept.values()) <= 300  # those of one question, or 100


def test_rare_words_are_read_and_not_kept(lexicon, monkeypatch):
    """A number of its own in each question would be kept for ever: there is no end of them."""
    monkeypatch.setattr(places, "_COMMON", len(lexicon.lengths) + 1)
    first = lexicon.scores([(fts_any(["w1", "w2"]), 1.0)])
    assert lexicon._kept == {}
    assert np.array_equal(lexicon.scores([(fts_any(["w1", "w2"]), 1.0)]).scores, first.scores)


def test_words_packed_in_parts_are_those_packed_at_once(rows, monkeypatch):
    made = places.Indexed()
    for row, fields in enumerate(rows):
        made.add(row, [field.split() for field in fields])
    whole = list(made.vocabulary())
    assert len(whole) == len(WORDS)
    monkeypatch.setattr(places, "_PART", 100)  # fewer than the places of one of the words, more than those of others
    assert list(made.vocabulary()) == whole
