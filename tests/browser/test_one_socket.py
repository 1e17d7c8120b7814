"""The terminal page follows three feeds over one WebSocket, each through outages of its own."""

import contextlib
import signal
import socket
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from support.runs.deadlines import scaled
from support.servers.browsers import both_browsers
from support.servers.fault_proxy import FaultProxy
from support.servers.opened_page import (
    address,
    eventually,
    open_page,
    register,
    wait_for_live,
    wait_for_price,
)
from support.servers.processes import Valkey, running_valkey
from support.servers.service import Service

pytestmark = pytest.mark.browser

FEEDS: Final = ("market", "crypto", "doviz")
#: The page ends a socket that is silent for two heartbeats: a busy machine must not look so.
SETTINGS: Final = {"QUOTECAST_HEARTBEAT_MS": "15000", "QUOTECAST_LIMIT_MARKET": "1000"}
#: Of two ingests, so that a test can stop the crypto feed alone.
ALL_BUT_CRYPTO: Final = {"QUOTECAST_CRYPTO": "none"}
ONLY_CRYPTO: Final = {"QUOTECAST_STOCKS": "none", "QUOTECAST_DOVIZ": "none"}
HAS_MOVED: Final = """([feed, before]) =>
    document.querySelector(`.feed[data-feed=${feed}]`).dataset.cursor !== before"""


@pytest.fixture
def valkey() -> Iterator[Valkey]:
    """Yields a bus that has no feed's data."""
    with running_valkey() as running:
        yield running


@contextlib.contextmanager
def line_to(service: Service) -> Iterator[FaultProxy]:
    """Yields a proxy, which sees every connection of the page."""
    with FaultProxy(lambda: socket.create_connection(("127.0.0.1", service.port))) as line:
        yield line


def open_tables(browser: Browser, line: FaultProxy) -> contextlib.AbstractContextManager[Page]:
    """Returns the page with tables of all feeds, without a chart."""
    url = f"http://127.0.0.1:{line.port}"
    panes = [
        {"id": kind, "kind": kind, "x": 4 * index, "y": 0, "w": 4, "h": 14}
        for index, kind in enumerate(("watchlist", "crypto", "doviz"))
    ]
    return open_page(browser, url, panes=panes)


def sockets(line: FaultProxy) -> list[bytes]:
    """Returns the handshakes of all WebSockets that the page has opened."""
    sent = (bytes(link.sent) for link in line.links)
    return [each for each in sent if each.startswith(b"GET /api/ws")]


def wait_for_updates(page: Page, *feeds: str) -> None:
    """Waits until each feed is live and brings an update."""
    for feed in feeds:
        wait_for_live(page, feed)
    cursors = {
        feed: page.locator(f".feed[data-feed={feed}][data-cursor]").get_attribute("data-cursor")
        for feed in feeds
    }
    for feed, cursor in cursors.items():
        page.wait_for_function(HAS_MOVED, arg=[feed, cursor])


def wait_for_state(page: Page, feed: str, state: str) -> None:
    page.locator(f".feed[data-feed={feed}][data-state={state}]").wait_for()


@both_browsers
def test_three_feeds_share_a_socket(browser: Browser, service: Service) -> None:
    """The page follows all feeds over one WebSocket, in rows; a user who registers opens no other."""
    with line_to(service) as line, open_tables(browser, line) as page:
        wait_for_price(page)
        wait_for_updates(page, *FEEDS)
        # The answer decides whether the page opens another socket.
        with page.expect_response("**/api/auth/ticket"):
            register(page, address(browser, "socket"))
        wait_for_updates(page, *FEEDS)
        (handshake,) = sockets(line)
        assert handshake.startswith(b"GET /api/ws HTTP/1.1\r\n")
        assert b"sec-websocket-protocol: quotecast.v1.rows\r\n" in handshake.lower()


@both_browsers
def test_a_chart_has_a_socket_of_its_own(browser: Browser, service: Service) -> None:
    """The chart's live bars come over a second WebSocket, which closes with the chart."""

    def is_open(number: int) -> bool:
        links = [link for link in line.links if link.sent.startswith(b"GET /api/ws")]
        return len(links) == 2 and links[number].client.fileno() != -1

    with line_to(service) as line, open_page(browser, f"http://127.0.0.1:{line.port}") as page:
        wait_for_updates(page, *FEEDS)
        eventually(page, lambda: is_open(1), "the chart has no socket")
        page.get_by_role("button", name="Close Chart").click()
        eventually(page, lambda: not is_open(1), "the chart's socket stays open")
        assert is_open(0)
        wait_for_updates(page, *FEEDS)


def test_all_feeds_resume_after_a_restart(browser: Browser, service: Service) -> None:
    """When its worker restarts, the page reconnects once, and all feeds go on."""
    with line_to(service) as line, open_tables(browser, line) as page:
        wait_for_updates(page, *FEEDS)
        before = service.processes[-1]
        service.start("api")
        before.send_signal(signal.SIGTERM)
        before.wait(scaled(30))
        eventually(page, lambda: len(sockets(line)) == 2, "the page does not reconnect")
        wait_for_updates(page, *FEEDS)
        assert len(sockets(line)) == 2


def test_an_outage_of_one_feed_leaves_the_others_live(browser: Browser, valkey: Valkey) -> None:
    """A feed without data comes alive by itself, and is stale alone; the socket stays the same."""
    with Service(valkey, SETTINGS) as service, line_to(service) as line:
        service.launch("ingest", ALL_BUT_CRYPTO)
        service.launch("api")
        service.until_ready(2)
        with open_tables(browser, line) as page:
            wait_for_updates(page, "market", "doviz")
            wait_for_state(page, "crypto", "down")
            crypto = service.launch("ingest", ONLY_CRYPTO)
            wait_for_updates(page, "crypto")
            crypto.send_signal(signal.SIGSTOP)
            wait_for_state(page, "crypto", "stale")
            banner = page.locator(".banner")
            expect(banner).to_contain_text("Crypto")
            wait_for_updates(page, "market", "doviz")
            crypto.send_signal(signal.SIGCONT)
            wait_for_updates(page, *FEEDS)
            expect(banner).to_be_empty()
        assert len(sockets(line)) == 1


def test_a_feed_without_a_provider_is_refused_alone(browser: Browser, valkey: Valkey) -> None:
    """The page says so, and goes on with the other feeds."""
    with Service(valkey, SETTINGS | {"QUOTECAST_DOVIZ": "none"}) as service, line_to(service) as line:
        service.start("ingest", "api")
        with open_tables(browser, line) as page:
            wait_for_updates(page, "market", "crypto")
            wait_for_state(page, "doviz", "refused")
        assert len(sockets(line)) == 1
