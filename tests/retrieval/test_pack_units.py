"""Units are whole: functions with all of their parts, paragraphs with their equations."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.records import Answer, Hit, Query, Signal, Work
from lineage.text.tokens import terms
from retrieval.context.task import Subquestion
from retrieval.context.units import PackUnit, QuestionWords, beside, complete, kind_of, neutral, paragraphs, units, words_of
from tests.fakes import small_lineage as small
from tests.fakes.profiles import profiled


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
    hit = profiled(Hit(1, 1.0, small.chunk(small.REPO, path, text), Work(small.REPO, "code"), **more))
    return QuestionWords({"train": 1.0, "loop": 1.0}, (frozenset(terms(asked)),), own).trust(hit, 0)


def test_the_targets_own_code_outweighs_that_of_its_lineage_step_by_step():
    one, two = small.reference(), replace(small.reference(), distance=2)
    own, near, far = trust("a.py", from_target=True), trust("a.py", reference=one), trust("a.py", reference=two)
    assert own > near > far
    assert trust("a.py", reference=one, own=False) == own


def test_tests_and_others_code_kept_to_compare_with_weigh_little_unless_they_are_asked_for():
    assert trust("lib/baselines/x.py") < trust("lib/x.py")
    assert trust("tests/train.py") < trust("x/train.py")
    assert trust("tests/a.py") < trust("contest/a.py") == trust("a.py")
    assert trust("lib/baselines/x.py", "baselines training loop") == trust("lib/x.py", "baselines training loop")
    assert trust("tests/a.py", "tests of training loop") == trust("a.py", "tests of training loop")


def test_the_data_of_others_tells_nothing_of_how_a_thing_is_done():
    assert trust("data/cite/dev.txt") < trust("docs/cite/dev.txt") == trust("data/cite/load.py")
    assert trust("data/prompts/plan.txt", from_target=True) == trust("prompts/plan.txt", from_target=True)


@given(st.lists(st.sampled_from(["We train.", "and go on", "x:", "$$a$$", "3 Setup", "# Head", "```", "- item", "(see)", ""]), max_size=12))
@settings(max_examples=25, deadline=None)
def test_paragraphs_lose_nothing_and_keep_the_order(parts):
    text = "\n\n".join(parts)
    made = paragraphs(text)
    assert "\n\n".join(made).split() == text.split()
    assert len(made) <= max(1, sum(bool(part) for part in parts))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One.\n\nTwo.", ["One.", "Two."]),
        ("One.\n \t\nTwo.", ["One.", "Two."]),
        ("As follows:\n\nTwo.", ["As follows:\n\nTwo."]),
        ("One,\n\nTwo.", ["One,\n\nTwo."]),
        ("One.\n\n\\[x\\]\n\n(which is x)", ["One.\n\n\\[x\\]\n\n(which is x)"]),
        ("## Head\n\nA.1 Sub\n\nText.\n\nB.", ["## Head\n\nA.1 Sub\n\nText.", "B."]),
        ("12 is a number.\n\nNext.", ["12 is a number.\n\nNext."]),
        ("```\na\n\nb\n\nc\n```\n\nEnd", ["```\na\n\nb\n\nc\n```", "End"]),
        ("", [""]),
    ],
)
def test_what_belongs_together_stays_together(text, parts):
    assert paragraphs(text) == parts


@pytest.mark.parametrize("role", ["table", "algorithm", "list"])
def test_some_roles_are_never_parted(role):
    assert paragraphs("a\n\nb", role) == ["a\n\nb"]


def test_a_chunk_outside_of_functions_or_without_a_name_is_left_as_it_is():
    shelf = Shelf()
    for change in ({"role": "module"}, {"symbol": ""}):
        shelf.held[1] = replace(shelf.held[1], **change)
        assert complete(shelf, shelf.held[1]) is shelf.held[1]
        shelf.held[1] = replace(Shelf().held[1])
    assert complete(shelf, replace(shelf.held[1], id="c_9")).id == "c_9"


def test_a_function_that_would_be_too_long_stays_in_parts():
    shelf = Shelf()
    assert complete(shelf, shelf.held[0], 41).end_line == 41
    assert complete(shelf, shelf.held[0], 40) is shelf.held[0]


@pytest.mark.parametrize(("gap", "joined"), [(3, True), (4, False)])
def test_parts_of_a_function_lie_within_three_lines_of_each_other(gap, joined):
    shelf = Shelf()
    shelf.held[1] = replace(shelf.held[1], start_line=21 + gap, end_line=60)
    assert (complete(shelf, shelf.held[0]) is not shelf.held[0]) is joined


@pytest.mark.parametrize(
    ("chunk", "kind"),
    [(small.chunks()[0], "imitate"), (small.chunks()[2], "lineage"), (small.chunks()[5], "lineage"), (small.chunks()[6], "stated")],
)
def test_a_hit_belongs_under_the_heading_of_what_it_is(chunk, kind):
    assert kind_of(Hit(1, 1.0, chunk, Work(chunk.work), from_target=chunk.work == small.TARGET)) == kind


@pytest.mark.parametrize(
    ("path", "kind", "role", "text", "aside"),
    [
        ("tests/data.yaml", "config", "config", "a: 1", True),
        ("src/fixtures/x.md", "docs", "text", "x", True),
        ("tests/a.py", "code", "function", "x", False),
        ("contests/a.yaml", "config", "config", "a: 1", False),
        ("main.tex", "paper", "caption", "Figure 3: The model.", True),
        ("main.tex", "paper", "caption", "Table 3: The model.", False),
    ],
)
def test_what_tests_read_and_what_captions_a_figure_says_little(path, kind, role, text, aside):
    chunk = replace(small.chunk(small.REPO, path, text, kind), role=role)
    assert beside(profiled(Hit(1, 1.0, chunk, Work(small.REPO)))) is aside


class Found:
    """A catalogue that says how often each word is held."""

    def frequencies(self, words):
        return dict.fromkeys(words, 1)

    def neighbours(self, work, path):
        return []

    def chunks(self, rows):
        return []


def found_units(*hits, asked="entropy of predictions", more=()):
    answers = [Answer(Query(asked), "small", "1", hits), *(Answer(Query(asked), "small", "1", some) for some in more)]
    asked_ = [Subquestion(asked, 1.0)] * len(answers)
    return units(Found(), answers, words_of(Found(), asked_, answers, 8))


def passage(text, score=1.0, name="c_p"):
    return Hit(1, score, replace(small.chunk(small.CITED, "main.tex", text, "paper"), id=name), Work(small.CITED))


def test_a_paragraph_counts_by_its_share_of_the_questions_words():
    one, two, three = found_units(
        passage("The entropy of predictions falls from here on.\n\nAn entropy is what it is there.\n\nNothing of this is said of it.")
    )
    assert one.relevance[0] > two.relevance[0] > three.relevance[0] > 0
    assert three.relevance[0] == pytest.approx(0.2 * one.relevance[0])
    assert [unit.order for unit in (one, two, three)] == [(0, 0), (1, 1), (2, 2)]


def test_equal_texts_are_one_unit_with_the_best_relevance_for_each_question():
    text = "The entropy of predictions is what we minimise here."
    first, again = passage(text, 0.5, "c_1"), passage(text, 1.0, "c_2")
    (made,) = found_units(first, more=[(again,)])
    assert made.hit == first
    assert made.relevance == {0: pytest.approx(0.25), 1: pytest.approx(1.0)}


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("The entropy of predictions is minimised.", "paper", True),
        ("4.1 The entropy of all our predictions in detail", "paper", False),
        ("entropy = 1 2", "paper", False),
        ("# a lone comment\n// and one\n---", "code", False),
        ("# a comment\nx = 1", "code", True),
        ('""" Main training loop. """\nimport os\n\nclass Experiment:', "code", False),
        ("class Experiment:\n    steps = 5", "code", True),
        ("# only: comments", "config", False),
        ("lr: 1", "config", True),
    ],
)
def test_headings_rules_and_lone_comments_say_nothing_by_themselves(text, kind, says):
    hit = Hit(1, 1.0, small.chunk(small.CITED, "a", text, kind), Work(small.CITED))
    assert bool(found_units(hit)) is says


def test_code_is_shown_without_the_indentation_that_all_of_it_has():
    (made,) = found_units(Hit(1, 1.0, small.chunk(small.REPO, "a.py", "    entropy()\n      x()"), Work(small.REPO, "code")))
    assert (made.text, made.kind) == ("entropy()\n  x()", "imitate")


def test_a_hit_is_trusted_by_the_words_it_shares_or_by_its_similarity():
    def by(text, *signals):
        return trust("a.py", text=text, own=False, signals=signals)

    assert by("training loop") == 1.0
    assert by("training") == pytest.approx(0.2 + 0.8 * 0.5)
    assert by("nothing") == pytest.approx(0.2)
    assert by("nothing", Signal("dense", 1, 0.61)) == pytest.approx(0.6)
    assert by("nothing", Signal("dense", 1, 0.9)) == 1.0
    assert by("nothing", Signal("lexical", 1, 0.9)) == pytest.approx(0.2)
    assert by("training", Signal("dense", 1, 0.1)) == pytest.approx(0.6)


def test_words_of_a_question_are_worth_more_than_others():
    words = QuestionWords({"train": 2.0, "loop": 1.0, "adam": 4.0}, (frozenset({"train"}), frozenset({"loop"})))
    unit = PackUnit(Hit(1, 1.0, small.chunks()[0], Work(small.REPO)), "imitate", "", {0: 0.5, 1: 0.0}, frozenset({"train", "loop", "adam", "x"}))
    assert words.worth(unit) == {"train": pytest.approx(1.4), "loop": pytest.approx(0.2), "adam": pytest.approx(0.8)}
