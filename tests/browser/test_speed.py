"""The browser's CPU time in a busy market."""

import time

import pytest
from playwright.sync_api import Page

from support.figures import Figures
from support.opened_page import chromium, open_page, wait_for_live, wait_for_price
from support.servers import running_valkey
from support.service import Service

pytestmark = pytest.mark.browser

#: Updates per second: 500 stocks, four times each.
BUSY = {"QUOTECAST_SIMULATOR_RATE": "2000"}
WATCHED_MS = 2000
WINDOWS = 6
MOST_PERCENT = 30


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


def test_a_busy_market_costs_less_than_a_third_of_a_core(figures: Figures) -> None:
    """The default panes take less than a third of a core, with heatmap and chart.

    Takes the best of several periods: on a busy machine the same work takes longer.
    """
    with running_valkey() as valkey, Service(valkey, BUSY) as service, chromium() as browser:
        service.start("ingest", "api")
        with open_page(browser, service.url) as page:
            wait_for_price(page)
            wait_for_live(page)
            page.locator("[data-kind=heatmap] button").first.wait_for()
            page.locator(".plot canvas").first.wait_for()
            least = min(share_of_a_core(page) for _ in range(WINDOWS))
    figures.at_most("all of the browser", 100 * least, MOST_PERCENT, "% of a core")
