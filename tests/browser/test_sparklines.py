"""The watchlist draws the last day of each instrument as a line."""

from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Request, Route, expect

from support.servers.opened_page import fetched, open_page, panes_of, wait_for_price
from support.servers.service import Service

pytestmark = pytest.mark.browser

PANES = panes_of("watchlist")

#: A symbol of the first watchlist, by feed.
WATCHED: Final = {"market": "AAPL", "crypto": "BTC/USDT", "doviz": "USD"}


def lengthen(route: Route, points: int) -> None:
    """Answers with the service's lines and earlier points: a young service has one or two of its own."""
    answer = fetched(route)
    lines: dict[str, Any] = answer.json()
    for line in lines.values():
        last = line["closes"][-1]
        line["closes"] = [last * (0.9 + 0.1 * place / points) for place in range(1, points)] + [last]
    route.fulfill(response=answer, json=lines)


def test_the_watchlist_has_a_line_of_each_symbol(browser: Browser, service: Service) -> None:
    """Each row has a line, read aloud with its ends; one request per feed brings all of them."""
    requested: list[str] = []

    def note(request: Request) -> None:
        if "/sparklines" in request.url:
            requested.append(request.url.split("/")[4])

    with open_page(browser, "about:blank", panes=PANES) as page:
        page.on("request", note)
        page.route("**/sparklines*", lambda route: lengthen(route, 4))
        page.goto(service.url)
        watchlist = page.locator("[data-kind=watchlist]")
        for symbol in WATCHED.values():
            row = watchlist.locator("tbody tr", has=page.get_by_role("button", name=symbol, exact=True))
            line = row.get_by_role("img", name=f"{symbol} in the last day:")
            expect(line).to_have_count(1)
            expect(line).to_have_attribute("data-tone", "rise")
        assert sorted(requested) == ["crypto", "doviz", "market"]


def test_fewer_than_four_points_are_no_line(browser: Browser, service: Service) -> None:
    """The pairs, which have four points, show that the lines have come."""
    with open_page(browser, "about:blank", panes=PANES) as page:
        page.route(
            "**/sparklines*", lambda route: lengthen(route, 4 if "/crypto/" in route.request.url else 3)
        )
        with page.expect_response("**/api/market/sparklines*"):
            page.goto(service.url)
        watchlist = page.locator("[data-kind=watchlist]")
        expect(watchlist.get_by_role("img", name="BTC/USDT in the last day:")).to_have_count(1)
        expect(watchlist.get_by_role("img", name="AAPL in the last day:")).to_have_count(0)


def test_a_symbol_without_line_has_none(browser: Browser, service: Service) -> None:
    """Where the lines of a feed are missing, its rows have none; the rest of the list is as usual."""
    with open_page(browser, "about:blank", panes=PANES) as page:
        page.route("**/sparklines*", lambda route: lengthen(route, 4))
        page.route(
            "**/api/crypto/sparklines*", lambda route: route.fulfill(status=503, json={"detail": "away"})
        )
        page.goto(service.url)
        wait_for_price(page, "BTC/USDT")
        watchlist = page.locator("[data-kind=watchlist]")
        expect(watchlist.get_by_role("img", name="AAPL in the last day:")).to_have_count(1)
        expect(watchlist.get_by_role("img", name="BTC/USDT in the last day:")).to_have_count(0)
        expect(watchlist).not_to_contain_text("away")
