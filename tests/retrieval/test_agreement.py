"""Statements of code that decide the same."""

import pytest

from lineage.records import Chunk, Fact, Hit, Work, WorkId
from lineage.results import FactOccurrence
from retrieval.audit.inputs import whole
from retrieval.gaps.mechanisms import agree


def fact(value: str, written: str, how: str = "call") -> Fact:
    return Fact("mechanism:any", value, "", WorkId("repo:github.com/a/b"), "c", "call", 1, written, how)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (fact("nn.init.normal_(self.w, std=0.02)", "normal_"), fact("torch.nn.init.normal_(layer.weight, std=.02)", "normal_"), True),
        (fact("nn.init.normal_(self.w, std=0.02)", "normal_"), fact("nn.init.normal_(self.w, std=0.01)", "normal_"), False),
        (fact("vae.requires_grad_(False)", "requires_grad_"), fact("vae.requires_grad_(True)", "requires_grad_"), False),
        (
            fact('parser.add_argument("--clip", type=float, default=1.0, help="0 is off")', "clip", "option"),
            fact("parser.add_argument('--clip', default=1)", "clip", "option"),
            True,
        ),
        (fact("clip=args.clip,", "clip", "keyword"), fact("clip=args.clip,", "clip", "keyword"), False),
        (fact("drop: 0.1", "drop", "config"), fact("drop=.1, eps=1e-6", "drop", "keyword"), True),
        (fact("def crop(image):", "crop", "definition"), fact("crop(image)", "crop"), True),
        (fact("shuffle(x)", "shuffle"), fact("sorted(x)", "sorted"), False),
    ],
)
def test_the_same_call_or_name_with_the_same_literals_decides_the_same(one: Fact, other: Fact, same: bool) -> None:
    assert agree(one, other) is agree(other, one) is same


def held(name: str, value: str) -> FactOccurrence:
    own = Work(WorkId("repo:github.com/target/own"), "code", "own")
    chunk = Chunk("c_config", own.id, "config.yaml", "config", "block", "", "", 0, 0, 1, 20)
    return FactOccurrence(Fact(name, value, "", own.id, chunk.id, "config", 5, name, value), Hit(1, 1.0, chunk, own, from_target=True))


def test_what_is_no_number_counts_for_nothing() -> None:
    batch, devices, passes = held("batch_size", "256"), [held("gpus", "auto"), held("gpus", "1")], [held("gradient_accumulation", "0.5")]
    assert whole([held("batch_size", "auto")], [held("gpus", "8")], []) == []
    assert whole([batch], devices, passes) == []
