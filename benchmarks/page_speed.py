"""How fast the page of a running `lineage serve` shows each view, in a fresh browser profile: python -m benchmarks.page_speed URL"""

from __future__ import annotations

import shutil
import statistics
import sys
import time

from playwright.sync_api import Browser, sync_playwright

VIEWS = {"paper": ".part", "ask?q=learning+rate": "article.card", "gaps": "table.wide tbody tr", "values?name=lr": "section.card"}
LOADS = 5
_MEASURE = """() => {
  const all = [...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')];
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  return [paint ? paint.startTime / 1000 : 0, all.reduce((sum, one) => sum + one.transferSize, 0) / 1000, all.length];
}"""


def load(browser: Browser, address: str, content: str) -> tuple[float, float, float, float]:
    """Seconds to the content, seconds to the first paint, kilobytes and requests of one load."""
    context = browser.new_context()
    page, start = context.new_page(), time.perf_counter()
    page.goto(address)
    page.locator(content).first.wait_for(timeout=60_000)
    ready = time.perf_counter() - start
    paint, kilobytes, requests = page.evaluate(_MEASURE)
    context.close()
    return ready, paint, kilobytes, requests


def main(url: str) -> None:
    """A line for each view: medians of its loads."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        for view, content in VIEWS.items():
            loads = [load(browser, f"{url}/#{view}", content) for _ in range(LOADS)]
            ready, paint, kilobytes, requests = map(statistics.median, zip(*loads, strict=True))
            print(f"{view:20} content {ready:.2f} s, first paint {paint:.2f} s, {kilobytes:.0f} kB in {requests:.0f} requests")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
