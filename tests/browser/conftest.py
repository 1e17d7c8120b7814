"""A running service with the built terminal page, and the browsers that open it."""

from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from support.made.web_files import WEB
from support.servers.browsers import Browsers, running_browsers
from support.servers.opened_page import DEADLINE_MS, open_page
from support.servers.service import Service
from support.servers.terminal_service import Databases, running_databases, terminal_service

expect.set_options(timeout=DEADLINE_MS)

#: Higher rate limits only where tests send more requests.
SETTINGS: Final = {
    # The page ends a socket that is silent for two heartbeats: a busy machine must not look so.
    "QUOTECAST_HEARTBEAT_MS": "15000",
    "QUOTECAST_LIMIT_MARKET": "1000",
    "QUOTECAST_LIMIT_AUTH": "100",
    "QUOTECAST_LIMIT_ALERTS": "300",
    "QUOTECAST_LIMIT_TERMINAL": "1000",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that run in Firefox."""
    for item in items:
        called = getattr(item, "callspec", None)
        if called and called.params.get("browser") == "firefox":
            item.add_marker("firefox")


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    """Makes databases for the services of this process."""
    assert (WEB / "dist/index.html").is_file(), "`just web` builds the page first"
    with running_databases() as running:
        yield running


@pytest.fixture(scope="session")
def service(databases: Databases) -> Iterator[Service]:
    """Runs the service that tests share; one that restarts its worker waits for the next."""
    with terminal_service({**SETTINGS, "QUOTECAST_DATABASE_URL": databases.new()}) as running:
        yield running


@pytest.fixture(scope="session")
def browsers() -> Iterator[Browsers]:
    """Yields the browsers of this process, one of each kind."""
    with running_browsers() as running:
        yield running


@pytest.fixture
def browser(request: pytest.FixtureRequest, browsers: Browsers) -> Browser:
    """Returns Chromium; a test with `both_browsers` has each of the two in turn."""
    return browsers.named(getattr(request, "param", "chromium"))


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Browser, service: Service) -> Iterator[Page]:
    """Yields the terminal page in a new profile, with all panes or the module's PANES."""
    with open_page(browser, service.url, panes=getattr(request.module, "PANES", None)) as page:
        yield page


@pytest.fixture
def blank_page(browser: Browser) -> Iterator[Page]:
    """Yields an empty page in a new profile, for tests of other pages than the terminal."""
    with open_page(browser, "about:blank") as page:
        yield page
