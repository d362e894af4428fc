"""Which experiment a value belongs to."""

from __future__ import annotations

import pytest

from lineage.records import Chunk, Fact, Hit, Work, WorkId
from lineage.results import FactOccurrence
from retrieval.decisions.provenance import is_parameter, telling
from tests.fakes.profiles import profiled

TARGET = Work(WorkId("arxiv:2401.00001"), title="The Target")
OWN = Work(WorkId("repo:github.com/target/own"), "code", "own")
OTHER = Work(WorkId("repo:github.com/other/base"), "code", "base")
LISTED = ("CIFAR-10", "ImageNet", "IWSLT14")


def said(name: str, value: str, *section: str, kind: str = "table", line: int = 5, scope: str = "") -> FactOccurrence:
    chunk = Chunk(f"c_{section}{line}", TARGET.id, "main.tex", "paper", "table", value, "", 0, 2, 1, 20, section=section)
    return FactOccurrence(Fact(name, value, "", TARGET.id, chunk.id, kind, line, scope=scope), Hit(1, 1.0, chunk, TARGET, from_target=True))  # type: ignore[arg-type]


def coded(
    name: str, value: str, work: Work = OWN, *, kind: str = "config", scope: str = "", path: str = "train.py", symbol: str = "", line: int = 5
) -> FactOccurrence:
    chunk = Chunk(f"c_{work.id}{path}{line}", work.id, path, "code", "function", "", "", 0, 2, 1, 20, symbol=symbol)
    fact = Fact(name, value, "", work.id, chunk.id, kind, line, name, value, scope)  # type: ignore[arg-type]
    return FactOccurrence(fact, profiled(Hit(1, 1.0, chunk, work, from_target=work is OWN)))


@pytest.mark.parametrize(
    ("scope", "symbol", "parameter"),
    [
        ("AdamWScheduleFree", "AdamWScheduleFree.__init__", True),
        ("AdamWScheduleFree", "AdamWScheduleFree", True),
        ("euler_sampler", "euler_sampler", True),
        ("TrainConfig", "TrainConfig", False),
        ("parse_args", "parse_args", False),
        ("main", "main", False),
        ("linear", "get_args", False),
        ("", "", False),
    ],
)
def test_a_default_in_a_signature_is_no_setting_of_a_run(scope: str, symbol: str, parameter: bool) -> None:
    default = coded("warmup_steps", "0", kind="default", scope=scope, symbol=symbol)
    assert is_parameter(default) is parameter


def test_titles_tell_what_they_are_about_and_scopes_of_programs_nothing() -> None:
    assert telling("Implementation Details") == telling("Experimental Setup") == frozenset()
    assert telling("IWSLT14") & telling("src/iwslt14/train.py")
    assert telling("SciFact") & telling("transformer_scifact.py")
