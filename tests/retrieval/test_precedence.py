"""Whose value comes first."""

from lineage.records import Chunk, Hit, Reference, Role, RoleVerdict, Work, WorkId
from lineage.references.signals import Ancestor, Part
from retrieval.decisions.precedence import Precedence

LOSS, MODEL, OTHER, TARGET = (WorkId(f"arxiv:{n}") for n in (1, 2, 3, 4))
PRECEDENCE = Precedence.of([Ancestor(Part.LOSS, LOSS, 0.8, ""), Ancestor(Part.MODEL, MODEL, 0.9, "")])


def hit(paper):
    repo = Work(WorkId(f"repo:github.com/x/{paper[-1]}"), "code")
    chunk = Chunk("c", repo.id, "a.py", "code", "config", "", "", 0, 0, 1, 1)
    edge = Reference(TARGET, paper, roles=(RoleVerdict(Role.METHOD, 0.9),), score=0.5)
    return Hit(1, 1.0, chunk, repo, reference=edge, paper=Work(paper))


def test_each_topic_asks_the_ancestor_of_its_part():
    assert PRECEDENCE.weight(hit(LOSS), "loss") > PRECEDENCE.weight(hit(OTHER), "loss")
    assert PRECEDENCE.inherited(hit(MODEL), "architecture") == 0.9
    assert PRECEDENCE.inherited(hit(LOSS), "architecture") < PRECEDENCE.inherited(hit(MODEL), "architecture")
    assert PRECEDENCE.inherited(hit(LOSS), "optimiser") > PRECEDENCE.inherited(hit(OTHER), "optimiser") == 0.0


def test_small_differences_are_no_order():
    close = Precedence.of([Ancestor(Part.DATA, LOSS, 0.52, ""), Ancestor(Part.DATA, MODEL, 0.55, "")])
    assert close.band(hit(LOSS), "data") == close.band(hit(MODEL), "data")


def test_a_generation_without_ancestors_has_none():
    assert Precedence.of_meta({}).inherited(hit(LOSS), "loss") == 0.0
    assert Precedence.of_meta({"ancestors": [Ancestor(Part.LOSS, LOSS, 0.8, "").as_meta()]}).inherited(hit(LOSS), "loss") == 0.8


def test_a_role_says_less_of_a_part_that_is_taken_from_elsewhere():
    assert PRECEDENCE.weight(hit(MODEL), "optimizer") - PRECEDENCE.inherited(hit(MODEL), "optimizer") < PRECEDENCE.weight(hit(OTHER), "optimizer")
