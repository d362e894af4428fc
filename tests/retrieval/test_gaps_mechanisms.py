"""Rows of mechanisms: chosen for a target, one offer a repository, the ancestor's first."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from lineage.catalog.reader import Outline
from lineage.hyperparameters.ontology import ontology
from lineage.records import MECHANISM, Chunk, Fact, Reason, ReasonKind, Reference, Role, RoleVerdict, Tier, Work, WorkId
from lineage.references.inheritance import Part
from lineage.references.signals import Ancestor
from lineage.results import Detail, Gap, Gaps, Specification
from retrieval.context import records
from retrieval.context.token_budget import TokenEstimator
from retrieval.decisions.precedence import Precedence
from retrieval.decisions.target_text import TargetText, of_chunks
from retrieval.gaps.mechanisms import Mechanisms
from retrieval.gaps.offers import Context
from retrieval.search.work_relations import WorkRelation, WorkRelations

TARGET = Work(WorkId("arxiv:2401.00001"), title="Drifting Forests")
NEAR = Work(WorkId("repo:github.com/near/forest"), "code", "forest", meta={"commit": "a" * 40})
FAR = Work(WorkId("repo:github.com/far/tree"), "code", "tree", meta={"commit": "b" * 40})


def cited(work: Work, role: Role) -> WorkRelation:
    paper = Work(WorkId(f"arxiv:{work.title}"), title=work.title)
    edge = Reference(TARGET.id, paper.id, roles=(RoleVerdict(role, 0.9),), score=0.5)
    return WorkRelation(work, paper, edge, tier=Tier.OFFICIAL)


KINSHIP = WorkRelations({NEAR.id: cited(NEAR, Role.BASE), FAR.id: cited(FAR, Role.BASELINE)})
ANCESTORS = Precedence.of([Ancestor(Part.TRAINING, WorkId("arxiv:forest"), 0.9, "")])


def statement(work: Work, kind: str, code: str, path: str = "train.py", line: int = 5, how: str = "call") -> tuple[Chunk, Fact]:
    chunk = Chunk(f"c_{work.title}{path}{line}", work.id, path, "code", "function", code, "", 0, len(code), line, line)
    return chunk, Fact(MECHANISM + kind, code, "", work.id, chunk.id, "call", line, code, how, "train", False, line)


def catalog_of(statements: Sequence[tuple[Chunk, Fact]], deciding: Mapping[str, int] | None = None) -> Any:
    return SimpleNamespace(
        mechanisms=lambda kind: tuple(fact for _, fact in statements if fact.name == MECHANISM + kind),
        chunks_of=lambda ids: {chunk.id: chunk for chunk, _ in statements},
        rows_of=lambda ids: range(len(statements)),
        outlines=lambda rows: {row: Outline(statements[row][0], "") for row in rows},
        documents=lambda work: (),
        deciding=lambda: deciding or {},
        meta=dict,
    )


CHARACTERS = TokenEstimator()


def report_of(gaps: Sequence[Gap]) -> Gaps:
    return Gaps("small", "g", TARGET, (), tuple(gaps), ())


def rows(statements: Sequence[tuple[Chunk, Fact]], paper: str = "We train trees.", gaps: Sequence[Gap] = ()) -> list[Gap]:
    engine: Any = SimpleNamespace(generation=SimpleNamespace(catalog=catalog_of(statements)), relations=KINSHIP)
    said = Chunk("c_p", TARGET.id, "paper.tex", "paper", "paragraph", paper, "", 0, len(paper), 1, 1, section=("Experiments",))
    context = Context(TARGET, {}, ontology().same, precedence=ANCESTORS)
    return Mechanisms(engine, TargetText(TARGET, tuple(of_chunks([said], ())), True), context, ["training"]).rows(gaps)


CLIP = (statement(FAR, "gradient_clipping", "clip_grad_value_(p, 1)"), statement(NEAR, "gradient_clipping", "clip_grad_norm_(p, 3.0)"))


def test_the_ancestor_of_the_part_stands_first_with_its_place():
    (row,) = rows(CLIP)
    assert [offer.value for offer in row.suggestions] == ["clip_grad_norm_(p, 3.0)", "clip_grad_value_(p, 1)"]
    assert [offer.grade for offer in row.suggestions] == ["fair", "weak"]
    assert row.suggestions[0].chain[-1].endswith("train.py#L5-L5@aaaaaaaa")
    assert (row.detail.name, row.state) == (MECHANISM + "gradient_clipping", Specification.UNSPECIFIED)


def test_what_the_target_speaks_of_says_where():
    (row,) = rows(CLIP, "We train trees with gradient clipping in all of the runs.")
    assert row.state is Specification.PARTIALLY_SPECIFIED
    assert row.stated[0].why == (Reason(ReasonKind.SAYS, of=("We train trees with gradient clipping in all of the runs.",)),)


@pytest.mark.parametrize(("paper", "shown"), [("We train trees.", 0), ("Our diffusion model. Another diffusion model. A third diffusion model.", 1)])
def test_kinds_of_another_field_are_left_out(paper, shown):
    sampler = [statement(work, "sampler", "def ddim_sample(self):", "sample.py", how="definition") for work in (NEAR, FAR)]
    assert len(rows(sampler, paper)) == shown


def test_statements_join_the_row_of_the_list_that_asks_for_them():
    listed = Gap(Detail("gradient_clipping", "Gradient clipping", "optimizer", "?", weight=0.4), Specification.UNSPECIFIED)
    (row,) = rows(CLIP, gaps=[listed])
    assert (row.detail.name, row.detail.weight, len(row.suggestions)) == ("gradient_clipping", 0.8, 2)


def test_a_detail_that_is_stated_needs_no_row():
    listed = Gap(Detail("gradient_clipping", "Gradient clipping", "optimizer", "?"), Specification.SPECIFIED)
    assert rows(CLIP, gaps=[listed]) == [listed]


def test_one_work_that_is_no_ancestor_makes_no_row():
    assert not rows(CLIP[:1])


def test_examples_and_names_by_the_way_settle_nothing():
    assert not rows([statement(NEAR, "gradient_clipping", "clip_grad_norm_(p, 9)", "examples/train.py")])
    assert not rows([statement(NEAR, "gradient_clipping", "clip = compute()", "util.py", how="computed")])


def test_a_planning_pack_cites_a_stretch_once_for_all_that_it_settles():
    decay = [statement(NEAR, "weight_decay_exemption", "no_decay = []", line=9), statement(FAR, "weight_decay_exemption", "no_decay = []", line=90)]
    _, *lines = [line.text for line in records.of(report_of(rows([*CLIP, *decay])), "reproduce it", "planning", CHARACTERS)]
    first = "- github.com/near/forest/train.py#L5-L9: L5 Gradient clipping; L9 Weight decay"
    assert lines == [first, "- github.com/far/tree/train.py#L90: Weight decay", "- github.com/far/tree/train.py#L5: Gradient clipping"]


def test_repositories_that_do_the_same_are_one_offer() -> None:
    same = [statement(work, "gradient_clipping", "clip_grad_norm_(net.parameters(), 3.0)") for work in (NEAR, FAR)]
    (row,) = rows(same)
    (offer,) = row.suggestions
    assert {held.fact.work for held in offer.held} == {NEAR.id, FAR.id}
    assert "2 of 2 works do the same" in offer.reason
