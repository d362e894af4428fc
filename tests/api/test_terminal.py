"""A terminal gets colour and lines that fit; a pipe gets the bare text."""

from __future__ import annotations

import io

import pytest

from api.cli import exit_codes, terminal
from api.cli.terminal import bad, bold, cut, dim, rendered


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


LONG = "  one two three four five six seven eight nine ten eleven"


def test_a_pipe_gets_the_text_without_marks_and_unwrapped():
    assert rendered(f"{bold('a')} {cut(LONG)}", io.StringIO()) == f"a {LONG}"


def test_lines_are_wrapped_at_words_and_go_on_further_in():
    assert rendered(LONG, Screen()).split("\n") == ["  one two three four five six seven", "      eight nine ten eleven"]


def test_a_word_that_fits_on_no_line_stays_where_it_is():
    assert rendered("  [1] " + "x" * 60, Screen()) == "  [1] " + "x" * 60


def test_code_is_cut_and_not_wrapped():
    row = rendered(cut("x = [" + "1, " * 40 + "]"), Screen())
    assert len(row) == 40
    assert row.endswith("…")


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_is_left_out_where_it_is_not_wanted(monkeypatch, name, value):
    assert rendered(bad("no"), Screen()) == "\x1b[31mno\x1b[0m"
    monkeypatch.setenv(name, value)
    assert rendered(bad("no"), Screen()) == "no"


def test_marks_take_no_room_and_wide_characters_take_two():
    assert terminal.width(bold("ab")) == 2
    assert terminal.width("中文") == 4
    row = rendered(cut("中" * 40), Screen())
    assert terminal.width(row) <= 40


def test_a_cut_line_ends_its_colour():
    assert rendered(cut(dim("x" * 80)), Screen()).endswith("…\x1b[0m")


@pytest.mark.parametrize("columns", ["1", "20", "0", "x"])
def test_a_very_narrow_terminal_still_shows_every_word(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert rendered(LONG, Screen()).split() == LONG.split()


def test_what_a_stranger_writes_cannot_steer_the_terminal(monkeypatch):
    screen = Screen()
    monkeypatch.setattr("sys.stdout", screen)
    exit_codes.show("a\x1b[2Jb\x07")
    assert screen.getvalue() == "a [2Jb \n"


def test_what_is_said_verbatim_is_never_wrapped(monkeypatch):
    screen = Screen()
    monkeypatch.setattr("sys.stdout", screen)
    exit_codes.say(LONG)
    assert screen.getvalue() == LONG + "\n"
