"""The terminal page during outages, and while the market is closed."""

import re
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from support.servers.fault_proxy import FaultProxy
from support.servers.opened_page import (
    DEADLINE_MS,
    fetched,
    open_page,
    panes_of,
    wait_for_live,
    wait_for_price,
)
from support.servers.processes import running_valkey
from support.servers.service import Service

pytestmark = pytest.mark.browser

PANES = panes_of("watchlist")

#: Heartbeat interval so long that the watchdog of two intervals never fires in a test.
SLOW_HEARTBEAT = {"QUOTECAST_HEARTBEAT_MS": "60000", "QUOTECAST_LIMIT_MARKET": "1000"}


@pytest.fixture(scope="module")
def slow_service() -> Iterator[Service]:
    with running_valkey() as valkey, Service(valkey, SLOW_HEARTBEAT) as running:
        running.start("ingest", "api")
        yield running


@pytest.fixture
def line(slow_service: Service) -> Iterator[FaultProxy]:
    """Yields a proxy between page and service."""
    with FaultProxy(lambda: socket.create_connection(("127.0.0.1", slow_service.port))) as proxy:
        yield proxy


@pytest.mark.parametrize(
    ("browser", "event"),
    [
        ("chromium", "window.dispatchEvent(new Event('offline'))"),
        ("chromium", "window.dispatchEvent(new Event('online'))"),
        ("chromium", "document.dispatchEvent(new Event('visibilitychange'))"),
        ("firefox", "document.dispatchEvent(new Event('visibilitychange'))"),
    ],
    indirect=["browser"],
)
def test_a_dead_connection_is_detected_when_the_network_changes(
    browser: Browser, line: FaultProxy, event: str
) -> None:
    """After a change of network a ping without pong ends the connection: values dim, one banner."""
    with open_page(browser, f"http://127.0.0.1:{line.port}", panes=PANES) as page:
        wait_for_price(page)
        for feed in ("market", "crypto", "doviz"):
            wait_for_live(page, feed)
        price = page.locator("[data-kind=watchlist] tr", has_text="AAPL").locator("td.price")
        watched = page.locator("[data-kind=watchlist] td.price").first
        bright = str(watched.evaluate("(cell) => getComputedStyle(cell).color"))
        line.truncate_after = 0
        line.swallow(b"GET")
        page.evaluate(event)
        page.locator(".feed[data-feed=market][data-state=connecting]").wait_for()
        banner = page.locator(".banner")
        expect(banner).to_have_count(1)
        expect(banner).to_contain_text(re.compile(r"Stocks.*no connection since \d"), timeout=DEADLINE_MS)
        expect(banner).to_be_in_viewport(ratio=1)
        expect(price).to_contain_text(re.compile(r"\d"))
        expect(watched).not_to_have_css("color", bright)
        line.truncate_after = None
        wait_for_live(page)
        expect(banner).to_be_empty()
        expect(watched).to_have_css("color", bright)


def answer_closed(route: Route) -> None:
    """Answers as the service does on a weekend, with another provider's delayed data."""
    answer = fetched(route)
    status = answer.json()
    status |= {"marketOpen": False, "session": "closed"}
    status |= {"nextOpen": "2026-11-23T14:30:00.000Z", "nextClose": "2026-11-23T21:00:00.000Z"}
    status["feeds"]["stocks"] |= {"provider": "alpaca", "simulated": False, "delaySeconds": 900}
    route.fulfill(response=answer, json=status)


@pytest.mark.parametrize(
    ("browser", "width"), [("chromium", 390), ("chromium", 1600), ("firefox", 390)], indirect=["browser"]
)
def test_a_closed_market_says_when_it_opens(browser: Browser, slow_service: Service, width: int) -> None:
    """A closed market shows its opening in the user's time zone, with the provider and its delay."""
    viewport = {"width": width, "height": 844}
    settings: dict[str, Any] = {"viewport": viewport, "timezone_id": "America/New_York"}
    with open_page(browser, "about:blank", panes=PANES, **settings) as page:
        page.route("**/api/market/status", answer_closed)
        page.goto(slow_service.url)
        stocks = page.locator(".feed[data-feed=market]")
        for text in ("closed", r"opens Mon,?\s09:30\sAM", "Alpaca", "15 min late"):
            text_line = stocks.get_by_text(re.compile(text))
            expect(text_line).to_be_visible(timeout=DEADLINE_MS)
            expect(text_line).to_be_in_viewport()
