"""The page with a chart, for tests of its tools."""

import contextlib
import json
import re
from collections.abc import Iterator
from typing import Final

from playwright.sync_api import Browser, Locator, Page, expect

from support.servers.opened_page import DEADLINE_MS, open_page, wait_for_price

WATCHLIST: Final = {"id": "watchlist", "kind": "watchlist", "x": 0, "y": 0, "w": 3, "h": 14}
CHART: Final = {"id": "chart", "kind": "chart", "x": 3, "y": 0, "w": 6, "h": 14}


@contextlib.contextmanager
def open_chart(browser: Browser, url: str) -> Iterator[Page]:
    """Yields the page with the chart of Apple beside the watchlist."""
    with open_page(browser, url, panes=[WATCHLIST, CHART]) as page:
        wait_for_chart(page)
        # The first hours of a day have fewer bars than indicators and scrolling need.
        chart_of(page).get_by_role("button", name="5D", exact=True).click()
        page.wait_for_function("() => document.querySelector('.plot .canvas')?.dataset.bars >= 60")
        wait_for_chart(page)
        yield page


def wait_for_chart(page: Page) -> None:
    wait_for_price(page)
    expect(page.locator(".plot .legend")).to_have_text(re.compile(r"C \d"), timeout=DEADLINE_MS)
    # The chart chooses the bars in view in the frame after its legend's.
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


def chart_of(page: Page) -> Locator:
    return page.locator("[data-kind=chart]")


def open_panel(page: Page, name: str) -> Locator:
    """Opens a panel of the toolbar."""
    chart_of(page).get_by_role("button", name=name, exact=True).click()
    panel = page.get_by_role("region", name=name, exact=True)
    # An opened panel gives the focus to its first control, which must not come between a test's two keys.
    expect(panel.locator(":focus")).to_have_count(1)
    return panel


def memory(page: Page) -> dict[str, str]:
    """Returns the choices of the chart's pane, as the browser stores them."""
    layout = json.loads(page.evaluate("localStorage['quotecast.layout'] ?? '{}'"))
    panes = [pane for workspace in layout.get("workspaces", []) for pane in workspace["panes"]]
    found: dict[str, str] = next((each.get("memory", {}) for each in panes if each["id"] == "chart"), {})
    return found
