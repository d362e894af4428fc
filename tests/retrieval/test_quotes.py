"""Pieces of evidence quoted as they stand: which, in which order, and what they are cut from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.records import Answer, Chunk, ChunkKind, Focus, Hit, Query, Work
from lineage.results import Sentence
from retrieval.answers import MOST, Words, fits, pieces_of, quoted, sentences_of_passage
from tests.fakes import small_lineage as small

ASKED = "which optimizer trains the encoder?"
SAID = "The optimizer that trains the encoder is AdamW."


def hit(text: str, kind: ChunkKind = "paper", score: float = 1.0, path: str = "main.tex", **more: object) -> Hit:
    target = bool(more.pop("own", False))
    focus = more.pop("focus", None)
    chunk = replace(small.chunk(small.REPO, path, text, kind), id=f"c_{abs(hash(text))}", header="", symbol="")
    made: Chunk = replace(chunk, **more)  # type: ignore[arg-type]
    return Hit(1, score, made, Work(small.REPO, "code"), focus=focus, from_target=target)  # type: ignore[arg-type]


class Plain:
    """An engine for which every word is worth the same, without vectors."""

    def worth(self, question: str) -> dict[str, float]:
        return {}

    def similarities(self, question: str, texts: list[str], *, fast: bool = True) -> list[float]:
        return [0.0] * len(texts)


def made(*hits: Hit, text: str = ASKED) -> tuple[Sentence, ...]:
    return quoted(Plain(), text, [Answer(Query(text), "small", "1", hits), Answer(Query(text), "small", "1", ())])  # type: ignore[arg-type]


def texts(*hits: Hit, text: str = ASKED) -> list[str]:
    return [one.text for one in made(*hits, text=text)]


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
    assert Words(question, {}).share(text) == pytest.approx(share)


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
    assert list(sentences_of_passage(hit(passage)))[:1] == sentences


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
    lines_shown = made(found)[0].evidence[0].focus
    assert lines_shown is not None
    assert lines_shown.start_line <= shown[0] + 1
    assert (lines_shown.start_line <= focus[0], lines_shown.end_line >= focus[1]) == (True, True)
    assert min(lines, 8) <= lines_shown.end_line - lines_shown.start_line + 1 <= max(9, focus[1] - focus[0] + 1)


@pytest.mark.parametrize("border", ["", "def other():", "    @wraps", "x" * 701])
def test_what_is_shown_around_a_line_ends_at_a_border(border):
    found = hit(f"before = 1\n{border}\noptimizer = encoder\n{border}\nafter = 1", "code", path="a.py", start_line=1, focus=Focus(3, 3))
    assert texts(found) == ["`a.py`:\n```\noptimizer = encoder\n```"]


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        ("How many claims does it have?", "It has 1,409 claims.", "Its claims are in Table 3."),
        ("Which learning rate is used?", "The rate is 1e-4.", "The rate is tuned [12]."),
        ("Which corpus is it trained on?", "It is trained on LibriSpeech.", "It is trained on a corpus."),
    ],
)
def test_numbers_and_names_that_are_asked_for_count(question, better, worse):
    assert fits(question, better) > fits(question, worse)
    assert fits("How is it trained?", better) == fits("How is it trained?", worse) == 0.0


def test_a_sentence_with_the_number_that_is_asked_for_goes_first():
    counted, other = "The set consists of 1,409 scientific claims.", "Claims of the set are written by experts for us."
    assert texts(hit(f"{other} {counted}"), text="How many claims does the set contain?")[0] == counted


def test_a_sentence_goes_on_with_the_next_that_refers_to_it():
    said, goes_on = "We add a learnable scalar after the embedding layer.", "We initialize it to the square root of the width."
    first, *_ = pieces_of(hit(f"{said} {goes_on} Tea is good."))
    assert first.told == f"{said} {goes_on}"


def test_a_row_of_a_table_is_quoted_with_its_heads():
    table = "Data | Rows\nAdult | 48,842\nMagic | 19,019"
    assert texts(hit(table, role="table"), text="How many rows does the Adult data have?")[0] == "Data | Rows\nAdult | 48,842"


def test_what_repeats_a_quotation_is_not_quoted_and_no_more_than_three_are():
    assert texts(hit(SAID), hit("So the optimizer that trains the encoder is AdamW, again.")) == [SAID]
    several = (hit(f"An optimizer trains the encoder {word} {word}er {word}est.") for word in ("green", "cold", "slow", "warm", "dark", "long"))
    assert len(texts(*several)) == MOST


def test_nothing_is_quoted_that_has_no_word_of_the_question():
    assert texts(hit("We like tea in the morning, and cake.")) == []


def test_what_a_reader_cannot_see_is_not_quoted():
    assert texts(hit(SAID.replace("AdamW", "Adam\u200bW\u202e"))) == [SAID]
