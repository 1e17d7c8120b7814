"""The screener of the page."""

import re

import pytest
from playwright.sync_api import Page, expect

from browser.panes import pane
from support.servers.service import Service

pytestmark = pytest.mark.browser

#: Enters a price, and loads the page again as soon as the pane shows what fits.
LEAVE_WITH_A_PRICE = """async field => {
    const found = field.closest(".pane").querySelector("[role=status]");
    const shown = new Promise((resolve) => new MutationObserver(resolve).observe(
        found, { characterData: true, childList: true, subtree: true }));
    field.value = "100";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await shown;
    location.reload();
}"""


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
    expect(page).to_have_url(re.compile("sector=Energy"))
    with page.expect_navigation():
        screener.get_by_label("Price from").evaluate(LEAVE_WITH_A_PRICE)
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
