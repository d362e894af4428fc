"""The ladder of a paper's text: e-print, then PDF; and what is said of each rung."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.generation import open_generation
from lineage.records import Status
from tests.demo import Demo
from tests.upstream import Upstream

PATCHMASK = "arxiv:9911.00102"
BROKEN = "\\documentclass{article}\n\\begin{document}\n\\end{document}\n"


@pytest.fixture
def broken(world, tmp_path):
    """The demonstration's world, where PatchMask's e-print holds no text; give what is there besides: `pdf`."""

    def made(**also):
        source = tmp_path / "broken.tex"
        source.write_text(BROKEN)
        paper = world.by_arxiv("9911.00102")
        return replace(world, papers={**world.papers, paper.key: replace(paper, source=str(source), **also)})

    return made


def text_of(tmp_path, world):
    with Upstream(world) as running:
        demo = Demo(tmp_path / "home", running.url)
        made = demo.build(PATCHMASK, papers=0, repos=0)
        asked = [request.path.split("/")[1] for request in running.requests if "9911.00102" in request.path and "arxiv" in request.host]
        running.forget()
        again = demo.build(PATCHMASK, papers=0, repos=0)
        assert (running.requests, again.content_hash) == ([], made.content_hash)
    with open_generation(tmp_path / "home", made.lineage) as generation:
        parsers = {document.parser.split("@")[0] for document in generation.catalog.documents(PATCHMASK)}
        row = next(row for row in generation.catalog.ledger("source") if row.subject == "text of the target")
    return parsers, row, asked


def test_an_eprint_that_can_be_read_is_all_that_is_asked_for(tmp_path, world):
    parsers, row, asked = text_of(tmp_path, world)
    assert (parsers, row.status, asked) == ({"latex"}, Status.OK, ["e-print"])


def test_where_the_eprint_cannot_be_read_the_pdf_is_and_the_row_says_so(tmp_path, broken):
    parsers, row, asked = text_of(tmp_path, broken(pdf="papers/9909.00104.pdf"))
    assert (parsers, row.status, asked) == ({"pdf"}, Status.PDF_ONLY, ["e-print", "pdf"])
    assert row.detail.startswith("e-print: ")
