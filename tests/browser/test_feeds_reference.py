"""The reference of feeds, /api/docs/feeds.html."""

import pytest
from playwright.sync_api import Page, expect

from support.servers.service import Service

pytestmark = pytest.mark.browser


def test_every_frame_of_all_feeds_is_described(blank_page: Page, service: Service) -> None:
    """The socket of all feeds names, for each message, its fields or the schemas that it may have."""
    blank_page.goto(f"{service.url}/api/docs/feeds.html")
    expect(blank_page.get_by_role("heading", name="All feeds on one socket")).to_be_visible()
    snapshots = "One of MarketSnapshot or CryptoSnapshot or DovizSnapshot"
    # Once for the message, once among the schemas.
    expect(blank_page.get_by_text(snapshots, exact=True)).to_have_count(2)
    for table in blank_page.locator("table").all():
        assert table.locator("td").count() > 0
