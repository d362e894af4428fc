"""The page in a real browser: it draws, asks for nothing, complains of nothing, and works by keyboard. Skips without Chromium."""

from __future__ import annotations

import pytest

from lineage.graph.exports import export
from tests.lineage.drawing_browser import CHROMIUM, Browser
from tests.lineage.drawing_samples import EVIL, hostile, large, small

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    paths = {}
    for name, graph in (("small", small()), ("hostile", hostile()), ("large", large())):
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(export(graph, "html"), encoding="utf-8")
    return paths


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def opened(browser, pages):
    def open_page(name):
        browser.requests.clear()
        browser.complaints.clear()
        browser.open(pages[name])
        return browser

    return open_page


@pytest.mark.parametrize(("name", "marks"), [("small", 5), ("hostile", 3), ("large", 300)])
def test_the_page_draws_every_work_asks_for_nothing_and_complains_of_nothing(opened, pages, name, marks):
    page = opened(name)
    assert page.run("document.querySelectorAll('#picture .node').length") == marks
    assert page.complaints == []
    assert [r for r in page.requests if r != pages[name].as_uri() and not r.startswith("data:image/svg+xml")] == []


OVERLAPS = """(() => {
  const boxes = [...document.querySelectorAll('.node text:not([hidden]), .over text')].map((t) => t.getBoundingClientRect());
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
  return boxes.filter((a, i) => boxes.some((b, j) => j > i && meet(a, b))).length;
})()"""
LABELLED = """(() => {
  const inside = (b) => b.left > 250 && b.right < 900 && b.top > 160 && b.bottom < 800;
  const all = [...document.querySelectorAll('.node:has(text)')].filter((n) => inside(n.querySelector('.mark').getBoundingClientRect()));
  return all.filter((n) => !n.querySelector('text').hasAttribute('hidden')).length / all.length;
})()"""


@pytest.mark.parametrize("name", ["small", "large"])
def test_labels_never_cover_one_another_at_any_zoom(opened, name):
    page = opened(name)
    for _ in range(5):
        assert page.run(OVERLAPS) == 0
        page.run("document.getElementById('zoom-in').click()")
        page.settle()


def test_more_labels_are_shown_the_nearer_one_looks(opened):
    page = opened("large")
    far = page.run(LABELLED)
    page.run("for (let i = 0; i < 7; i++) document.getElementById('zoom-in').click()")
    page.settle()
    assert far < 0.6 < 0.95 < page.run(LABELLED)


def test_the_keyboard_walks_chooses_and_comes_back(opened):
    page = opened("small")
    page.run("document.querySelector('.node').focus()")
    page.press("Tab", 9)
    assert page.run("document.activeElement.getAttribute('aria-label')").startswith("PatchMask: Learning")
    page.press("Enter", 13)
    assert page.run("document.activeElement.id") == "panel"
    assert "Our work builds directly on PatchMask." in page.run("document.getElementById('panel').textContent")
    page.press("Escape", 27)
    assert page.run("document.activeElement.getAttribute('aria-label')").startswith("PatchMask: Learning")
    page.press("ArrowRight", 39)
    assert page.run("document.activeElement.getAttribute('aria-label')").startswith("TinyMask")


def test_pointing_and_clicking_shows_the_evidence_with_its_links(opened):
    page = opened("small")
    x, y, width = page.run("(({x, y, width}) => [x, y, width])(document.querySelectorAll('.node .mark')[1].getBoundingClientRect())")
    page.click(x + width / 2, y + width / 2)
    text = page.run("document.getElementById('panel').textContent")
    assert "PatchMask: Learning by Predicting What the Neighbours Hide" in text
    assert "Rosa Lindqvist, Paul Imani" in text
    assert "settings followed · section 3 Method › 3.2 Masking" in text
    assert "cited 8 times" in text
    assert "official · commit e9e926a668 · Apache-2.0" in text
    links = page.run("[...document.querySelectorAll('#panel a')].map((a) => [a.href, a.rel])")
    assert ["https://arxiv.org/abs/9911.00102", "noopener noreferrer"] in links
    assert ["https://github.com/northlake-vision/patchmask/tree/e9e926a668d85244c66a6d5c006efbd2b82e83e8", "noopener noreferrer"] in links


def test_hostile_texts_are_shown_as_text_and_run_nothing(opened):
    page = opened("hostile")
    page.run("window.alert = () => { window.attacked = true; }")
    page.run("document.querySelectorAll('.node').forEach((n) => n.dispatchEvent(new MouseEvent('click', {bubbles: true})))")
    page.run("document.getElementById('show-table').click()")
    page.settle()
    assert page.run("window.attacked === undefined && document.querySelectorAll('img, body script:not(#data)').length") == 1
    assert EVIL[:40] in page.run("document.getElementById('panel').textContent")
    assert page.complaints == []


