"""Lines found exactly, and lines read: one budget for all patterns or citations of a call, each path once, and how to read on."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from api.wire.exact_lines import matching_lines, passages
from lineage.records import Setting
from retrieval.context.token_budget import TokenEstimator
from tests.demo import NAME

COUNT = TokenEstimator().count
PATTERNS = ("self", "def ", "import", "nothing_is_called_so", "lr|epoch")


@pytest.fixture(scope="module")
def service(built):
    return built.service


def found(service, *patterns, **how):
    return [service.grep(pattern, lineage=NAME, **how) for pattern in patterns]


@pytest.mark.parametrize("context", [0, 20])
@pytest.mark.parametrize("budget", [10, 60, 200, 900, 4000])
def test_all_patterns_together_stay_within_the_budget(service, budget, context):
    text = matching_lines(found(service, *PATTERNS, context=context), COUNT, budget, blocks=context > 0)
    assert COUNT(text) <= budget


def test_what_a_pattern_does_not_need_is_left_to_the_others(service):
    alone = matching_lines(found(service, "self", "nothing_is_called_so"), COUNT, 300)
    beside = matching_lines(found(service, "self", "import"), COUNT, 300)
    assert "== nothing_is_called_so: no line matches" in alone
    assert alone.count("\n") > beside.partition("== import")[0].count("\n")
    assert beside.partition("== import")[2].count("\n") > 2


def test_a_path_stands_once_over_its_lines(service):
    text = matching_lines(found(service, "self", "import"), COUNT, 4000)
    for block in text.split("== ")[1:]:
        paths = [line for line in block.split("\n")[1:] if not re.match(r"\d+(-\d+)?: ", line)]
        assert len({path.partition(":")[0] for path in paths}) == len(paths)
    assert re.search(r"^\w+/\S+\n\d+: \S.*\n\d+: \S", text, re.MULTILINE)


def test_a_file_without_lines_is_cut_and_says_how_it_goes_on(service):
    path = max(service.grep(".", lineage=NAME, kind="code", limit=1000).matches, key=lambda match: match.line).hit.chunk.path
    whole = service.read(path, lineage=NAME)
    (short,) = passages([whole], COUNT, 200)
    assert COUNT(short) <= 200
    cited = re.search(r"… goes on: (\S+)\Z", short)[1]
    goes_on = service.read(cited, lineage=NAME).hit.chunk
    shown = [int(line.partition(":")[0]) for line in short.split("\n")[1:-1]]
    assert (goes_on.start_line, goes_on.path) == (shown[-1] + 1, path)


def test_citations_share_a_budget_and_a_work_is_told_once(service):
    first, *_ = service.grep("def ", lineage=NAME, kind="code").matches
    few, many = service.read(first.citation, lineage=NAME), service.read(first.hit.chunk.path, lineage=NAME)
    texts = passages([many, few, many], COUNT, 500)
    assert sum(map(COUNT, texts)) <= 500
    assert first.text.strip() in texts[1]
    assert [text.count("@") > 0 for text in (line.split("\n")[0] for line in texts)] == [True, False, False]


def test_statements_that_are_alike_stand_once_with_how_many_there_are(service):
    answer = service.grep("epochs", lineage=NAME, limit=1000)
    alike = replace(answer, matches=tuple(replace(match, text="epochs = 3", around=("epochs = 3",), copies=0) for match in answer.matches[:3]))
    text = matching_lines([alike], COUNT, 1000)
    assert text.count("epochs = 3") == 1
    assert "epochs = 3 (and 2 more)" in text


def test_a_passage_says_what_sets_the_names_it_uses(service):
    passage = service.read(service.grep("def ", lineage=NAME, kind="code").matches[0].citation, lineage=NAME)
    chunk = replace(passage.hit.chunk, text="x = args.warm_up\n\ny = args.warm_up", start_line=3, end_line=5)
    sets = {"warm_up": Setting("warm_up", "7", "default", chunk.work, "options.py", "c", 12)}
    (text,) = passages([replace(passage, hit=replace(passage.hit, chunk=chunk), sets=sets, last=5)], COUNT, 1000)
    assert text.split("\n")[1:] == ["3: x = args.warm_up [warm_up = 7, options.py:12]", "5: y = args.warm_up"]
