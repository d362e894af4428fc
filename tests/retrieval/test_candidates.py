"""What each retriever puts forward, and that neither leaves the scope."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from indexer.vectors.flat import create
from lineage.generation import open_generation
from retrieval.search.candidates import Scope, dense, lexical, scope_of, words_of
from retrieval.search.query import vocabulary
from tests.fakes import small_lineage as small
from tests.fakes.embedder import HashingEmbedder


@pytest.fixture
def catalog(tmp_path):
    small.build(tmp_path)
    with open_generation(tmp_path, "small") as generation:
        yield generation.catalog


def test_everything_is_the_scope_unless_restricted(catalog):
    assert scope_of(catalog, frozenset(), frozenset()).rows is None
    assert list(scope_of(catalog, frozenset({"paper"}), frozenset({small.TARGET})).rows) == [5]


def test_the_lexical_list_stays_in_the_scope(catalog):
    scope = scope_of(catalog, frozenset({"code"}), frozenset({small.FORK}))
    assert {row for row, _ in lexical(catalog, words_of(catalog, "init weights adam entropy forward", 8), scope)} <= {0, 1, 7}


def test_words_are_looked_for_in_the_forms_that_the_index_holds(catalog):
    words = words_of(catalog, "the optimization of entropy while initializing, forward and adapt", 8)
    assert words.terms[:2] == ("optimiz", "entropy")
    assert "init" in words.forms
    assert "forwardandadapt" not in words.forms
    assert words.worth["init"] < words.worth["entropy"]
    assert "whil" not in words.worth


def test_rows_that_the_other_retriever_found_are_scored_wherever_they_rank():
    embedder = HashingEmbedder(32)
    vectors = embedder.passages(["alpha", "beta", "gamma", "delta"])
    found = dense(create(vectors), embedder.queries(["alpha"]), Scope(), [3], vectors, depth=1)
    assert found[0] == (0, pytest.approx(1.0))
    assert [row for row, _ in found] == [0, 3]
    assert found[1][1] == pytest.approx(float(vectors[0] @ vectors[3]))


def test_an_empty_scope_finds_nothing():
    index = create(HashingEmbedder(8).passages(["a"]))
    assert dense(index, HashingEmbedder(8).queries(["a"]), Scope(rows=np.array([], np.int64))) == []


def test_what_code_calls_a_word_counts_no_more_than_the_word(catalog):
    words = words_of(catalog, "how is it initialised?", 8, vocabulary())
    (only,) = words.bridged
    assert (only.aspect, set(only.code.values())) == ("initialisation", {"init_weights", "trunc_normal_", "normal_", "zeros_"})
    found = lexical(catalog, replace(words, terms=(), forms=()), Scope())
    assert found[0][0] == 0
    assert found[0][1] == pytest.approx(0.5 * only.worth)
