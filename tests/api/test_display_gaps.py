"""Gaps as people read them: what is said once, and rows of one line where a value and its place are all there is to say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.cli import display_gaps, terminal
from lineage.records import Fact, Focus, Hit, Work
from lineage.results import Conflict, Detail, FactOccurrence, Gap, GapReason, Gaps, Specification, Suggestion
from tests.fakes import small_lineage as small

WORKS = {work.id: work for work in small.works()}
OWN = Hit(1, 0.9, replace(small.chunks()[0], work=small.OWN, path="train.py"), WORKS[small.OWN], from_target=True)
PAPER = Hit(
    1,
    0.9,
    replace(small.chunks()[0], work=small.TARGET, path="main.tex", kind="paper", section=("2 Training",)),
    WORKS[small.TARGET],
    from_target=True,
)
THEIRS = replace(OWN, chunk=replace(OWN.chunk, work=small.REPO), work=WORKS[small.REPO], from_target=False)
LINK = "the target's own repository github.com/target/own (official)"


def offered(name: str, value: str, line: int = 3, hit: Hit = OWN, first: str = LINK) -> Suggestion:
    held = FactOccurrence(Fact(name, value, "", hit.work.id, hit.chunk.id, "default", line), replace(hit, focus=Focus(line, line)))
    return Suggestion(value, "", "fair", "why", (held,), (hit,), (first, f"has {name} = {value} at train.py#L{line}"))


def gap(
    name: str,
    *some: Suggestion,
    stated: tuple[Hit, ...] = (),
    topic: str = "optimizer",
    title: str = "",
    reason: GapReason = GapReason.DEFERS,
    of: str = "",
) -> Gap:
    state = Specification.PARTIALLY_SPECIFIED if stated else Specification.UNSPECIFIED
    return Gap(Detail(name, title or name, topic, f"which {name}?"), state, stated, suggestions=some, reason=reason, of=of)


def shown(*some: Gap) -> list[str]:
    return terminal.plain(display_gaps.gaps(Gaps("x", "1", Work(small.TARGET, title="The Target"), (), some))).split("\n")


def test_a_sentence_that_many_details_defer_with_is_quoted_once():
    text = "\n".join(shown(gap("warm-up", stated=(PAPER,)), gap("dropout", stated=(PAPER,)), gap("betas", stated=(PAPER,))))
    assert (text.count("“"), text.count("quoted above")) == (1, 2)


def test_whose_the_own_code_is_is_said_once_and_how_anothers_is_reached_each_time():
    cited = "target cites Tent as baseline"
    text = "\n".join(
        shown(*(gap(name, offered(name, "1")) for name in "abc"), *(gap(name, offered(name, "1", hit=THEIRS, first=cited)) for name in "de"))
    )
    assert (text.count(LINK), text.count(cited)) == (1, 2)
    assert text.count("has ") == 5


def test_a_setting_of_the_own_code_is_a_line_with_its_place_and_what_else_it_is():
    rows = shown(gap("setting:opt_eps", offered("opt_eps", "1e-8", 7), offered("opt_eps", "1e-6"), topic="procedure"))
    at = next(n for n, row in enumerate(rows) if row.startswith("FURTHER SETTINGS"))
    assert rows[at + 1].split() == ["fair", "opt_eps", "=", "1e-8", f"github.com/target/own/train.py#L7-L7@{'a' * 8}"]
    assert rows[at + 2].strip() == "also: opt_eps = 1e-6 (fair)"


def test_rows_stand_under_their_headings_in_one_order():
    known = replace(gap("lr"), state=Specification.SPECIFIED)
    rows = shown(known, gap("setting:eps", offered("eps", "1")), gap("seed", stated=(PAPER,)), gap("betas"))
    heads = [row.split(" ")[0] for row in rows if row[:2].isupper()]
    assert heads == ["UNSPECIFIED", "PARTIALLY", "FURTHER", "SPECIFIED"]


def test_what_a_second_reading_does_not_confirm_comes_last_a_line_each_and_is_only_counted_on_a_screen():
    doubted = replace(gap("warm-up", offered("warmup", "5", 9), title="Warm-up"), confirmed=False)
    rows = shown(doubted, replace(gap("lr"), state=Specification.SPECIFIED), replace(gap("betas", offered("betas", "0.9")), confirmed=True))
    assert rows[-2].startswith("UNCONFIRMED")
    assert rows[-1].split() == ["Warm-up", "warmup", "=", "5", "own/train.py:9"]
    screen = terminal.plain(display_gaps.brief(Gaps("x", "1", Work(small.TARGET), (), (doubted, gap("betas", offered("betas", "0.9"))))))
    assert "OPEN DECISIONS (1)" in screen
    assert "Warm-up" not in screen
    assert "not shown: 0 stated details, 0 further settings, 1 that the model does not confirm" in screen


@pytest.mark.parametrize(
    ("value", "words"),
    [('{"kind": "plateau"}', "plateau"), ('{"kind": "cosine", "warmup_steps": 500}', "cosine (warmup_steps 500)"), ('{"kind": 3', '{"kind": 3')],
)
def test_a_schedule_is_shown_in_words(value, words):
    schedule = gap("schedule", offered("schedule", value))
    assert f"schedule = {words}" in "\n".join(shown(schedule))
    assert f"schedule = {words}" in terminal.plain(display_gaps.brief(Gaps("x", "1", Work(small.TARGET), (), (schedule,)), columns=200))


def test_a_small_screen_shows_every_contradiction_and_the_ends_of_long_places():
    deep = replace(OWN, chunk=replace(OWN.chunk, path="a/very/long/folder/of/experiments/train_everything.py"))
    sides = tuple(offered("lr", value, hit=deep).held[0] for value in ("0.1", "0.2"))
    report = Gaps("x", "1", Work(small.TARGET, title="The Target"), (), (gap("betas", offered("betas", "0.9", hit=deep)),))
    conflicts = tuple(Conflict("lr", f"learning rate {n}", "paper-code", sides, 1.0) for n in range(5))
    rows = terminal.plain(display_gaps.brief(replace(report, conflicts=conflicts), rows=24, columns=80)).split("\n")
    assert [row.split()[2] for row in rows if "learning rate" in row] == list("01234")
    assert sum(row.endswith("train_everything.py:3") for row in rows) == 11
    assert max(map(len, rows)) <= 80
