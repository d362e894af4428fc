"""Sentences taken from evidence as it stands: which, in which order, and how much of a question they must speak of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.hyperparameters.ontology import ontology
from lineage.records import Answer, Chunk, ChunkKind, Fact, Focus, Hit, Query, Work
from lineage.results import FactOccurrence, Sentence
from retrieval.answers.extract import MOST, PARTS, Candidate, candidates, covered, extracted, is_supported, questions
from retrieval.answers.pieces import fact, pieces_of, told
from tests.fakes import small_lineage as small

ASKED = "which optimizer trains the encoder?"
SAID = "The optimizer that trains the encoder is AdamW."


def hit(text: str, kind: ChunkKind = "paper", score: float = 1.0, path: str = "main.tex", **more: object) -> Hit:
    target = bool(more.pop("own", False))
    focus = more.pop("focus", None)
    chunk = replace(small.chunk(small.REPO, path, text, kind), id=f"c_{abs(hash(text))}", header="", symbol="")
    made: Chunk = replace(chunk, **more)  # type: ignore[arg-type]
    return Hit(1, score, made, Work(small.REPO, "code"), focus=focus, from_target=target)  # type: ignore[arg-type]


def answer(*hits: Hit, text: str = ASKED) -> Answer:
    return Answer(Query(text), "small", "1", hits)


class Plain:
    """An engine for which every word is worth the same, without vectors."""

    ontology = ontology()

    def worth(self, question: str) -> dict[str, float]:
        return {}

    def similarities(self, question: str, texts: list[str], *, fast: bool = True) -> list[float]:
        return [0.0] * len(texts)


def made(*answers: Answer, held: tuple[FactOccurrence, ...] = ()) -> list[Sentence]:
    return extracted([candidates(Plain(), [one], held) for one in answers])  # type: ignore[arg-type]


def texts(*hits: Hit, text: str = ASKED, held: tuple[FactOccurrence, ...] = ()) -> list[str]:
    return [one.text for one in made(answer(*hits, text=text), held=held)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("how is it trained?", []),
        ("how is it trained and which loss is used?", ["how is it trained", "which loss is used"]),
        ("which loss and optimizer are used?", []),
        ("which loss? Which optimizer?", ["which loss", "Which optimizer"]),
        ("loss; loss; loss", []),
        ("?! ; ...", []),
        ("", []),
    ],
)
def test_a_question_is_parted_where_another_one_begins(text, parts):
    assert questions(text) == [text, *parts]


@given(st.text(st.sampled_from("ab ?;.,\nand which"), max_size=80))
@settings(max_examples=25, deadline=None)
def test_a_question_comes_first_and_its_parts_are_few_and_differ(text):
    first, *parts = questions(text)
    assert first == text
    assert len(parts) != 1
    assert len(parts) <= PARTS
    assert len(set(parts)) == len(parts)


@pytest.mark.parametrize(
    ("question", "text", "share"),
    [
        (ASKED, SAID, 1.0),
        (ASKED, "the encoder", 1 / 3),
        ("how is it initialised?", "init_weights", 1.0),
        (ASKED, "", 0.0),
        ("", "anything", 0.0),
    ],
)
def test_how_much_of_a_question_a_text_speaks_of(question, text, share):
    assert covered(question, text) == pytest.approx(share)


def test_two_fifths_of_the_words_of_one_hit_among_the_first_eight_support_an_answer():
    none = hit("nothing of it")
    assert is_supported(answer(*[none] * 7, hit("optimizer, encoder")))
    assert not is_supported(answer(*[none] * 8, hit("optimizer, encoder")))
    assert not is_supported(answer(hit("encoder"), hit("optimizer")))
    assert is_supported(answer(hit("x", symbol="Encoder", header="optimizer")))
    assert is_supported(answer(hit("x", section=("3 Optimizer of the encoder",))))
    assert not is_supported(answer())


@pytest.mark.parametrize(
    ("passage", "sentences"),
    [
        (f"{SAID} We like tea.", [SAID]),
        (f"3.2 Optimizer of the encoder\n{SAID}", [SAID]),
        (f"# Optimizer of the encoder\n\n{SAID}", [SAID]),
        (f"{SAID}\n\n```sh\ntrain the encoder with this optimizer now\n```", [SAID]),
        ("Steps:\n- The optimizer that trains the encoder is AdamW.\n- Its rate is one.", [SAID]),
        ("Encoder, optimizer.", []),
        ("Optimizer trains encoder.", []),
        ("Optimizer trains encoder daily.", ["Optimizer trains encoder daily."]),
        (SAID.replace("AdamW", "A" * 700), []),
        ("The optimizer\nthat trains\nthe encoder is AdamW.", [SAID]),
    ],
)
def test_sentences_are_whole_and_no_headings_code_or_scraps(passage, sentences):
    assert texts(hit(passage))[:1] == sentences


def test_lines_of_code_are_those_around_the_focus_and_at_most_eight_without_blank_ones():
    code = "\n".join(["import x", "", "optimizer = f(encoder)", "", "a = 1", "b = 2", "train(c)", "d = 3"])
    found = hit(code, "code", path="a`b.py", focus=Focus(2, 8))
    assert texts(found) == ["`a'b.py`:\n```\nimport x\noptimizer = f(encoder)\na = 1\nb = 2\ntrain(c)\nd = 3\n```"]
    assert texts(replace(found, focus=None)) == []
    assert texts(replace(found, focus=Focus(6, 6))) == ["`a'b.py`:\n```\na = 1\nb = 2\ntrain(c)\nd = 3\n```"]
    assert texts(replace(found, chunk=replace(found.chunk, symbol="fit"), focus=Focus(5, 8)))[0].startswith("`fit`:\n```\na = 1\n")


def test_code_cannot_end_its_fence():
    found = hit('optimizer = """\n```\nencoder"""', "code", path="a.py", start_line=1, focus=Focus(1, 3))
    assert texts(found)[0].count("```") == 2


