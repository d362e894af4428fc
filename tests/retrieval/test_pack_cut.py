"""A long function in a short room: its statements stay or are counted, and every line can be found again."""

from __future__ import annotations

import re
import textwrap

import pytest

from retrieval.pack.cut import cut, statements

TRAIN = textwrap.dedent('''
    @torch.enable_grad()
    def train(model, data, steps=10):
        """Train a model."""
        # counts what was seen

        seen = 0
        logger.info("the learning rate and the optimizer and the loss are as the paper says")
        optimizer = AdamW(model.parameters(), lr=1e-4)
        for step in range(steps):
            batch = next(data)
            if batch.empty: continue
            try:
                loss = model(
                    batch,
                    step,
                )
            except ValueError:
                print(step)
                raise
            else:
                loss.backward()
                optimizer.step()
            if step % 100 == 0:
                save(model)
            elif step == 7:
                seven()
            else:
                match step:
                    case 1:
                        one()
                        first()
                    case _:
                        other()
                        rest()
        with open("a") as file:
            def inner(a,
                      b):
                return a + b
            file.write("done")
        return model
    ''').strip()
ASKED = {"loss": 3.0, "backward": 3.0, "optimizer": 3.0, "adam": 2.0}
MARK = re.compile(r"( *)# … (\d+) lines \(L(\d+)-L(\d+)\)\Z")


def count(text):
    return len(text.split())


def whole(shown, source, first):
    """What was cut with every mark replaced by the lines that it names."""
    lines, made = source.split("\n"), []
    for line in shown.split("\n"):
        mark = MARK.match(line)
        if mark:
            assert int(mark[4]) - int(mark[3]) + 1 == int(mark[2])
        made += lines[int(mark[3]) - first : int(mark[4]) - first + 1] if mark else [line]
    return "\n".join(made)


def test_what_answers_stays_with_the_heads_that_it_stands_in():
    shown = cut(TRAIN, 101, ASKED, count, 70)
    assert "def train(model, data, steps=10):" in shown
    assert "    for step in range(steps):\n" in shown
    assert "        else:\n            loss.backward()\n            optimizer.step()\n" in shown
    assert "seven()" not in shown
    assert MARK.search(shown.split("\n")[-1])


@pytest.mark.parametrize("room", range(30, 130, 7))
def test_the_room_holds_and_every_mark_names_the_lines_that_are_gone(room):
    shown = cut(TRAIN, 101, ASKED, count, room)
    assert count(shown) <= room
    if shown:
        assert whole(shown, TRAIN, 101) == TRAIN


def test_every_line_but_blank_ones_is_a_statements_or_a_head():
    lines = TRAIN.split("\n")
    held = {line for one in statements(lines) for line in (*one.lines, *one.heads)}
    assert [lines[at] for at in range(len(lines)) if at not in held and lines[at].strip()] == []


def test_what_is_told_to_a_log_is_not_what_is_done():
    said = dict(zip(TRAIN.split("\n"), range(99), strict=False))
    at = next(number for line, number in said.items() if "logger" in line)
    assert next(one for one in statements(TRAIN.split("\n")) if at in one.lines).said == frozenset()


def test_what_cannot_be_cut_or_has_no_room_is_empty():
    assert cut("int main() { return 0; }\n" * 9, 1, ASKED, count, 20) == ""
    assert cut(TRAIN, 101, ASKED, count, 5) == ""


def test_a_source_of_a_thousand_levels_or_of_other_ends_of_lines_is_left_alone():
    assert statements(["x = " + "(" * 5000]) == []
    assert statements(["if a:", "    b", *["elif a:", "    b"] * 2000]) == []
    assert statements(["x = 1\ry = 2"]) == []


def test_others_escapes_warn_nobody(recwarn):
    assert statements([r'x = "\d"'])
    assert not recwarn.list
