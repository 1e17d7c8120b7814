"""The screener of the page."""

import re

import pytest
from playwright.sync_api import Page, expect

from browser.panes import pane
from support.servers.service import Service

pytestmark = pytest.mark.browser


def test_the_screener_lists_what_fits(page: Page, service: Service) -> None:
    """Bounds, sectors and signals cut the market; pane and address remember them."""
    page.get_by_role("button", name="Add pane").click()
    page.get_by_role("group", name="Add pane").get_by_role("button", name="Screener").click()
    screener = pane(page, "screener")
    screener.scroll_into_view_if_needed()
    found = screener.get_by_role("status")
    expect(found).to_have_text("500 of 500")
    screener.get_by_label("Sector").select_option("Energy")
    sectors = service.get("/api/market/heatmap").json()["sectors"]
    energy = next(each for each in sectors if each["sector"] == "Energy")["stocks"]
    expect(found).to_have_text(f"{len(energy)} of 500")
    screener.get_by_label("Price from").fill("100")
    expect(found).not_to_have_text(f"{len(energy)} of 500")
    page.reload()
    screener.scroll_into_view_if_needed()
    expect(screener.get_by_label("Price from")).to_have_value("100")
    prices = screener.locator("td.price:not(:empty)")
    prices.first.wait_for()
    assert all(float(text.replace(",", "")) > 99 for text in prices.all_text_contents())
    expect(page).to_have_url(re.compile("sector=Energy&minPrice=100"))
    page.evaluate("localStorage.clear()")
    page.goto(page.url)
    expect(screener.get_by_label("Sector")).to_have_value("Energy")
    expect(screener.get_by_label("Price from")).to_have_value("100")
    screener.get_by_role("button", name="Close Screener").click()
    expect(page).not_to_have_url(re.compile("Energy"))
