"""A running service with the built terminal page, and Debian's Chromium and Firefox."""

import asyncio
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from quotecast.accounts import migrations
from support.opened_page import DEADLINE_MS, chromium, firefox, open_page
from support.servers import running_postgres, running_valkey
from support.service import Service
from support.web_files import WEB

expect.set_options(timeout=DEADLINE_MS)


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    """Runs one worker and one ingest, with higher rate limits only where tests send more requests."""
    assert (WEB / "dist/index.html").is_file(), "`just web` builds the page first"
    with running_valkey() as valkey, running_postgres() as postgres:
        asyncio.run(migrations.apply(postgres.url))
        settings = {
            "QUOTECAST_DATABASE_URL": postgres.url,
            "QUOTECAST_HEARTBEAT_MS": "1000",
            "QUOTECAST_LIMIT_MARKET": "1000",
            "QUOTECAST_LIMIT_AUTH": "100",
            "QUOTECAST_LIMIT_ALERTS": "300",
            "QUOTECAST_LIMIT_TERMINAL": "1000",
        }
        with Service(valkey, settings) as running:
            running.start("ingest", "api")
            yield running


@pytest.fixture(scope="module", params=[chromium, firefox], ids=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Yields each of the two browsers in turn."""
    with request.param() as running:
        yield running


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    """Yields the terminal page in a new profile."""
    with open_page(browser, service.url) as page:
        yield page
