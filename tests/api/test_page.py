"""The page in a real browser: what a reader does, what it says to a screen reader, and that it asks nobody else.

Needs Chromium (`CHROMIUM` names it, else it is looked for) and the `browser` extra; skips without them. With
`PICTURES=DIR` the screenshots of the documentation are written there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.demo import NAME
from tests.serving import Serving

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"), pytest.mark.xdist_group("browser")]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
TEXTS = {"title", "reason", "why", "value", "abstract", "citation", "url", "part", "scope", "grade", "license"}
QUESTION = "how is the encoder initialized?"


@pytest.fixture(scope="module")
def server(built):
    with Serving(built.home, {"rate": 1e6, "burst": 10**6}) as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield made
        made.close()


@pytest.fixture
def page(browser, server):
    """A page of which every console error and every request to somebody else fails the test."""
    with opened(browser, server) as made:
        yield made


class opened:  # noqa: N801  # reads as a function where it is used
    """A browser page over a server; on leaving, complaints and requests to others are held against it.

    The browser itself logs a refused request; where `refusals` are meant that is no complaint.
    """

    def __init__(self, browser, server, refusals=False, **context):
        self._context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
        self._server, self.refusals, self.complaints, self.strangers = server, refusals, [], []

    def __enter__(self):
        page = self._context.new_page()
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on(
            "request", lambda asked: self.strangers.append(asked.url) if not asked.url.startswith((self._server.url, "data:", "about:")) else None
        )
        return page

    def __exit__(self, kind, error, trace):
        self._context.close()
        if not kind:
            self.complaints = [said for said in self.complaints if not (self.refusals and said.startswith("Failed to load resource"))]
            assert (self.complaints, self.strangers) == ([], [])


def go(page, server, view):
    page.goto(f"{server.url}/#{view}")


def picture(page, name):
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def violations(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}).response["violations"]
    return [(one["id"], [(node["html"][:120], node["failureSummary"][:200]) for node in one["nodes"][:3]]) for one in found]


def test_the_first_thing_seen_is_what_the_paper_does_not_tell_with_its_lineage_beside_it(page, server):
    go(page, server, "")
    page.locator(".part").first.wait_for()
    assert "What this paper does not tell you" in page.locator("main").inner_text()
    assert re.search(r"\d+ open decisions? \(the lineage has a value for \d+\)", page.locator("main").inner_text())
    assert re.search(r"#L\d+|arXiv:", page.locator(".part .cite").first.inner_text())
    assert page.locator("aside dl dd").count() > 0
    picture(page, "page-paper")


def test_a_link_leads_to_one_decision(page, server):
    go(page, server, "paper")
    page.locator("section.part button", has_text="more of").first.click()
    link = page.locator("section.part").first.locator("a.detail").last
    link.click()
    page.reload()
    page.wait_for_function("id => document.activeElement.id === id", arg=link.get_attribute("id"))
    assert f"lineage={NAME}" in page.url


def test_a_decision_is_recorded_shown_and_withdrawn_by_the_keyboard(browser, built, tmp_path):
    shutil.copytree(built.home, tmp_path / "home")
    with Serving(tmp_path / "home", {"rate": 1e6, "burst": 10**6}) as own, opened(browser, own, refusals=True) as page:
        go(page, own, "paper")
        page.locator(".part").first.wait_for()
        row = page.locator(".part tr", has=page.locator(".badge", has_text=re.compile("strong|fair"))).first
        title = row.locator("a.detail").inner_text()
        row.get_by_text("Decide", exact=True).focus()
        page.keyboard.press("Enter")
        row.get_by_label("By").fill("<b>me</b>")
        row.get_by_label("Value").fill("no such value")
        row.get_by_role("button", name="Record", exact=True).click()
        row.locator(".note.bad").wait_for()
        row.get_by_role("button", name="Record it as unsupported").click()
        page.locator(".decided").wait_for()
        assert title in page.locator(".decided").inner_text()
        assert "<b>me</b>" in page.locator(".decided").inner_text()
        assert page.evaluate("document.activeElement.id") == "view"
        assert violations(page) == []
        page.get_by_role("button", name=f"Withdraw: {title}").click()
        page.locator(".decided").wait_for(state="detached")


def test_two_sources_of_a_value_stand_side_by_side_at_an_address(page, server):
    go(page, server, "values?name=lr")
    buttons = page.locator("button[data-citation]")
    buttons.first.wait_for()
    named = [buttons.nth(i).get_attribute("data-citation") for i in (0, buttons.count() - 1)]
    for i in (0, buttons.count() - 1):
        buttons.nth(i).evaluate("button => button.click()")
    page.locator(".compared .side").nth(1).wait_for()
    page.reload()
    page.locator(".compared .side").nth(1).wait_for()
    assert page.locator("button[data-citation][aria-pressed=true]").evaluate_all("all => all.map((one) => one.dataset.citation)") == named
    assert page.locator(".compared .on").count() > 0
    assert violations(page) == []


def test_the_report_and_the_references_are_taken_along(page, server):
    go(page, server, "paper")
    for words, begins in (("Report", "<!doctype html>"), ("Markdown", "# "), ("BibTeX", "@")):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=words, exact=True).click()
        assert Path(waiting.value.path()).read_text().startswith(begins)


def test_the_picture_is_the_lineage_as_a_graph_with_what_it_means(page, server):
    go(page, server, "picture")
    frame = page.frame_locator("iframe")
    frame.locator("#picture .node").first.wait_for()
    assert "A lineage is what a paper took for granted" in frame.locator("#explanation").inner_text()
    assert frame.locator("#picture .node:visible").count() == 13
    assert NAME in page.locator("#lineage").inner_text()
    picture(page, "page-picture")


def test_a_question_shows_the_lines_with_numbers_focus_citation_and_reason(page, server):
    go(page, server, "ask")
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    card = page.locator("article.card").first
    card.wait_for()
    assert re.search(r"github\.com/.+#L\d+-L\d+@[0-9a-f]{8}", card.inner_text())
    assert card.locator(".code td.n").count() > 3
    assert card.locator(".code tr.on").count() >= 1
    assert "9912.00001" in card.locator("blockquote").inner_text()
    page.locator(".answer").wait_for()
    picture(page, "page-ask")


def test_an_address_with_a_question_asks_it(page, server):
    go(page, server, "ask?q=learning+rate+schedule")
    page.locator("article.card").first.wait_for()
    assert page.input_value("#question") == "learning rate schedule"


def test_every_address_names_its_lineage_and_opens_it_elsewhere(browser, server):
    def two(route):
        (row,) = route.fetch().json()["lineages"]
        route.fulfill(json={"lineages": [{**row, "lineage": "another"}, row]})

    with opened(browser, server, refusals=True) as page:  # there is nothing behind the other
        page.route("**/api/v1/lineages", two)
        go(page, server, "")
        page.wait_for_url("**/#paper?lineage=another")
        page.locator("#lineage").select_option(NAME)
        page.wait_for_url(f"**/#paper?lineage={NAME}")
        page.get_by_role("link", name="Ask", exact=True).click()
        page.wait_for_url(f"**/#ask?lineage={NAME}")
        page.fill("#question", "learning rate")
        page.keyboard.press("Enter")
        page.locator("article.card").first.wait_for()
        shared = page.url
    with opened(browser, server) as page:
        page.route("**/api/v1/lineages", two)
        page.goto(shared)
        page.locator("article.card").first.wait_for()
        assert page.input_value("#lineage") == NAME
        go(page, server, "gaps?lineage=nobody")
        assert "There is no lineage nobody here" in page.locator(".note.bad").inner_text()


def test_a_question_is_asked_of_one_work_by_the_keyboard_and_its_address_says_so(page, server):
    go(page, server, "ask?q=learning+rate")
    page.locator("article.card").first.wait_for()
    assert page.get_by_label("only in").get_attribute("list") == "works"
    page.locator("#works option").first.wait_for(state="attached")
    told = page.eval_on_selector_all("#works option", "options => options.map((one) => [one.value, one.label])")
    assert ["arxiv:9911.00102", "PatchMask: Learning by Predicting What the Neighbours Hide"] in told
    page.get_by_label("only in").fill("arxiv:9911.00102")
    page.keyboard.press("Enter")
    page.get_by_text("Only hits of arxiv:9911.00102").wait_for()
    page.locator("article.card").first.wait_for()
    assert {words.partition(" PatchMask")[1] for words in page.locator("article.card h3").all_inner_texts()} == {" PatchMask"}
    assert page.url.endswith(f"#ask?q=learning+rate&work=arxiv%3A9911.00102&lineage={NAME}")
    page.reload()
    page.get_by_text("Only hits of arxiv:9911.00102").wait_for()
    assert page.get_by_label("only in").input_value() == "arxiv:9911.00102"
    assert page.locator(".answer").count() == 0


def test_the_work_of_a_hit_is_asked_alone_and_then_every_work_again(page, server):
    go(page, server, "ask?q=how+is+the+encoder+initialized%3F")
    card = page.locator("article.card").first
    card.wait_for()
    title = card.locator("h3").inner_text()
    card.get_by_role("button", name="Ask only this work").click()
    page.get_by_role("button", name="Ask every work").wait_for()
    page.locator("article.card").first.wait_for()
    assert {words.partition(". ")[2] for words in page.locator("article.card h3").all_inner_texts()} == {title.partition(". ")[2]}
    assert page.get_by_role("button", name="Ask only this work").count() == 0
    assert page.evaluate("document.activeElement.contains(document.querySelector('article.card'))")
    page.get_by_role("button", name="Ask every work").click()
    page.locator(".answer").wait_for()
    assert page.get_by_label("only in").input_value() == ""


def test_a_work_that_the_lineage_does_not_have_is_said(browser, server):
    with opened(browser, server, refusals=True) as page:
        go(page, server, "ask?q=x&work=nobody/nothing")
        assert "this lineage has no work 'nobody/nothing'" in page.locator(".note.bad").inner_text()
        page.get_by_role("button", name="Ask every work").wait_for()


def test_a_hit_is_widened_and_the_keyboard_walks_through_hits(page, server):
    go(page, server, "ask?q=how+is+the+encoder+initialized%3F")
    card = page.locator("article.card").first
    card.wait_for()
    before = card.locator(".code tr").count()
    page.locator("body").click(position={"x": 5, "y": 790})
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.id") == card.get_attribute("id")
    card.get_by_role("button", name="More around it").click()
    page.wait_for_function("([n, id]) => document.getElementById(id).querySelectorAll('.code tr').length > n", arg=[before, card.get_attribute("id")])


def test_slash_goes_to_the_question_from_anywhere(page, server):
    go(page, server, "builds")
    page.locator("form.form").wait_for()
    page.locator("h1").click()
    page.keyboard.press("/")
    page.wait_for_function("document.activeElement.id === 'question'")


def composed(*sentences):
    evidence = {"kind": "code", "citation": "c", "source": {"work": "repo:x", "path": "a.py", "url": "https://example.org/a.py"}}
    told = [{"text": text, "evidence": [{**evidence, "kind": kind}]} for text, kind in sentences]
    return {"lineage": NAME, "generation": "1", "question": "x", "by": "extract", "sentences": told}


@pytest.mark.parametrize(
    ("text", "kind", "paragraphs", "blocks"),
    [
        ("In `reset`:\n```python\ndef f(x):\n    return x\n```\nand no more.", "code", ["In reset:", "and no more."], ["def f(x):\n    return x"]),
        ("````md\n```sh\nls\n```\n````", "docs", [], ["```sh\nls\n```"]),
        ("```python\nif x:\n    y = '<b>'", "code", [], ["if x:\n    y = '<b>'"]),
        ("`reset`:\n    if x:\n        y = 1", "code", ["reset:"], ["if x:\n    y = 1"]),
        ("lr = 1\nwd = 2", "code", [], ["lr = 1\nwd = 2"]),
        ("A sentence with `lr` in it,\nover two lines.", "paper", ["A sentence with lr in it,\nover two lines."], []),
    ],
    ids=["fenced", "a fence in a fence", "a fence that nobody closes", "named lines of code", "lines of code", "prose"],
)
def test_code_in_an_answer_is_shown_as_code_with_its_indentation(page, server, text, kind, paragraphs, blocks):
    page.route("**/api/v1/answer", lambda route: route.fulfill(json=composed((text, kind))))
    go(page, server, "ask?q=x")
    page.locator(".answer").wait_for()
    assert page.locator(".statement > p").all_inner_texts() == paragraphs
    assert page.eval_on_selector_all(".statement > pre > code", "blocks => blocks.map((block) => block.textContent)") == blocks
    assert page.locator(".statement b").count() == 0
    assert "```" not in page.locator(".answer").inner_text() or "```" in "".join(blocks)


def test_the_real_answer_shows_the_lines_of_a_function_as_a_block(page, server):
    go(page, server, "ask?q=how+is+the+encoder+initialized%3F")
    page.locator(".answer pre code").first.wait_for()
    assert "nn.init.xavier_uniform_(module.weight)\n" in page.locator(".answer pre code").first.text_content()
    assert "`" not in page.locator(".answer").inner_text()


def test_contradictions_stand_before_the_details_and_every_count_is_what_is_listed(page, server):
    def contradicted(route):
        report = route.fetch().json()
        sides = [held for gap in report["gaps"] for offer in gap["suggestions"] for held in offer["held"]][:2]
        report["conflicts"] = [{"title": "x", "kind": "paper-code", "severity": 0.5, "why": "y", "sides": sides}] * 2
        route.fulfill(json=report)

    page.route("**/api/v1/gaps*", contradicted)
    go(page, server, "gaps")
    page.locator("table.wide tbody tr").first.wait_for()
    contradictions = page.locator(".contradictions")
    assert int(contradictions.locator("h2").inner_text().split()[0]) == contradictions.locator(".card").count() > 0
    assert page.evaluate("document.querySelector('.contradictions').compareDocumentPosition(document.querySelector('table.wide')) & 4")
    filters = page.get_by_role("group", name="Show details by state").get_by_role("button")
    number = re.compile(r"\d+")
    for pressed in ((), (0,), (1,), (2,)):
        for i in pressed:
            filters.nth(i).click()
        counts = page.eval_on_selector_all("[aria-label='Show details by state'] [aria-pressed=true]", "all => all.map((one) => one.textContent)")
        rows = page.locator("table.wide > tbody > tr").count()
        assert rows == sum(int(number.search(words)[0]) for words in counts)
        assert rows == sum(int(number.search(words)[0]) for words in page.locator("table.wide caption").all_inner_texts())
        assert page.get_by_text(f"{rows} of ").count() == 1


def test_the_table_of_values_counts_what_opening_a_row_lists(page, server):
    go(page, server, "values")
    rows = page.locator("table.wide tbody tr")
    rows.first.wait_for()
    for i in range(0, rows.count(), 7):
        go(page, server, "values")
        count = rows.nth(i).locator("td").nth(3).inner_text()
        rows.nth(i).get_by_role("button").click()
        page.locator("section.card").first.wait_for()
        assert page.locator("section.card").count() == int(count)


def test_the_grade_of_the_evidence_is_shown_with_its_reason(page, server):
    go(page, server, "gaps")
    grade = page.locator("table.wide summary .badge").first
    grade.wait_for()
    assert grade.inner_text() in {"strong", "fair", "weak"}
    assert grade.get_attribute("title")


def test_dark_is_chosen_kept_and_reaches_the_picture_without_a_complaint(page, server):
    dark = "getComputedStyle(document.body).backgroundColor === 'rgb(18, 22, 27)'"
    go(page, server, "picture")
    page.frame_locator("iframe").locator("#picture .node").first.wait_for()
    picture_ = page.frames[1]
    assert not page.evaluate(dark)
    assert picture_.locator("#scheme").is_hidden()
    page.locator("#scheme").click()
    assert page.evaluate(dark)
    picture_.wait_for_function(dark)
    assert page.locator("#scheme").get_attribute("aria-pressed") == "true"
    page.reload()
    page.frame_locator("iframe").locator("#picture .node").first.wait_for()
    page.frames[1].wait_for_function(dark)
    page.locator("#scheme").click()
    page.frames[1].wait_for_function(f"!({dark})")


def test_gaps_name_what_is_unsaid_with_a_value_from_the_lineage(page, server):
    go(page, server, "gaps")
    page.locator("table.wide tbody tr").first.wait_for()
    assert page.locator(".state.unspecified, .state.partially_specified").count() > 0
    details = page.locator("table.wide details").first
    details.locator("summary").click()
    assert details.locator("li").count() > 0
    picture(page, "page-gaps")


def test_a_value_is_shown_with_who_holds_it_and_who_dissents(page, server):
    go(page, server, "values")
    page.get_by_role("button", name="learning rate", exact=True).click()
    page.locator("section.card").first.wait_for()
    assert page.locator("section.card").count() >= 2
    assert re.search(r"#L\d+|arXiv:", page.locator("section.card").first.inner_text())
    picture(page, "page-values")


def test_a_build_is_followed_to_its_end_and_its_failure_is_told(page, server):
    go(page, server, "builds")
    page.fill("input[name=target]", "not a paper")
    page.get_by_role("button", name="Build").click()
    page.locator(".note.bad, .state.failed").first.wait_for()
    assert page.locator(".note.bad, section.card").first.inner_text()


def test_hostile_words_are_shown_as_text(browser, server):
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    hit = {
        "rank": 1, "score": 1, "chunk": "c_00000000", "kind": "docs", "text": evil, "citation": evil, "license": evil, "from_target": False,
        "source": {"work": "x", "title": evil, "url": "javascript:alert(3)", "path": evil, "start_line": 1, "end_line": 1}, "flags": [evil],
        "focus": {"start_line": 1, "end_line": 1}, "lineage": {"distance": 1, "role": "base", "of": "x", "why": evil},
        "signals": [], "why": [evil], "copies": [],
    }  # fmt: skip
    with opened(browser, server) as page:
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        page.route(
            "**/api/v1/search", lambda route: route.fulfill(json={"lineage": NAME, "generation": "1", "query": "x", "hits": [hit], "notes": [evil]})
        )
        go(page, server, "ask?q=x")
        page.locator("article.card").wait_for()
        assert page.locator("article.card h3").inner_text() == f"1. {evil}"
        assert page.locator("main img, main script, main a[href^=javascript]").count() == 0


def test_hostile_words_of_a_report_are_shown_as_text(browser, server):
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"

    def poisoned(value):
        if isinstance(value, dict):
            return {key: evil if key in TEXTS and isinstance(one, str) else poisoned(one) for key, one in value.items()}
        return [poisoned(one) for one in value] if isinstance(value, list) else value

    with opened(browser, server) as page:
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        page.route("**/api/v1/report*", lambda route: route.fulfill(json=poisoned(route.fetch().json())))
        go(page, server, "paper")
        page.locator(".part").first.wait_for()
        assert page.locator(".paper .title").inner_text() == evil
        assert page.locator("main img, main script, main a[href^=javascript]").count() == 0


def test_an_unreachable_server_is_said_in_words(browser, server):
    with opened(browser, server, refusals=True) as page:
        go(page, server, "ask")
        page.locator("#question").wait_for()
        page.route(
            "**/api/v1/search", lambda route: route.fulfill(status=503, json={"detail": "too many requests at once", "hint": "try again in a second"})
        )
        page.fill("#question", QUESTION)
        page.keyboard.press("Enter")
        assert "too many requests at once. try again in a second" in page.locator(".note.bad").inner_text()


def test_a_token_is_asked_for_once(browser, built):
    with Serving(built.home, {"rate": 1e6, "burst": 10**6}, token="secret-of-the-test") as guarded:
        context = browser.new_context()
        page = context.new_page()
        page.goto(guarded.url)
        page.locator("#token").fill("secret-of-the-test")
        page.get_by_role("button", name="Open").click()
        page.locator(".part").first.wait_for()
        context.close()


@pytest.mark.parametrize(
    ("view", "ready"),
    [
        ("ask?q=optimizer", "article.card"),
        ("ask?q=rate&work=arxiv:9911.00102", "article.card"),
        ("gaps", "table.wide"),
        ("values?name=lr", "section.card"),
        ("builds", "form.form"),
        ("picture", "iframe"),
        ("paper", ".part"),
    ],
)
def test_every_view_passes_axe_in_light_and_dark(page, server, view, ready):
    go(page, server, view)
    page.locator(ready).first.wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(200)
        assert violations(page) == []


def test_a_phone_shows_everything_without_scrolling_sideways(browser, server):
    with opened(browser, server, viewport={"width": 390, "height": 800}) as page:
        for view, ready in (
            ("ask?q=rate&work=arxiv:9911.00102", "article.card"),
            ("ask?q=optimizer", "article.card"),
            ("gaps", "table.wide"),
            ("values?name=lr", "section.card"),
            ("builds", "form.form"),
            ("paper", ".part"),
        ):
            go(page, server, view)
            page.locator(ready).first.wait_for()
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view
            assert page.evaluate("document.getElementById('view').scrollWidth <= window.innerWidth"), view
        picture(page, "page-phone")


def test_all_that_the_page_is_made_of_is_small(server):
    import httpx2

    listed = re.findall(r'(?:src|href)="(/web/[^"]+)"', httpx2.get(server.url).text)
    assert sorted({*listed}) == ["/web/icon.svg", "/web/page.css", "/web/page.js"]
    assert json.loads(httpx2.get(f"{server.url}/api/v1/lineages").text)["lineages"]


def test_the_panel_of_a_work_says_what_it_is_and_gives_its_bibtex_by_the_keyboard(browser, server):
    with opened(browser, server) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        go(page, server, "paper")
        title = page.locator("aside dd a").first
        title.focus()
        page.keyboard.press("Enter")
        panel = page.locator("#panel")
        panel.locator("blockquote div").first.wait_for()
        assert panel.locator("h2").inner_text() == title.inner_text()
        words = panel.inner_text()
        assert re.search(r"2024 · .*\n", words)
        assert "rank 1 of 8" in words
        assert "masked autoencoder" in words
        assert "official · Apache-2.0" in words
        assert "What the paper says of it" in words
        panel.get_by_text("BibTeX", exact=True).click()
        panel.get_by_role("button", name="Copy BibTeX").click()
        panel.get_by_role("button", name="Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()").startswith("@")
        assert page.url.endswith("open=arxiv%3A9911.00102&" + f"lineage={NAME}")
        assert violations(page) == []
        picture(page, "page-panel")
        page.keyboard.press("Escape")
        page.wait_for_url(f"**/#paper?lineage={NAME}")
        assert page.evaluate("document.activeElement.textContent") == title.inner_text()


def test_a_passage_of_a_pdf_is_shown_on_its_page_and_others_have_none(page, server):
    go(page, server, "ask?q=gentle+crop+augmentation&kind=paper&work=arxiv:9909.00104")
    card = page.locator("article.card").first
    card.get_by_role("button", name="On its page").click()
    shown = card.locator("img.crop")
    shown.wait_for()
    page.wait_for_function("image => image.complete && image.naturalWidth > 300", arg=shown.element_handle())
    assert re.match(r"Page \d+ of SoftCrop.* with a box around this passage", shown.get_attribute("alt"))
    assert violations(page) == []
    picture(page, "page-crop")
    go(page, server, "ask?q=mask+ratio&work=arxiv:9912.00001")
    page.locator("article.card").first.wait_for()
    assert page.get_by_role("button", name="On its page").count() == 0


def test_a_question_is_saved_asked_again_and_forgotten(page, server):
    go(page, server, "ask?q=learning+rate&kind=code&without=target-code")
    page.locator("article.card").first.wait_for()
    page.get_by_role("button", name="Save question").click()
    go(page, server, "ask?q=optimizer")
    page.locator("article.card").first.wait_for()
    page.reload()
    saved = page.get_by_role("list", name="Saved questions")
    saved.get_by_role("link").click()
    page.wait_for_url(f"**/#ask?q=learning+rate&kind=code&without=target-code&lineage={NAME}")
    page.locator("article.card").first.wait_for()
    assert (page.input_value("#question"), page.is_checked("#without")) == ("learning rate", True)
    assert violations(page) == []
    saved.get_by_role("button", name="Forget: learning rate").click()
    assert saved.get_by_role("link").count() == 0


@pytest.mark.parametrize(
    ("view", "ready"),
    [
        ("paper?detail=warmup", ".part"),
        ("paper?open=arxiv:9911.00102", "#panel blockquote"),
        ("ask?q=learning+rate&kind=code&work=northlake-vision/patchmask&without=target-code", "article.card"),
        ("gaps?state=SPECIFIED", "table.wide"),
        ("values?name=lr", "section.card"),
        ("builds", "form.form"),
    ],
)
def test_a_copied_address_opens_the_same_view_elsewhere(browser, server, view, ready):
    def seen(page, address):
        page.goto(address)
        page.locator(ready).first.wait_for()
        page.wait_for_load_state("networkidle")
        return page.url, page.locator("main").inner_text()

    with opened(browser, server) as page:
        address, first = seen(page, f"{server.url}/#{view}")
        assert (view.partition("?")[2] == "") or f"lineage={NAME}" in address
    with opened(browser, server) as page:
        assert seen(page, address) == (address, first)


def test_no_share_or_score_is_shown_for_an_ancestor(page, server):
    go(page, server, "paper")
    page.locator("aside dd").first.wait_for()
    assert not re.search(r"\d ?%|\b0\.\d\d\b", page.locator("aside").inner_text())
    assert page.locator("meter").count() == 0
