"""The terminal where users see more than everybody: a login opens feeds, a logout closes them."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from support.servers.opened_page import address, panes_of, register, wait_for_live
from support.servers.service import Service
from support.servers.terminal_service import Databases, terminal_service

pytestmark = pytest.mark.browser
PANES = panes_of("watchlist", "movers")

PLANS = """
[plans.anonymous]
feeds = ["doviz"]

[plans.user]
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, databases: Databases) -> Iterator[Service]:
    """Runs one worker and one ingest with a plan for everybody and another for users."""
    plans = tmp_path_factory.mktemp("plans") / "plans.toml"
    plans.write_text(PLANS)
    settings = {
        "QUOTECAST_DATABASE_URL": databases.new(),
        "QUOTECAST_PLANS": str(plans),
        "QUOTECAST_LIMIT_AUTH": "100",
        "QUOTECAST_LIMIT_TERMINAL": "1000",
    }
    with terminal_service(settings) as running:
        yield running


LIVE_STOCKS = ".feed[data-feed=market][data-state=live]"


def test_a_login_opens_feeds_in_every_window_and_a_logout_closes_them(page: Page) -> None:
    """No window loads again; panes ask again."""
    windows = [page, page.context.new_page()]
    windows[1].goto(page.url)
    for window in windows:
        wait_for_live(window, "doviz")
        expect(window.locator(LIVE_STOCKS)).to_have_count(0)
        expect(window.locator("[data-kind=movers]")).to_contain_text('Plan "anonymous" includes doviz only')
    register(page, address(page.context.browser, "member"))
    for window in windows:
        wait_for_live(window)
        window.locator("[data-kind=movers] tbody tr").first.wait_for()
    page.get_by_role("button", name="Log out").click()
    for window in windows:
        expect(window.locator(LIVE_STOCKS)).to_have_count(0)
        wait_for_live(window, "doviz")
        expect(window.locator("[data-kind=movers]")).to_contain_text('Plan "anonymous" includes doviz only')
