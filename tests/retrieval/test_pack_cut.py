"""A long function in a short room: its statements stay or are counted, and every line can be found again."""

from __future__ import annotations

import re
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.context.excerpt import cut, statements

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


def test_what_settles_a_decision_stays_before_what_only_says_words_that_were_asked():
    at = 101 + next(number for number, line in enumerate(TRAIN.split("\n")) if "seven()" in line)
    assert "        elif step == 7:\n            seven()\n" in cut(TRAIN, 101, ASKED, count, 70, {at})


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
    assert next(one for one in statements(TRAIN.split("\n")) if at in one.lines).names == frozenset()


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


LINES = st.lists(
    st.sampled_from(["x = loss", "    y = 1", "if a:", "    if b:", "        adam()", "else:", "", "# c", "for i in j:", "    z()", "w()"]),
    max_size=24,
)


@given(LINES, st.integers(0, 60))
@settings(max_examples=25, deadline=None)
def test_of_any_program_what_is_left_fits_and_nothing_is_lost_without_a_mark(lines, room):
    source = "\n".join(lines)
    shown = cut(source, 41, ASKED, count, room)
    assert count(shown) <= room or not shown
    if shown:
        assert whole(shown, source, 41) == source


def held_by(*lines):
    return [(one.lines, one.heads, one.loops) for one in statements(lines)]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["a()", "b()"], [((0,), (), False), ((1,), (), False)]),
        (["# why", "a()", "", "# for", "b()"], [((0, 1), (), False), ((3, 4), (), False)]),
        (["if a:", "    b()", "else:", "    c()"], [((1,), (0,), False), ((3,), (0, 2), False)]),
        (["while a:", "    b()", "c()"], [((1,), (0,), True), ((2,), (), False)]),
        (["for a in b: c()"], [((0,), (), False)]),
        (["class A:", "    @f", "    def g(self,", "          x):", "        return x"], [((4,), (0, 1, 2, 3), False)]),
        (["try:", "    a()", "except E:", "    b()", "finally:", "    c()"], [((1,), (0,), False), ((3,), (0, 2), False), ((5,), (0, 4), False)]),
        (["f(", "  a,", ")"], [((0, 1, 2), (), False)]),
    ],
)
def test_a_statement_stands_in_the_heads_of_its_blocks(lines, found):
    assert held_by(*lines) == found


def test_a_single_line_is_shown_rather_than_counted():
    lines = ["def f():", "    skip()", *(f"    loss{n} = adam{n}" for n in range(6))]
    shown = cut("\n".join(lines), 1, {f"adam{n}": 3.0 for n in range(6)}, count, 24)
    assert shown.split("\n")[1] == "    skip()"


def test_what_is_done_in_a_loop_outweighs_the_same_beside_it():
    calls = [f"    beside{n}(adam, 1, 2, 3)" for n in range(4)] + ["    for a in b:"] + [f"        inside{n}(adam, 1, 2, 3)" for n in range(4)]
    shown = cut("\n".join(["def f():", *calls]), 1, {"adam": 1.0}, count, 28)
    assert all(f"inside{n}" in shown for n in range(4))
    assert "beside" not in shown


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["    a = 1", "b = 2"], [((0,), ()), ((1,), ())]),
        (["        a()", "    b()", "c()"], [((0,), ()), ((1,), ()), ((2,), ())]),
        (["    a()", "else:", "    b()", "c()"], [((0,), ()), ((2,), (1,)), ((3,), ())]),
        (["        a()", "    for x in y:", "        b()"], [((0,), ()), ((2,), (1,))]),
        (["\ta()", "b()"], [((0,), ()), ((1,), ())]),
        (["    a()", "except E:", "    b()"], []),
    ],
)
def test_a_part_of_a_function_may_begin_within_its_blocks(lines, found):
    assert [(one.lines, one.heads) for one in statements(lines)] == found


def test_the_second_half_of_a_long_function_is_cut_too():
    lines = TRAIN.split("\n")
    half = lines[next(n for n, line in enumerate(lines) if "batch.empty" in line) :]
    made = cut("\n".join(half), 50, {"optimizer": 1.0, "backward": 1.0, "loss": 1.0}, lambda text: len(text.split()), 40)
    assert "optimizer.step()" in made
    assert "# … " in made
