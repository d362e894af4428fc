"""The site of the documentation: it builds without a warning, shows the pages as written, and loads nothing from elsewhere."""

from __future__ import annotations

import ast
import re
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml
from markdown_it import MarkdownIt

from api.cli.app import _COMMANDS
from api.mcp.tools import TOOLS
from docs.site import on_page_markdown
from tests.lineage.drawing_browser import CHROMIUM, Browser

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
ROW = re.compile(r"^\| (?!capability|---)(.+) \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "tests" / "CAPABILITIES.md").read_text(encoding="utf-8"))


def test_every_page_is_in_the_navigation_and_every_entry_is_a_page():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    named = set(re.findall(r"[\w-]+\.md", str(nav)))
    assert named == {path.name for path in (ROOT / "docs").glob("*.md")}


class Rendered(HTMLParser):
    """A page of the site: headings, blocks of code, text outside of them, links, ids, and the scripts' places."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.headings: list[tuple[str, str]] = []
        self.blocks: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.text = ""
        self._main, self._open = 0, ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids |= {values["id"]} if values.get("id") else set()
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if values.get("role") == "main":
            self._main = 1
        elif self._main and tag == "div":
            self._main += 1
        if self._main and re.fullmatch(r"h[1-6]", tag):
            self._open = tag
            self.headings.append((tag, ""))
        if self._main and tag == "pre":
            self._open = tag
            self.blocks.append("")

    def handle_endtag(self, tag):
        self._open = "" if tag == self._open else self._open
        self._main -= bool(self._main and tag == "div")

    def handle_data(self, data):
        if self._open == "pre":
            self.blocks[-1] += data
        elif self._open:
            self.headings[-1] = (self.headings[-1][0], self.headings[-1][1] + data)
        if self._main and self._open != "pre":
            self.text += data


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


def test_the_site_builds_strictly_and_loads_nothing_from_elsewhere(site):
    pages = sorted(site.glob("*.html"))
    assert len(pages) > 10
    loaded = re.compile(r"<(?:script|img|iframe|link)\b[^>]*(?:src|href)=[\"']?(https?:)?//")
    assert [page.name for page in pages if loaded.search(page.read_text(encoding="utf-8"))] == []
    elsewhere = re.compile(r"(?:@import\s+|url\()[\"']?(?:https?:)?//")
    styles = [path for path in site.rglob("*.css") if elsewhere.search(path.read_text(encoding="utf-8"))]
    assert styles == []


@pytest.mark.parametrize("source", PAGES, ids=lambda path: path.name)
def test_every_fence_of_a_page_is_one_block_of_code_as_it_was_written(site, source):
    page = Rendered(site / source.with_suffix(".html").name)
    tokens = MarkdownIt().parse(source.read_text(encoding="utf-8"))
    fences = [token.content for token in tokens if token.type in {"fence", "code_block"}]
    assert [block.strip("\n") for block in page.blocks] == [fence.strip("\n") for fence in fences]
    assert "```" not in page.text


@pytest.mark.parametrize("source", PAGES, ids=lambda path: path.name)
def test_the_headings_of_a_page_are_those_of_its_source_and_one_is_the_first(site, source):
    page = Rendered(site / source.with_suffix(".html").name)
    tokens = MarkdownIt().parse(source.read_text(encoding="utf-8"))
    titles = [(token.tag, tokens[i + 1].children) for i, token in enumerate(tokens) if token.type == "heading_open"]
    wanted = [(tag, "".join(part.content for part in parts)) for tag, parts in titles]
    assert [(tag, words.removesuffix("¶").strip()) for tag, words in page.headings] == wanted
    assert [tag for tag, _ in page.headings].count("h1") == 1
    assert page.headings[0][0] == "h1"


@pytest.mark.parametrize("source", PAGES, ids=lambda path: path.name)
def test_every_link_of_a_page_leads_to_a_file_and_a_place_in_it(site, source):
    page = Rendered(site / source.with_suffix(".html").name)
    inside = [link for link in page.links if not re.match(r"https?:|mailto:", link)]
    for link in inside:
        path, _, anchor = link.partition("#")
        target = site / (path if path not in {"", "."} else source.with_suffix(".html").name)
        assert target.is_file(), link
        assert not anchor or anchor in Rendered(target).ids, link
    assert any(link.endswith(".html") for link in inside)


def test_the_hook_leaves_of_a_fence_its_language_and_touches_nothing_else():
    text = "```sh setup\nls\n```\n\n```\nplain ```sh not a fence\n```\n"
    assert on_page_markdown(text) == text.replace("```sh setup", "```sh")


@pytest.fixture(scope="module")
def address(site):
    """The site on loopback."""
    quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(quiet, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def opened(address, tmp_path):
    """Opens a page of the site in Chromium; at the end, nothing was asked of another host and nothing was complained about."""
    if not CHROMIUM:
        pytest.skip("no Chromium on this machine")
    browsers = []

    def go(page, **surroundings):
        if not browsers:
            browsers.append(Browser(tmp_path / "profile", **surroundings))
        browsers[0].call("Page.navigate", url=f"{address}/{page}")
        browsers[0].until("document.readyState === 'complete' && document.querySelector('[data-bs-theme-value]') !== null")
        browsers[0].settle()
        return browsers[0]

    yield go
    for browser in browsers:
        browser.close()
        assert [url for url in browser.requests if not url.startswith((address, "data:"))] == []
        assert browser.complaints == []


def test_the_switch_for_dark_works_without_a_javascript_error(opened):
    browser = opened("index.html")
    for mode in ("dark", "light", "auto"):
        browser.run(f"document.querySelector('[data-bs-theme-value={mode}]').click()")
        assert browser.run("document.documentElement.getAttribute('data-bs-theme')") == ("dark" if mode == "dark" else "light")


def test_the_site_is_dark_where_the_system_is(opened):
    assert opened("index.html", scheme="dark").run("document.documentElement.getAttribute('data-bs-theme')") == "dark"


def test_a_search_finds_the_page(opened):
    browser = opened("index.html")
    browser.run("document.querySelector('[data-bs-target=\"#mkdocs_search_modal\"]').click()")
    field = "document.getElementById('mkdocs-search-query')"
    browser.until(f"{field}.offsetParent !== null")
    typed = f"{field}.value = 'telemetry', {field}.dispatchEvent(new KeyboardEvent('keyup', {{key: 'y'}}))"  # again until the index is loaded
    browser.until(f"{typed}, document.getElementById('mkdocs-search-results').innerHTML.includes('privacy.html')")


def test_no_page_is_wider_than_a_phone(opened):
    wide = {}
    for page in PAGES:
        browser = opened(page.with_suffix(".html").name, width=390, height=844, mobile=True)
        wide[page.name] = browser.run("document.documentElement.scrollWidth")
    assert {name: width for name, width in wide.items() if width > 390} == {}
    browser.run("document.querySelector('.navbar-toggler').click()")
    browser.until("document.querySelector('.navbar-collapse').classList.contains('show')")


def test_headings_and_blocks_of_code_are_shown_and_a_link_leads_to_its_heading(opened):
    browser = opened("ledger.html#errors-and-exit-codes")
    assert browser.run("(r => r.top >= 0 && r.top < innerHeight)(document.getElementById('errors-and-exit-codes').getBoundingClientRect())")
    shown = "[...document.querySelectorAll('[role=main] h1, [role=main] h2, [role=main] pre')].every(e => e.offsetHeight > 10 && e.offsetWidth > 100)"
    assert browser.run(shown)
    assert browser.run("getComputedStyle(document.querySelector('[role=main] pre code')).fontFamily").count("mono")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_pass_axe(opened, scheme):
    axe = Path(pytest.importorskip("axe_playwright_python").__file__).with_name("axe.min.js").read_text(encoding="utf-8")
    found = {}
    for page in ("index.html", "commands.html", "benchmarks.html", "page.html"):
        browser = opened(page, scheme=scheme)
        browser.run(axe + "; 0")
        run = "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
        found[page] = browser.run(run + ".then(r => r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html)))")
    assert {page: violations for page, violations in found.items() if violations} == {}


def _tests(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_every_capability_is_proved_by_tests_that_are_there(row):
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row[2])
    assert named, row
    for file, name in named:
        assert name in _tests(ROOT / file), (file, name)


def test_every_command_and_every_tool_for_agents_is_a_capability():
    ways = " ".join(way for _, way, _ in ROWS)
    commands = set(_COMMANDS)
    assert sorted(name for name in commands if not re.search(rf"`lineage {name}\b", ways)) == []
    assert sorted(tool.name for tool in TOOLS if f"`{tool.name}`" not in ways) == []
