"""A part of a page of a PDF as a picture, drawn in the sandbox."""

from __future__ import annotations

from base64 import b64decode

import pymupdf
import pytest

from indexer.parsers.pdf import crop
from indexer.sandbox.pool import Limits, Sandbox
from lineage.errors import ParseError
from lineage.records import WorkId

WORK = WorkId("arxiv:2401.00001")
BOX = (100.0, 200.0, 300.0, 260.0)


def pdf(rotation=0, pages=1):
    made = pymupdf.open()
    for _ in range(pages):
        page = made.new_page(width=400, height=600)
        page.insert_text((105, 230), "learning rate 3e-4")
        page.set_rotation(rotation)
    return made.tobytes()


def drawn(data, page=1, box=BOX):
    with Sandbox(1, Limits(wall=20.0)) as sandbox:
        return pymupdf.Pixmap(b64decode(sandbox.paper("indexer.parsers.pdf.crop", {crop.place(page, box): data}, WORK, "0" * 64).text))


def test_the_crop_is_as_wide_as_the_page_and_a_little_higher_than_the_box_which_is_drawn():
    picture = drawn(pdf())
    assert (picture.width, picture.height) == (1000, 350)
    orange = [(x, y) for x in range(picture.width) for y in range(picture.height) if picture.pixel(x, y)[0] > 180 and picture.pixel(x, y)[2] < 90]
    assert min(x for x, _ in orange) == pytest.approx(97 * 2.5, abs=4)
    assert max(y for _, y in orange) == pytest.approx((263 - 160) * 2.5, abs=4)


def test_a_page_that_is_turned_has_its_box_where_the_reader_sees_it():
    picture = drawn(pdf(rotation=90), box=(100.0, 50.0, 300.0, 90.0))
    assert picture.width == 1000
    inside = [picture.pixel(x, y) for x in range(picture.width) for y in range(picture.height)]
    assert any(red > 180 and blue < 90 for red, _, blue in inside)


@pytest.mark.parametrize(
    ("data", "page", "box"),
    [(pdf(), 2, BOX), (pdf(), 1, (900.0, 900.0, 950.0, 950.0)), (b"%PDF-1.7 nothing", 1, BOX), (pdf(), 1, (0.0, 0.0, 0.0, 0.0))],
    ids=["no such page", "off the page", "no PDF", "an empty box"],
)
def test_what_cannot_be_drawn_is_refused(data, page, box):
    with pytest.raises(ParseError):
        drawn(data, page, box)


def test_a_large_page_becomes_no_larger_picture():
    made = pymupdf.open()
    made.new_page(width=10_000, height=14_000)
    picture = drawn(made.tobytes(), box=(10.0, 10.0, 9_000.0, 13_000.0))
    assert (picture.width <= crop.WIDTH, picture.height <= crop.HEIGHT) == (True, True)