def test_roles_are_filtered_and_words_are_found(opened):
    page = opened("large")
    shown = "[...document.querySelectorAll('.node')].filter((n) => getComputedStyle(n).display !== 'none').length"
    page.run("[...document.querySelectorAll('#filters button')].find((b) => b.textContent.startsWith('background')).click()")
    page.settle()
    assert page.run(shown) < 200
    page.run("(() => { const s = document.getElementById('search'); s.value = 'sparse kernel'; s.dispatchEvent(new Event('input')); })()")
    page.settle()
    found, _, among, what = page.run("document.getElementById('found').textContent").split()
    assert (0 < int(found) < int(among) < 200, what) == (True, "match")
    assert page.run("document.querySelectorAll('.node.hit').length") > 0


def test_a_search_brings_what_it_finds_into_view_and_clearing_it_brings_back_the_whole(opened):
    page = opened("large")
    seen = (
        "(() => { const p = document.getElementById('picture').getBoundingClientRect(); return [...document.querySelectorAll('.node.hit .mark')]"
        ".map((m) => m.getBoundingClientRect()).every((b) => b.left >= p.left && b.right <= p.right && b.top >= p.top && b.bottom <= p.bottom); })()"
    )
    apart = "(([a, b]) => b.left - a.left)([...document.querySelectorAll('.node .mark')].map((m) => m.getBoundingClientRect()))"
    whole = page.run(apart)
    for _ in range(6):
        page.run("document.getElementById('zoom-in').click()")
    search = "(() => {{ const s = document.getElementById('search'); s.value = '{}'; s.dispatchEvent(new Event('input')); }})()"
    page.run(search.format("sparse kernel"))
    page.until(f"document.querySelectorAll('.node.hit').length > 1 && {seen}")
    page.run(search.format(""))
    page.until(f"Math.abs({apart} - {whole}) < 1")
    assert page.complaints == []


def test_the_button_for_dark_changes_the_ground_and_back_without_a_complaint(opened):
    page = opened("small")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.run(ground) == "rgb(255, 255, 255)"
    for expected, pressed in (("rgb(18, 22, 27)", "true"), ("rgb(255, 255, 255)", "false")):
        page.run("document.getElementById('scheme').click()")
        assert (page.run(ground), page.run("document.getElementById('scheme').getAttribute('aria-pressed')")) == (expected, pressed)
    assert page.complaints == []


def test_the_page_follows_the_system_until_the_reader_chooses(tmp_path, pages):
    with Browser(tmp_path, scheme="dark") as page:
        page.open(pages["small"])
        assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 27)"
        assert page.run("document.getElementById('scheme').getAttribute('aria-pressed')") == "true"


def test_the_table_says_the_same_and_sorts(opened):
    page = opened("small")
    page.run("document.getElementById('show-table').click()")
    assert page.run("document.querySelectorAll('#table-view tbody tr').length") == 5
    page.run("[...document.querySelectorAll('#table-view th button')].find((b) => b.textContent.startsWith('Year')).click()")
    assert page.run("document.querySelector('#table-view th[aria-sort=descending]').textContent").startswith("Year")
    assert page.run("document.querySelector('#table-view tbody tr').textContent").startswith("TinyMask")


def test_nothing_is_wider_than_a_phone(tmp_path, pages):
    with Browser(tmp_path, width=390, height=844, mobile=True) as page:
        page.open(pages["small"])
        assert page.run("document.documentElement.scrollWidth") == 390
        page.run("document.querySelectorAll('.node')[1].dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        page.settle()
        assert page.run("document.getElementById('panel').getBoundingClientRect().bottom") <= 844
        assert page.complaints == []


def test_a_crowd_starts_with_its_heaviest_says_so_and_shows_all_when_asked(browser, tmp_path):
    path = tmp_path / "crowd.html"
    path.write_text(export(large(600), "html"), encoding="utf-8")
    browser.open(path)
    shown = browser.run("document.getElementById('found').textContent")
    assert shown.endswith(" of 600 shown")
    assert 100 < int(shown.split()[0]) <= 400
    browser.run("(() => { const s = document.getElementById('most'); s.value = s.max; s.dispatchEvent(new Event('input')); })()")
    browser.settle()
    assert browser.run("document.getElementById('found').textContent") == ""
    assert browser.run("document.querySelectorAll('.node:not([hidden])').length") == 600
