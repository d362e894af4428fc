"""Statements of code that decide the same."""

import pytest

from lineage.records import Fact, WorkId
from retrieval.decisions.agreement import agree


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
