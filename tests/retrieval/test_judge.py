"""What a model's opinion of a component may change, and what it may not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lineage.errors import SourceError
from lineage.records import Chunk, Hit, Status, Work, WorkId
from lineage.results import AuditFinding
from retrieval.audit.judge import judged

MADE = WorkId("local:0000")
CODE = "class Tail:\n    def decode(self, tokens):\n        return self.blocks(tokens + self.positions)\n"
HIT = Hit(1, 1.0, Chunk("c_" + "0" * 20, MADE, "model.py", "code", "class", CODE, "", 0, len(CODE), 1, 3, symbol="Tail"), Work(MADE))
ABSENT = AuditFinding("paper", "component", "Patch decoder", "cannot judge", "Patch decoder. It is shallow.", why="0 of its 2 words are spoken of")


class Model:
    """A model that answers what it was made with, and keeps what it was asked."""

    model = "scripted"

    def __init__(self, said):
        self.said, self.asked = said, []

    def complete(self, messages, schema, most):
        self.asked.append(messages)
        if isinstance(self.said, SourceError):
            raise self.said
        return self.said if isinstance(self.said, str) else json.dumps(self.said)


def test_a_quote_that_stands_in_the_code_makes_a_component_match():
    one = judged(ABSENT, [HIT], Model({"implemented": True, "quote": "return self.blocks(tokens  + self.positions)"}))
    assert (one.verdict, one.found) == ("match", "Tail")
    assert one.why.endswith("scripted: return self.blocks(tokens  + self.positions)")


@pytest.mark.parametrize("quote", ["return self.decoder(tokens)", "", "tokens"])
def test_a_quote_that_does_not_stand_there_or_says_nothing_is_not_counted(quote):
    one = judged(ABSENT, [HIT], Model({"implemented": True, "quote": quote}))
    assert (one.verdict, one.why.endswith("not counted")) == ("cannot judge", True)


def test_what_a_model_denies_is_told_and_changes_nothing():
    present = AuditFinding("paper", "component", "x", "match", "x", "Tail", why="2 of its 2 words are spoken of")
    one = judged(present, [HIT], Model({"implemented": False, "quote": ""}))
    assert (one.verdict, one.why) == ("match", "2 of its 2 words are spoken of; scripted sees no implementation")


@pytest.mark.parametrize("said", ["nonsense", "{}", SourceError(Status.RATE_LIMITED, "too many requests")])
def test_a_model_that_is_not_heard_leaves_the_finding_and_says_so(said):
    one = judged(ABSENT, [HIT], Model(said))
    assert (one.verdict, "was not heard" in one.why) == ("cannot judge", True)


def test_the_code_stands_between_two_lines_that_it_cannot_hold():
    model = Model({"implemented": False, "quote": ""})
    judged(ABSENT, [HIT], model)
    system, user = (message["content"] for message in model.asked[0])
    fence = user.split("\n")[0]
    assert user.count(fence) == 2
    assert fence in system


def judgement(finding=ABSENT, hits=(HIT,), **said):
    return judged(finding, hits, Model({"implemented": True, "quote": "return self.blocks(tokens + self.positions)"} | said))


def test_a_quote_of_twelve_characters_beside_its_blanks_is_the_shortest_that_counts():
    assert judgement(quote="  def decode ( self ").verdict == "match"
    assert judgement(quote="decode(self").verdict == "cannot judge"


def test_a_component_without_a_name_is_found_in_its_file():
    bare = replace(HIT, chunk=replace(HIT.chunk, symbol=""))
    assert judgement(hits=[bare]).found == "model.py"


def test_the_hit_that_holds_the_quote_is_the_one_that_is_found():
    other = replace(HIT, chunk=replace(HIT.chunk, text="def head(x):\n    return x", symbol="head"))
    assert judgement(hits=[other, HIT]).found == "Tail"
    assert judgement(hits=[other]).verdict == "cannot judge"


def test_what_was_present_before_stays_as_it_was_found():
    present = replace(ABSENT, verdict="match", found="Patches")
    assert (judgement(present).found, judgement(present).verdict) == ("Patches", "match")


def test_without_code_nobody_is_asked():
    model = Model("nonsense")
    assert judged(ABSENT, [], model) is ABSENT
    assert model.asked == []


def test_a_long_quote_is_told_by_its_beginning():
    long = "x = 1 ; " * 400
    made = judgement(hits=[replace(HIT, chunk=replace(HIT.chunk, text=long))], quote=long)
    assert made.verdict == "match"
    assert made.why.endswith("scripted: " + long[:120])


def test_a_judgement_may_stand_in_a_block_and_say_more_than_was_asked():
    said = '```json\n{"implemented": true, "quote": "return self.blocks(tokens + self.positions)", "sure": 0.9}\n```'
    assert judged(ABSENT, [HIT], Model(said)).verdict == "match"
