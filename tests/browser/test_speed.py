"""The browser's CPU time in a busy market."""

import time
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from support.made.web_files import WEB
from support.runs.figures import Figures
from support.servers.browsers import Browsers
from support.servers.opened_page import DEADLINE_MS, eventually, open_page, wait_for_live, wait_for_price
from support.servers.processes import running_valkey
from support.servers.service import Service

pytestmark = [pytest.mark.browser, pytest.mark.slow]

#: Updates per second: 500 stocks, four times each.
BUSY = {"QUOTECAST_SIMULATOR_RATE": "2000"}
WATCHED_MS = 1000
WINDOWS = 6
MOST_PERCENT = 20
#: Requests and Brotli bytes until the first prices, with the socket and the frame that brings them.
MOST_REQUESTS = 12
MOST_KB = 85
NOTE_FIRST_PRICE = """
    new MutationObserver((_, observer) => {
        const cells = [...document.querySelectorAll("[data-kind=watchlist] td.price")];
        if (!cells.some((cell) => /\\d/.test(cell.textContent))) return;
        window.firstPriceAt = performance.now();
        observer.disconnect();
    }).observe(document, { childList: true, subtree: true, characterData: true });
"""
ASKED_BEFORE_FIRST_PRICE = """() => [
    ...performance.getEntriesByType("navigation"),
    ...performance.getEntriesByType("resource").filter((each) => each.startTime < window.firstPriceAt),
].map((each) => each.name)"""


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
    """The first prices need few requests and bytes: all else loads after them."""
    frames: list[int] = []
    with browser.new_context() as context:
        page = context.new_page()
        page.add_init_script(NOTE_FIRST_PRICE)
        page.on(
            "websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(len(frame)))
        )
        page.goto(service.url)
        page.locator("[data-kind=heatmap] button").first.wait_for()
        page.wait_for_function("() => window.firstPriceAt", timeout=DEADLINE_MS)
        eventually(page, lambda: frames, "no frame came")
        first: list[str] = page.evaluate(ASKED_BEFORE_FIRST_PRICE)
    # The browser counts the socket's handshake as no resource.
    paths = [urlsplit(each).path for each in first]
    size = sum(map(brotli_bytes, {path for path in paths if not path.startswith("/api/")})) + frames[0]
    figures.at_most("requests", len(paths) + 1, MOST_REQUESTS, "requests")
    figures.at_most("start", size / 1000, MOST_KB, "KB")
