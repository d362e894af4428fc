"""What people read: one line where one is meant, nothing that makes a line of its own, the lines that answer marked."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from api.cli import audit, display, terminal
from lineage.records import Answer, Focus, Hit, LedgerRow, Query, Signal, Status
from lineage.results import Audit, AuditFinding, Sentence, WrittenAnswer
from tests.fakes import small_lineage as small

HOSTILE = "a\x1b]0;x\x07\nb\u2028c\u202e"
CODE = Hit(1, 0.8, small.chunks()[0], small.works()[2], (Signal("lexical", 1, 9.0), Signal("dense", 3, 0.5)), Focus(11, 12), small.reference())
SAID = Hit(2, 0.5, small.chunks()[6], small.works()[0], from_target=True)


@given(st.text(st.sampled_from("ab \n\t\x1b\u202e\u2028é学"), max_size=40), st.integers(2, 20))
@settings(max_examples=25, deadline=None)
def test_a_shortened_text_is_one_line_that_fits(text, width):
    made = display.shorten(text, width)
    assert len(made) <= width
    assert made == display.plain(made)
    assert not set(made) & set("\n\t\x1b\u202e\u2028")
    assert made == display.plain(text) if len(display.plain(text)) <= width else made.endswith("…")


def shown(hit, *notes):
    return terminal.plain(display.answer(Answer(Query("?"), "small", "000001", (hit,), notes))).split("\n")


def test_a_hit_says_where_whose_why_by_whom_and_marks_the_lines_that_answer():
    assert shown(CODE, "lexical\nonly") == [
        "small · generation 000001",
        "",
        "note: lexical only",
        "",
        "1. github.com/DequanWang/tent/tent.py#L9-L12@e9e926a6  (code · MIT)",
        "   why: arxiv:2401.00001, section 4 Method: “We build on Tent.”",
        "   found by: lexical 1, dense 3",
        "         9  def _init_weights(module):",
        "        10      if isinstance(module, nn.Linear):",
        "   │    11          trunc_normal_(module.weight, std=0.02)",
        "   │    12          nn.init.zeros_(module.bias)",
    ]


def test_around_a_focus_three_lines_above_and_fourteen_in_all_are_shown_and_the_rest_counted():
    chunk = replace(CODE.chunk, text="\n".join(f"line {n}" for n in range(100, 140)), start_line=100, end_line=139)
    lines = shown(replace(CODE, chunk=chunk, focus=Focus(110, 111)))[5:]
    assert lines[0] == "     … 7 lines above"
    assert [line[5:].split()[0] for line in lines[1:-1]] == [str(n) for n in range(107, 121)]
    assert [line.split()[1] for line in lines if "│" in line] == ["110", "111"]
    assert lines[-1] == "     … 19 more lines"
    whole = shown(replace(CODE, chunk=chunk, focus=None))[5:]
    assert whole[0].split()[0] == "100"
    assert not any("│" in line or "above" in line for line in whole)


def test_a_passage_has_no_numbers_and_an_unknown_or_long_licence_is_said_to_be_one():
    assert shown(SAID)[2:] == ["2. arXiv:2401.00001#3  (paper · license unknown · target's own)", "   found by: ", "     " + small.STATED]
    long = replace(CODE, work=replace(CODE.work, license="Permission is hereby granted to any person"))
    assert shown(long)[2].endswith("(code · custom license)")


def test_copies_are_named_three_at_most_and_strangers_make_no_lines():
    copies = tuple(f"repo:x/{n}#{HOSTILE}" for n in range(5))
    hit = replace(CODE, chunk=replace(CODE.chunk, copies=copies, path=HOSTILE, text="x = 1\r\x1b[2J", symbol=HOSTILE), focus=None)
    lines = shown(hit)
    assert lines[4].count("repo:x/") == 3
    assert len(lines) == 6
    assert all(c.isprintable() for line in lines for c in line)
    assert display.answer(Answer(Query("?"), "small", "1", ())).endswith(
        "\n\nnothing in this lineage answers that; try other words, or `lineage gaps`"
    )


def loss(subject, detail="", status=Status.PARSE_ERROR, kind="member"):
    return LedgerRow(kind, small.REPO, subject, "parse", status, detail)


def test_losses_of_one_kind_and_reason_stand_together():
    rows = [*(loss(f"a{n}.py", "no text") for n in range(5)), loss("b.py", "too deep"), loss("x", status=Status.TIMEOUT_FETCH, kind="reference")]
    assert display._losses(rows) == [
        "  failed or incomplete:",
        f"    5 members {Status.PARSE_ERROR}: a0.py, a1.py, a2.py and 2 more (no text)",
        f"    1 member {Status.PARSE_ERROR}: b.py (too deep)",
        f"    1 reference {Status.TIMEOUT_FETCH}: x",
    ]
    assert display._losses([]) == ["  failed        nothing"]
    assert display._losses([loss("a.py", "line 5: odd"), loss("b.py", "line 16: odd")])[1:] == [
        f"    2 members {Status.PARSE_ERROR}: a.py, b.py (line 5: odd)"
    ]
    assert display._losses([loss("a", chr(97 + n)) for n in range(15)])[-1] == "    and 3 more groups; `lineage status` lists everything"


def test_an_audit_hides_what_agrees_unless_all_is_asked_for():
    rows = (
        AuditFinding("method", "lr", "rate", "deviation", "0.1", "0.2", "a.py#L3", (CODE,), why="the target states it"),
        AuditFinding("method", "wd", "decay", "match", "0.1", "0.1", "a.py#L4", (CODE,), why="fine"),
        AuditFinding("experiment", "decoder", "Decoder", "match", "x", why="2 of 2"),
        AuditFinding("experiment", "seed", "seed", "missing", "7", scope="CIFAR-10"),
    )
    made = Audit("/a\nb", "small", "1", rows, 0.5, ("n1", "n2"))
    lines = audit.report_text(made).split("\n")
    assert lines[0] == "/a b against small: 50% of what could be judged agrees (2 agree, 1 deviation, 1 missing, 0 not judged)"
    assert lines[2:6] == [
        "details of the method (1 of 2 agree or cannot be judged; --all shows them):",
        "  differs  rate  a.py#L3",
        "           expected 0.1, found 0.2",
        "           the target states it",
    ]
    assert "           expected 7 for CIFAR-10" in lines
    assert lines[-3:] == ["", "n1", "n2"]
    everything = audit.report_text(made, everything=True)
    assert "details of the method:\n" in everything
    assert "  ok       Decoder\n" in everything


def test_an_answer_numbers_its_evidence_once_and_cites_it_in_order():
    said = (Sentence("Two\x1b.", (SAID, CODE)), Sentence("One.", (SAID,)))
    lines = terminal.plain(display.written(WrittenAnswer("?", "small", "1", said, (), (CODE,), ("n",)))).split("\n")
    assert [line for line in lines if line][:4] == ["small · generation 1", "note: n", "Two. [1, 2]", "One. [1]"]
    assert [line[:3] for line in lines if line.startswith("[")] == ["[1]", "[2]"]
    quoted = terminal.plain(display.written(WrittenAnswer("?", "small", "1", (), said))).split("\n")
    assert "quoted, not claimed: these passages come nearest" in quoted
    assert "nothing in this lineage supports an answer" in display.written(WrittenAnswer("?", "small", "1", ()))
