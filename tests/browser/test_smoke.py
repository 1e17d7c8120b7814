"""Every pane of the terminal page shows its data, in both browsers."""

from typing import Final

import pytest
from playwright.sync_api import Browser, Page

from support.servers.browsers import both_browsers
from support.servers.opened_page import address, open_page, register
from support.servers.service import Service

pytestmark = pytest.mark.browser

#: What a pane shows once it has its data.
FILLED: Final = {
    "watchlist": "td.price:not(:empty)",
    "chart": ".plot canvas",
    "heatmap": ".tile i:not(:empty)",
    "movers": "td.price:not(:empty)",
    "news": "li time",
    "crypto": "td.price:not(:empty)",
    "doviz": ".banks td",
    "company": "dl dd",
    "portfolio": "tbody tr",
    # No company reports in the weeks around the end of a quarter, and the pane says so.
    "earnings": ".earnings :is(tbody tr, .quiet)",
    "alerts": "tbody tr",
    "screener": "td.price:not(:empty)",
}
PANES: Final = [
    {"id": kind, "kind": kind, "x": 4 * (place % 3), "y": 10 * (place // 3), "w": 4, "h": 10}
    for place, kind in enumerate(FILLED)
]
TOKEN: Final = "JSON.parse(localStorage.getItem('quotecast.session')).token"
HOLDING: Final = {"ticker": "AAPL", "shares": 1, "avg_cost": 1, "currency": "USD"}
ALERT: Final = {"ticker": "AAPL", "condition": "above", "value": 1_000_000}


def give(page: Page, service: Service) -> None:
    """Gives the page's user a holding and an alert."""
    headers = {"Authorization": f"Bearer {page.evaluate(TOKEN)}"}
    for path, entry in (("/api/portfolio/holdings", HOLDING), ("/api/alerts", ALERT)):
        assert service.post(path, json=entry, headers=headers).status_code == 201


@both_browsers
def test_every_pane_shows_its_data(browser: Browser, service: Service) -> None:
    """All kinds of panes on one page, of a user with a holding and an alert."""
    with open_page(browser, service.url, panes=PANES) as page:
        register(page, address(browser, "smoke"))
        give(page, service)
        page.reload()
        for kind, filled in FILLED.items():
            pane = page.locator(f"[data-kind={kind}]")
            pane.scroll_into_view_if_needed()
            pane.locator(filled).first.wait_for()
