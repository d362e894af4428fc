"""The demonstration's questions are ranked as they were, or the change is shown with its reasons."""

from __future__ import annotations

import json

import pytest

from tests.golden.rankings import FILE, SLACK, changes, made

HOW = "If this is meant, make the rankings anew with `python -m tests.golden.rankings` and commit them with the change.\n"


def row(name: str, score: float = 0.5, kind: str = "code") -> dict[str, object]:
    return {"hit": name, "kind": kind, "score": score, "why": [f"lexical {score}"]}


@pytest.mark.parametrize(("kind", "slack"), [("lexical", 0.0), ("vectors", SLACK)])
def test_the_demonstration_is_ranked_as_before(built, kind, slack):
    before, after = json.loads(FILE.read_text("utf-8")), made(built)
    if kind == "vectors":
        assert before["embedder"] == after["embedder"], f"the rankings were made with another model. {HOW}"
    moved = [f"{name}: {change}" for name, rows in after[kind].items() for change in changes(before[kind].get(name, []), rows, slack)]
    assert not moved, f"{len(moved)} changes of rank ({kind}). {HOW}" + "\n".join(moved)


def test_a_change_is_told_with_what_moved_it():
    assert list(changes([row("a", 0.9), row("b", 0.4)], [row("b", 0.95), row("a", 0.9)])) == [
        "b: rank 2 [lexical 0.4] -> rank 1 [lexical 0.95]",
        "a: rank 1 [lexical 0.9] -> rank 2 [lexical 0.9]",
    ]
    assert list(changes([row("a")], [row("b")])) == [
        "b: not among the first 5 -> rank 1 [lexical 0.5]",
        "a: rank 1 [lexical 0.5] -> not among the first 5",
    ]


def test_neighbours_within_the_slack_may_change_places():
    assert list(changes([row("a", 0.41), row("b", 0.4)], [row("b", 0.41), row("a", 0.4)], 0.02)) == []
