"""Exact search and reading by citation, over the small lineage and the demonstration."""

from __future__ import annotations

import re
import time

import pytest

from lineage.citation import citation
from lineage.errors import NotFound, UsageError
from lineage.file_roles import ASIDE, named_roles
from lineage.generation import open_generation
from lineage.records import Hit
from retrieval.search.engine import Engine
from retrieval.search.exact import ExactQuery, LineMatch, grep, narrowing
from retrieval.search.read import read
from tests.demo import NAME
from tests.fakes import small_lineage as small


@pytest.fixture
def engine(tmp_path):
    small.build(tmp_path)
    with Engine(open_generation(tmp_path, "small")) as engine:
        yield engine


@pytest.fixture
def demo(built):
    with built.service._parts.engine(NAME) as engine:
        yield engine


def lines(engine, pattern, **how):
    return [(match.citation, match.text.strip()) for match in grep(engine, ExactQuery(pattern, **how)).matches]


def test_a_line_is_cited_alone_with_its_commit(engine):
    assert lines(engine, "optimizer.step()", fixed=True) == [("github.com/DequanWang/tent/tent.py#L43@e9e926a6", "optimizer.step()")]


def test_definitions_stand_before_uses_and_copies_count_once(engine):
    first, *_ = answer = grep(engine, ExactQuery("_init_weights")).matches
    assert first.definition
    assert (first.symbol, first.copies) == ("_init_weights", 1)
    assert len(answer) == 1


def test_comments_imports_and_what_lies_aside_stand_last(demo):
    found = [m for m in grep(demo, ExactQuery("torch|epochs", kinds=("code",), limit=300)).matches if not m.definition]
    speaks = [match.text.lstrip().startswith(("#", "//", "import ", "from ", "help=", "'", '"')) for match in found]
    weak = [said or not ASIDE.isdisjoint(named_roles(match.hit.chunk.path)) for said, match in zip(speaks, found, strict=True)]
    assert weak[0] < weak[-1]
    assert weak == sorted(weak)


def test_prose_is_matched_with_its_section(engine):
    assert lines(engine, "standard deviation", kinds=("paper",)) == [("arXiv:2401.00001#3", small.STATED)]


def test_small_letters_match_any_and_capitals_only_themselves(engine):
    assert lines(engine, "ADAM", any_case=True)
    assert lines(engine, "adam")
    assert not lines(engine, "ADAM")


def test_whole_words_and_regular_expressions(engine):
    assert lines(engine, r"std\s*=\s*0\.\d+")
    assert not lines(engine, "wei", word=True)
    assert lines(engine, "weight", word=True)
    assert [text for _, text in lines(engine, "lr", word=True)] == ["lr: 1e-3"]


def test_one_work_only(engine):
    assert {citation.partition("#")[0] for citation, _ in lines(engine, "def ", work="target/own")} == {"github.com/target/own/model.py"}
    with pytest.raises(NotFound):
        lines(engine, "def", work="no/body")


def test_the_targets_code_is_left_out_when_asked(engine):
    assert lines(engine, "self.head", fixed=True)
    assert not lines(engine.without_target_code(), "self.head", fixed=True)
    assert lines(engine.without_target_code(), "optimizer.step()", fixed=True)


@pytest.mark.parametrize("pattern", ["", "  ", "x" * 1001, "(", "a{5000}", "(?=x)", "[z-a]", "\\"])
def test_what_is_no_pattern_is_refused(engine, pattern):
    with pytest.raises(UsageError):
        grep(engine, ExactQuery(pattern))


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+b", "(.*)*x", "([a-z]+)*1"])
def test_an_expression_that_backtracking_engines_die_of_is_answered(engine, pattern):
    start = time.thread_time()
    grep(engine, ExactQuery(pattern))
    assert time.thread_time() - start < 5


@pytest.mark.parametrize(
    "pattern", ["weights", "trunc_normal_", "nn.init", "def forward", r"betas: \[0.9", "ini.*weights", "x+", "std=0", "torch", "lr", r"1e-\d", "a|b"]
)
def test_narrowing_loses_no_line(demo, pattern):
    """The same lines as matching every chunk."""
    query = ExactQuery(pattern, limit=10_000)
    every = {chunk_row for chunk_row, text in demo.generation.catalog.texts() if re.search(pattern, text, re.IGNORECASE)}
    literal, words = narrowing(query)
    assert every <= {row for row, _ in demo.generation.catalog.texts(literal, query.ignores_case, words)}


def test_matches_are_not_compared_with_each_other(demo, monkeypatch):
    monkeypatch.setattr(LineMatch, "__eq__", lambda *_: pytest.fail("thousands of matches would take seconds"))
    assert lines(demo, "e")


