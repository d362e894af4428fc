"""Units are whole: functions with all of their parts, paragraphs with their equations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.model import Hit, Work
from lineage.tokens import terms
from retrieval.pack.units import Words, complete, neutral, paragraphs
from tests.fakes import small_lineage as small


def test_an_equation_and_what_goes_on_after_it_belong_to_the_paragraph():
    text = "3 Loss\n\nWe minimise the entropy\n\n$$H(p) = -\\sum p \\log p$$\n\nwhere p are predictions.\n\nA new paragraph."
    assert paragraphs(text) == ["3 Loss\n\nWe minimise the entropy\n\n$$H(p) = -\\sum p \\log p$$\n\nwhere p are predictions.", "A new paragraph."]


def test_tables_and_blocks_of_code_are_whole():
    assert paragraphs("| a | b\n\n1 | 2", "table") == ["| a | b\n\n1 | 2"]
    assert paragraphs("Run\n\n```sh\na\n\nb\n```\n\nThen look.") == ["Run", "```sh\na\n\nb\n```", "Then look."]


def test_what_cannot_be_seen_and_what_chat_models_read_as_a_speaker_is_neutralised():
    assert neutral("a\u200bb\x1b[0m <|im_start|>system") == "ab[0m < |im_start| >system"


LINES = ["def long():", *(f"    step({n})" for n in range(40))]
TEXT = "\n".join(LINES)


class Shelf:
    """A catalogue of one document in two chunks."""

    def __init__(self) -> None:
        half = len("\n".join(LINES[:21]))
        whole = small.chunk(small.REPO, "long.py", TEXT, symbol="long")
        self.held = [
            replace(whole, id="c_1", text=TEXT[:half], end=half, end_line=21),
            replace(whole, id="c_2", text=TEXT[half + 1 :], start=half + 1, start_line=22),
        ]

    def neighbours(self, work, path):
        return [0, 1]

    def chunks(self, rows):
        return [self.held[row] for row in rows]

    def window(self, work, path, start, end):
        return TEXT[start:end]


@pytest.mark.parametrize("part", [0, 1])
def test_a_part_of_a_function_brings_the_whole_of_it(part):
    shelf = Shelf()
    found = complete(shelf, shelf.held[part])
    assert (found.start_line, found.end_line) == (1, 41)
    assert found.text.startswith("def long():\n")
    assert found.text.endswith("    step(39)")


def test_the_end_of_one_function_packed_with_another_brings_the_beginning_too():
    shelf = Shelf()
    shelf.held[1] = replace(shelf.held[1], symbol="long, short")
    found = complete(shelf, shelf.held[1])
    assert (found.start_line, found.symbol) == (1, "long, short")


def test_whole_functions_beside_each_other_stay_as_they_are():
    shelf = Shelf()
    shelf.held[1] = replace(shelf.held[1], symbol="other")
    assert complete(shelf, shelf.held[1]) is shelf.held[1]


def test_a_heading_alone_goes_with_what_it_heads():
    assert paragraphs("4 Experiments\n\n4.1 Setting\n\nWe train on five sets.") == ["4 Experiments\n\n4.1 Setting\n\nWe train on five sets."]


def trust(path, asked="training loop", own=True, text="training loop", **more):
    hit = Hit(1, 1.0, small.chunk(small.REPO, path, text), Work(small.REPO, "code"), **more)
    return Words({"train": 1.0, "loop": 1.0}, (frozenset(terms(asked)),), own).trust(hit, 0)


def test_the_targets_own_code_outweighs_that_of_its_lineage_step_by_step():
    one, two = small.reference(), replace(small.reference(), distance=2)
    own, near, far = trust("a.py", from_target=True), trust("a.py", reference=one), trust("a.py", reference=two)
    assert own > near > far
    assert trust("a.py", reference=one, own=False) == own


def test_tests_and_others_code_kept_to_compare_with_weigh_little_unless_they_are_asked_for():
    assert trust("lib/baselines/x.py") < trust("lib/x.py")
    assert trust("x/test_train.py") < trust("x/train.py")
    assert trust("tests/a.py") < trust("contest/a.py") == trust("a.py")
    assert trust("lib/baselines/x.py", "baselines training loop") == trust("lib/x.py", "baselines training loop")
    assert trust("tests/a.py", "tests of training loop") == trust("a.py", "tests of training loop")


def test_the_data_of_others_tells_nothing_of_how_a_thing_is_done():
    assert trust("data/cite/dev.txt") < trust("docs/cite/dev.txt") == trust("data/cite/load.py")
    assert trust("data/prompts/plan.txt", from_target=True) == trust("prompts/plan.txt", from_target=True)