@pytest.mark.parametrize(
    ("lines", "focus", "shown"),
    [
        (12, (6, 6), (2, 9)),
        (12, (1, 1), (1, 8)),
        (12, (12, 12), (5, 12)),
        (12, (1, 12), (1, 12)),
        (3, (2, 2), (1, 3)),
    ],
)
def test_a_line_of_code_is_shown_with_what_stands_around_it_and_cited_so(lines, focus, shown):
    found = hit("\n".join(f"optimizer = encoder[{n}]" for n in range(1, lines + 1)), "code", path="a.py", start_line=1, focus=Focus(*focus))
    quoted = made(answer(found))[0].evidence[0].focus
    assert quoted is not None
    assert quoted.start_line <= shown[0] + 1
    assert (quoted.start_line <= focus[0], quoted.end_line >= focus[1]) == (True, True)
    assert min(lines, 8) <= quoted.end_line - quoted.start_line + 1 <= max(9, focus[1] - focus[0] + 1)


@pytest.mark.parametrize("border", ["", "def other():", "    @wraps", "x" * 701])
def test_what_is_shown_around_a_line_ends_at_a_border(border):
    found = hit(f"before = 1\n{border}\noptimizer = encoder\n{border}\nafter = 1", "code", path="a.py", start_line=1, focus=Focus(3, 3))
    assert texts(found) == ["`a.py`:\n```\noptimizer = encoder\n```"]


def test_a_sentence_that_states_a_number_beside_what_is_counted_goes_first_and_one_without_is_not_said():
    counted, other = "The set consists of 1,409 scientific claims.", "Claims of the set are written by experts for us."
    assert texts(hit(f"{other} {counted}"), text="How many claims does the set contain?")[0] == counted


def test_a_count_that_names_what_is_counted_otherwise_may_still_answer():
    said = "The average of the language models is over 15 zero-shot tasks."
    assert texts(hit(said, own=True), text="How many evaluations is the average of the language models over?") == [said]


def test_a_sentence_goes_on_with_the_next_that_refers_to_it():
    said, goes_on = "We add a learnable scalar after the embedding layer.", "We initialize it to the square root of the width."
    first, *_ = pieces_of(hit(f"{said} {goes_on} Tea is good."))
    assert told(first) == f"{said} {goes_on}"


def test_a_row_of_a_table_is_said_with_its_heads():
    table = "Data | Rows\nAdult | 48,842\nMagic | 19,019"
    assert texts(hit(table, role="table"), text="How many rows does the Adult data have?")[0] == "Data | Rows\nAdult | 48,842"


def test_what_is_far_behind_the_best_and_what_repeats_it_is_not_said():
    assert texts(hit(SAID, score=1.0), hit("The encoder trains with another optimizer of ours.", score=0.3)) == [SAID]
    assert texts(hit(SAID), hit("So the optimizer that trains the encoder is AdamW, again.")) == [SAID]


def test_no_more_than_three_sentences_are_said_and_none_unless_one_is_sure():
    several = [f"An optimizer trains the encoder {word} {word}er {word}est." for word in ("green", "cold", "slow", "warm", "dark", "long")]
    ranked = [Candidate(next(pieces_of(hit(text))), 0.16, 0.9) for text in several]
    assert len(extracted([ranked])) == MOST
    assert extracted([[replace(candidate, sure=0.3) for candidate in ranked]]) == []


def test_nothing_is_said_where_no_piece_is_likely_enough():
    assert texts(hit("We like tea in the morning, and cake.")) == []


def test_each_part_of_a_question_is_answered_in_turn():
    one, two = (
        answer(hit(SAID)),
        answer(hit("The loss of the masked tokens is CrossEntropyLoss.", own=True), text="which loss of masked tokens is it?"),
    )
    both = made(one, two)
    assert [sentence.text for sentence in both] == [SAID, "The loss of the masked tokens is CrossEntropyLoss."]
    assert [sentence.evidence[0] for sentence in both] == [one.hits[0], two.hits[0]]


@pytest.mark.parametrize(
    ("kind", "text", "line", "words"),
    [
        ("config", "lr: 1e-3\nwd: 0.1", 2, "wd: 0.1"),
        ("config", "lr: 1e-3\n  wd: 0.1 ", 2, "wd: 0.1"),
        ("config", "lr: 1e-3\nwd: 0.1", 3, "said so"),
        ("config", "lr: 1e-3\nwd: 0.1", 0, "said so"),
        ("paper", "We tune it. It was said so by all of us in the end.", 1, "It was said so by all of us in the end."),
        ("paper", "We tune it.", 1, "said so"),
    ],
)
def test_a_fact_is_told_with_the_line_or_the_sentence_that_holds_it(kind, text, line, words):
    held = FactOccurrence(Fact("weight_decay", "0.1", "x", small.REPO, "c", "prose", line, "wd", "said  so"), hit(text, kind))
    assert [fact(held, ontology()).text] == [f"{ontology().title('weight_decay')} = 0.1 x (prose: {words})"]


def test_what_a_reader_cannot_see_is_not_quoted():
    assert texts(hit(SAID.replace("AdamW", "Adam\u200bW\u202e"))) == [SAID]
