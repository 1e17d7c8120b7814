"""The watchlist draws the last day of each instrument as a line."""

import time
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, Request, expect

from support.servers.opened_page import DEADLINE_MS, open_page, wait_for_price
from support.servers.service import Service
from support.servers.terminal_service import Databases, fast_market

pytestmark = pytest.mark.browser

#: Speed of the simulator at which half an hour of the market takes two seconds.
FAST: Final = 900
#: A symbol of the first watchlist, by feed.
WATCHED: Final = {"market": "AAPL", "crypto": "BTC/USDT", "doviz": "USD"}


@pytest.fixture(scope="module")
def service(databases: Databases) -> Iterator[Service]:
    """Runs a service until it has a line of each symbol."""
    with fast_market(databases, FAST) as running:
        deadline = time.monotonic() + DEADLINE_MS / 1000
        while not all(has_line(running, feed, symbol) for feed, symbol in WATCHED.items()):
            assert time.monotonic() < deadline, "the service has no lines"
        yield running


def has_line(service: Service, feed: str, symbol: str) -> bool:
    answer = service.get(f"/api/{feed}/sparklines", params={"symbols": symbol})
    return answer.is_success and len(answer.json().get(symbol, {}).get("closes", ())) >= 4


def test_the_watchlist_has_a_line_of_each_symbol(browser: Browser, service: Service) -> None:
    """Each row has a line, read aloud with its ends; one request per feed brings all of them."""
    requested: list[str] = []

    def note(request: Request) -> None:
        if "/sparklines" in request.url:
            requested.append(request.url.split("/")[4])

    with open_page(browser, "about:blank") as page:
        page.on("request", note)
        page.goto(service.url)
        watchlist = page.locator("[data-kind=watchlist]")
        for symbol in WATCHED.values():
            row = watchlist.locator("tbody tr", has=page.get_by_role("button", name=symbol, exact=True))
            expect(row.get_by_role("img", name=f"{symbol} in the last day:")).to_have_count(1)
        assert sorted(requested) == ["crypto", "doviz", "market"]


def test_a_symbol_without_line_has_none(browser: Browser, service: Service) -> None:
    """Where the lines of a feed are missing, its rows have none; the rest of the list is as usual."""
    with open_page(browser, "about:blank") as page:
        page.route(
            "**/api/crypto/sparklines*", lambda route: route.fulfill(status=503, json={"detail": "away"})
        )
        page.goto(service.url)
        wait_for_price(page, "BTC/USDT")
        watchlist = page.locator("[data-kind=watchlist]")
        expect(watchlist.get_by_role("img", name="AAPL in the last day:")).to_have_count(1)
        expect(watchlist.get_by_role("img", name="BTC/USDT in the last day:")).to_have_count(0)
        expect(watchlist).not_to_contain_text("away")
