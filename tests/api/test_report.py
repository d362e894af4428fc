"""The report: what it holds, that it is one file that asks for nothing and runs nothing, and that strangers' words stay text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from api.wire.encode import view
from api.wire.insight import ConflictView, GapsView
from api.wire.markup import LONGEST, Paragraph, Table, Text, html, markdown
from lineage.records import Work
from tests.demo import NAME

EVIL = "\x1b[31m\u202e</title></style><script>alert(1)</script><img src=https://evil.example/x onerror=alert(2)>|[x](javascript:alert(3))`\n# h"


@pytest.fixture(scope="module")
def report(built):
    """The demonstration's, with a contradiction out of two of its own values."""
    made = built.service.report(NAME)
    sides = [held for part in made.parts for gap in part.decisions for offer in gap.suggestions for held in offer.held][:2]
    return replace(made, conflicts=(ConflictView("lr", "Learning rate", "paper-code", 0.9, "they differ", "x", tuple(sides)),))


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, page):
        super().__init__()
        self.tags = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def test_contradictions_come_first_then_decisions_by_part_with_answers_and_lines(report):
    page, text = report.text("html"), report.text("markdown")
    titles = ["Contradictions", "Open decisions", "Ancestors by part", "Licenses", "What was read"]
    for written in (page, text):
        places = [written.index(title) for title in titles]
        assert places == sorted(places)
    gap = next(gap for part in report.parts for gap in part.decisions if gap.suggestions and gap.suggestions[0].held)
    assert gap.detail.title in page
    assert gap.suggestions[0].held[0].citation in page
    assert {part.part for part in report.parts} >= {"model", "training"}
    assert any(part.ancestors for part in report.parts)
    assert re.search(r"\| reference \| \d+ \| \d+", text)


def test_every_open_decision_of_the_report_of_gaps_is_there_once(report, built):
    gaps = view(built.service.gaps(lineage=NAME), GapsView)
    named = [gap.detail.name for part in report.parts for gap in part.decisions]
    wanted = [g.detail.name for g in gaps.gaps if g.state != "SPECIFIED" and not g.detail.name.startswith("setting:")]
    assert sorted(named) == sorted(wanted)


def test_the_page_loads_and_runs_nothing(report):
    page = report.text("html")
    tags = Tags(page).tags
    assert {tag for tag, _ in tags}.isdisjoint({"script", "img", "link", "iframe", "object", "embed", "form", "base"})
    assert not [name for _, attrs in tags for name in attrs if name.startswith("on") or name in {"src", "style"}]
    assert all(attrs["href"].startswith("https://") for tag, attrs in tags if tag == "a")
    assert "default-src 'none'" in page
    assert not re.search(r"url\(|@import", page)


def test_what_strangers_wrote_stays_text(report):
    part = next(part for part in report.parts if part.decisions and part.decisions[0].suggestions)
    gap = part.decisions[0]
    offer = replace(gap.suggestions[0], value=EVIL, reason=EVIL)
    hostile = replace(
        report,
        target=Work(report.target.id, title=EVIL, authors=(EVIL,), venue=EVIL),
        parts=(replace(part, decisions=(replace(gap, why=EVIL, suggestions=(offer,)),), ancestors=()),),
        notes=(EVIL,),
        licenses=tuple(replace(row, title=EVIL, condition=EVIL) for row in report.licenses),
    )
    tags = [tag for tag, _ in Tags(hostile.text("html")).tags]
    assert not {"script", "img"} & set(tags)
    assert tags.count("style") == tags.count("title") == 1
    text = hostile.text("markdown")
    assert not re.search("[\x1b\u202e]", text + hostile.text("html"))
    assert "<script" not in text.replace("\\<script", "")
    assert "](javascript" not in text.replace("\\](javascript", "")
    assert "\n# h" not in text


def test_a_single_line_is_quoted_of_what_may_not_be_passed_on(report):
    from api.wire.report import quoted

    hit = next(held.evidence for part in report.parts for gap in part.decisions for offer in gap.suggestions for held in offer.held)
    several = replace(hit, text="a\nb\nc", focus=replace(hit.focus, start_line=1, end_line=3), source=replace(hit.source, start_line=1))
    assert quoted(replace(several, license="MIT")) == "a\nb\nc"
    assert quoted(replace(several, license="custom")) == quoted(replace(several, license=None)) == "a"


def test_a_cell_stays_a_cell():
    table = Table(("a|b",), ((("x" * 999),), ((Text("one\n|two`", "lines"), Text("t", url="https://x/a b)>|<")),)))
    lines = markdown([table, Paragraph("z")]).splitlines()
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in lines[:4]] == [2, 2, 2, 2]
    assert len(lines[2]) < LONGEST + 9
    assert "javascript" not in html([Paragraph((Text("x", url="javascript:1"),))])
