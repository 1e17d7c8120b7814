"""The browser's CPU time in a busy market."""

import time
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from support.made.web_files import WEB
from support.runs.figures import Figures
from support.servers.browsers import Browsers
from support.servers.opened_page import open_page, wait_for_live, wait_for_price
from support.servers.processes import running_valkey
from support.servers.service import Service

pytestmark = pytest.mark.browser

#: Updates per second: 500 stocks, four times each.
BUSY = {"QUOTECAST_SIMULATOR_RATE": "2000"}
WATCHED_MS = 1000
WINDOWS = 6
MOST_PERCENT = 20
#: Brotli bytes of the page before the chart's library.
MOST_KB = 90


def cpu_seconds(page: Page) -> float:
    """Returns the CPU seconds of all the browser's processes, as the browser reports them."""
    browser = page.context.browser
    assert browser
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return sum(float(process["cpuTime"]) for process in processes)


def share_of_a_core(page: Page) -> float:
    """Returns the browser's share of a core over a period in which the screen moves."""
    feed = page.locator(".feed[data-feed=market]").element_handle()
    cursor, before, began = feed.get_attribute("data-cursor"), cpu_seconds(page), time.monotonic()
    page.wait_for_timeout(WATCHED_MS)
    page.wait_for_function("([feed, before]) => feed.dataset.cursor !== before", arg=[feed, cursor])
    return (cpu_seconds(page) - before) / (time.monotonic() - began)


def test_a_busy_market_costs_less_than_a_fifth_of_a_core(browsers: Browsers, figures: Figures) -> None:
    """The default panes take less than a fifth of a core, with heatmap and chart.

    Takes the best of several periods: on a busy machine the same work takes longer.
    """
    with running_valkey() as valkey, Service(valkey, BUSY) as service, browsers.own_chromium() as browser:
        service.start("ingest", "api")
        with open_page(browser, service.url) as page:
            wait_for_price(page)
            wait_for_live(page)
            page.locator("[data-kind=heatmap] button").first.wait_for()
            page.locator(".plot canvas").first.wait_for()
            least = min(share_of_a_core(page) for _ in range(WINDOWS))
    figures.at_most("all of the browser", 100 * least, MOST_PERCENT, "% of a core")


def brotli_bytes(path: str) -> int:
    """Returns the size of a file of the page as browsers load it."""
    file = WEB / "dist" / (path.lstrip("/") or "index.html")
    compressed = file.with_name(f"{file.name}.br")
    return (compressed if compressed.exists() else file).stat().st_size


def test_the_start_is_small(browser: Browser, service: Service, figures: Figures) -> None:
    """All that the first screen needs is small, but for the chart's library, which loads later."""
    with browser.new_context() as context:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(urlsplit(request.url).path))
        page.goto(service.url)
        page.locator(".plot canvas").first.wait_for()
        page.locator("[data-kind=heatmap] button").first.wait_for()
    files = {path for path in asked if path == "/" or path.startswith("/assets/")}
    first = {path for path in files if "/candles-" not in path}
    assert len(first) == len(files) - 1
    figures.at_most("start", sum(map(brotli_bytes, first)) / 1000, MOST_KB, "KB")