def test_pages_do_not_overlap(demo):
    first, second = (grep(demo, ExactQuery("self", limit=5, offset=offset)) for offset in (0, 5))
    assert first.total == second.total > 10
    assert not {m.citation for m in first.matches} & {m.citation for m in second.matches}


@pytest.mark.parametrize(
    ("cited", "wanted"),
    [
        ("github.com/DequanWang/tent/tent.py#L3-L4@e9e926a6", "github.com/DequanWang/tent/tent.py#L3-L4@e9e926a6"),
        ("DequanWang/tent/tent.py:3-4", "github.com/DequanWang/tent/tent.py#L3-L4@e9e926a6"),
        ("tent/tent.py:3-4", "github.com/DequanWang/tent/tent.py#L3-L4@e9e926a6"),
        ("tent.py:3-4", "github.com/DequanWang/tent/tent.py#L3-L4@e9e926a6"),
        ("https://github.com/DequanWang/tent/blob/main/tent.py#L3-L4", "github.com/DequanWang/tent/tent.py#L3-L4@e9e926a6"),
    ],
)
def test_every_spelling_of_a_citation_gives_its_lines(engine, cited, wanted):
    passage = read(engine, cited)
    assert passage.citation == wanted
    assert passage.hit.chunk.text == "    if isinstance(module, nn.Linear):\n        trunc_normal_(module.weight, std=0.02)"


def test_other_lines_of_the_same_file(engine):
    assert read(engine, "tent/tent.py:3", "1-2").hit.chunk.text == "import torch\ndef _init_weights(module):"


def test_a_work_and_the_end_of_a_path_name_a_file(demo):
    deep = next(match.citation for match in grep(demo, ExactQuery("def sincos_2d", fixed=True)).matches)
    owner, repository, *_, file = deep.removeprefix("github.com/").partition("#")[0].split("/")
    line = deep.partition("#L")[2].partition("@")[0].partition("-")[0]
    wanted = deep.replace(f"#L{line}@", f"#L{line}-L{line}@")
    assert "/" in deep.partition(f"{repository}/")[2]
    assert read(demo, f"{repository}/{file}:{line}").citation == read(demo, f"{owner}/{repository}/{file}:{line}").citation == wanted


def test_every_citation_that_a_search_prints_can_be_read(demo):
    for kind in ("code", "config", "docs", "paper"):
        for match in grep(demo, ExactQuery(".", kinds=(kind,), limit=40)).matches:
            text = read(demo, match.citation).hit.chunk.text
            assert kind == "paper" or match.text.strip("…") in text


def test_a_definition_names_its_callers(demo):
    (defined,) = grep(demo, ExactQuery("def sincos_2d", fixed=True)).matches
    assert not read(demo, defined.citation).callers
    passage = read(demo, defined.citation, callers=True)
    assert (passage.symbol, passage.defined_at) == ("sincos_2d", defined.line)
    assert any(caller.text.strip() == "table = sincos_2d(dim, self.patch_embed.grid)" for caller in passage.callers)


@pytest.mark.parametrize(
    "cited",
    [
        "",
        "#L3",
        "DequanWang/tent/none.py:1",
        "DequanWang/tent/tent.py:99999",
        "arXiv:2006.10726#77",
        "arXiv:1111.11111",
        "c_none",
        "../../etc/passwd",
    ],
)
def test_what_is_not_there_says_what_is(engine, cited):
    with pytest.raises((NotFound, UsageError)) as error:
        read(engine, cited)
    assert error.value.hint


def test_a_match_comes_with_its_statement_or_with_the_lines_that_are_asked_for(demo):
    (match,) = grep(demo, ExactQuery("def sincos_2d", fixed=True)).matches
    assert match.around == ("def sincos_2d(dim, grid):",)
    (wide,) = grep(demo, ExactQuery("def sincos_2d", fixed=True, context=2)).matches
    assert (wide.first, len(wide.around)) == (wide.line - 2, 5)


def test_every_passage_of_a_paper_stands_in_what_its_citation_reads(demo):
    catalog = demo.generation.catalog
    for document in catalog.documents():
        for chunk in catalog.chunks(catalog.neighbours(document.work, document.path)) if document.kind == "paper" else ():
            cited = citation(Hit(1, 1.0, chunk, demo.relations.of(chunk.work).work))
            assert chunk.text in read(demo, cited).hit.chunk.text, cited


def test_a_table_that_is_not_there_is_told_with_those_that_are(demo):
    with pytest.raises(NotFound, match="has no 'Table 99'"):
        read(demo, "arXiv:9912.00001v2#2, Table 99")
