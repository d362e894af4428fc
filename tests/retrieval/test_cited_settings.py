"""Settings of cited programs that no list knows: those of the nearest ancestor, and those that several works have and the target speaks of."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

import pytest

from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Fact, Hit, Reference, Work, WorkId
from lineage.references.ancestors import Ancestor
from lineage.references.inheritance import Part
from lineage.results import FactOccurrence
from retrieval.decisions.precedence import Precedence
from retrieval.decisions.target_text import TargetText, of_chunks
from retrieval.gaps import cited_settings
from retrieval.gaps.offers import Context
from retrieval.gaps.undocumented_settings import Known, Place

TARGET = Work(WorkId("arxiv:2401.00001"), title="Drifting Forests")
NEAR, FAR, THIRD = (WorkId(f"repo:github.com/{name}/forest") for name in ("near", "far", "third"))
PRECEDENCE = Precedence.of([Ancestor(Part.MODEL, NEAR, 0.9, "")])
CONTEXT = replace(Context(TARGET, {}, ontology().same), precedence=PRECEDENCE)
KNOWN = Known({}, {}, frozenset(), ontology())


def sets(name: str, value: str, *works: WorkId, path: str = "train.py", line: str = "") -> list[FactOccurrence]:
    text = line or f'parser.add_argument("--{name}", default={value})'
    kind: Any = "docs" if path.endswith(".md") else "code"
    chunks = [Chunk(f"{work}{path}{name}", work, path, kind, "function", text, "", 0, len(text), 5, 5) for work in works]
    return [
        FactOccurrence(
            Fact(name, value, "", chunk.work, chunk.id, "default", 5, name, value),
            Hit(1, 1.0, chunk, Work(chunk.work, "code"), reference=Reference(TARGET.id, chunk.work)),
        )
        for chunk in chunks
    ]


def titles(found: Iterable[FactOccurrence], monkeypatch: pytest.MonkeyPatch, told: Collection[Place] = (), known: Known = KNOWN) -> list[str]:
    paper = "The leaf budget of a tree is fixed. The root width is 7."
    chunk = Chunk("c_p", TARGET.id, "paper.tex", "paper", "paragraph", paper, "", 0, len(paper), 1, 1, section=("Method",))
    monkeypatch.setattr(cited_settings, "settings_of", lambda engine, works: list(found))
    monkeypatch.setattr(cited_settings, "_works", lambda engine: [])
    engine: Any = None
    rows = cited_settings.rows(engine, TargetText(TARGET, tuple(of_chunks([chunk], ())), True), known, CONTEXT, told)
    return [gap.detail.title.partition(" ")[0] for gap in rows]


def test_the_nearest_ancestors_settings_come_first_and_others_need_agreement_and_the_targets_words(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        *sets("leaf_budget", "9", FAR, THIRD),
        *sets("branch_order", "4", NEAR),
        *sets("bark_color", "3", FAR, THIRD),
        *sets("tree_leaf", "2", FAR),
        *sets("root_width", "7", NEAR),
    ]
    assert titles(found, monkeypatch) == ["branch_order", "leaf_budget"]


def test_counters_placeholders_other_documents_and_what_is_told_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        *sets("seen_trees", "0", NEAR, line="seen_trees = 0"),
        *sets("forest_dir", "[YOUR_FOREST]", NEAR),
        *sets("labels", "5", NEAR, path="agents/guide.md"),
        *sets("twigs", "5", NEAR),
    ]
    assert titles(found, monkeypatch) == ["twigs"]
    assert titles(found, monkeypatch, told=[(NEAR, "train.py", 5)]) == []
    assert titles(found, monkeypatch, known=replace(KNOWN, names={(NEAR, "train.py", 5): frozenset({"layers"})})) == []
