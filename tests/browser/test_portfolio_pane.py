"""Values of a user's holdings in the portfolio pane."""

import re
import secrets
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from support.servers.opened_page import log_in, panes_of, wait_for_price
from support.servers.service import Service

pytestmark = pytest.mark.browser

PANES = panes_of("watchlist", "chart", "portfolio")

HOLDINGS = "/api/portfolio/holdings"


def number(text: str | None) -> float:
    """Returns the first number of a text in English notation."""
    found = re.search(r"[\d,]+\.\d+", text or "")
    assert found, text
    return float(found[0].replace(",", ""))


@pytest.fixture
def user(service: Service) -> dict[str, Any]:
    """A registered user: the email, and the headers of the account."""
    email = f"{secrets.token_hex(6)}@example.com"
    body = {"name": "Ada", "email": email, "password": "correct horse battery"}
    token = service.post("/api/auth/register", json=body).json()["token"]
    return {"email": email, "headers": {"Authorization": f"Bearer {token}"}}


def hold(service: Service, user: dict[str, Any], ticker: str, currency: str, cost: float = 1) -> None:
    """Adds a holding of one share or unit."""
    body = {"ticker": ticker, "shares": 1, "avg_cost": cost, "currency": currency}
    assert service.post(HOLDINGS, json=body, headers=user["headers"]).status_code == 201


def portfolio(page: Page, user: dict[str, Any]) -> Locator:
    """Yields the pane with the user's holdings."""
    log_in(page, user["email"])
    pane = page.locator("[data-kind=portfolio]")
    pane.scroll_into_view_if_needed()
    pane.locator("tbody tr").first.wait_for()
    return pane


def test_a_pair_in_tethers_has_a_value_in_dollars(page: Page, service: Service, user: dict[str, Any]) -> None:
    """A pair in tethers has a value in dollars; the pane names the rates and their times."""
    hold(service, user, "BTC/USDT", "USD")
    pane = portfolio(page, user)
    value = pane.locator("tbody td", has_text="USD")
    expect(value).to_have_text(re.compile(r"\d,\d{3}\.\d\d USD"))
    (holding,) = service.get(f"{HOLDINGS}?include=quote", headers=user["headers"]).json()
    # The market moves between the two reads.
    assert number(value.text_content()) == pytest.approx(holding["market_value"], rel=0.05)
    expect(pane).to_contain_text(re.compile(r"1 USDT = 4\d\.\d+ TRY \(USDT/TRY, \d"))


def test_holdings_have_one_total_in_the_chosen_currency(
    page: Page, service: Service, user: dict[str, Any]
) -> None:
    """Holdings have one total in the chosen currency; the pane names the holdings that it leaves out."""
    for ticker, currency in (("AAPL", "USD"), ("gram-altin", "TRY"), ("EUR", "USD"), ("NOPE", "USD")):
        hold(service, user, ticker, currency)
    pane = portfolio(page, user)
    pane.get_by_label("Currency").first.select_option("TRY")
    total = pane.locator(".sum strong")
    expect(total).to_have_text(re.compile("TRY"))
    listed = service.get(f"{HOLDINGS}?include=quote&currency=TRY", headers=user["headers"]).json()
    worth = sum(each["converted"]["market_value"] for each in listed if each["converted"])
    assert number(total.text_content()) == pytest.approx(worth, rel=0.05)
    expect(pane).to_contain_text("Not in the total: NOPE (No feed knows this symbol)")


def test_a_holding_opens_as_its_own_kind(page: Page, service: Service, user: dict[str, Any]) -> None:
    """A click on a holding opens its own kind: gold opens as gold, not as the stock ONS."""
    hold(service, user, "ons", "USD")
    wait_for_price(page)
    pane = portfolio(page, user)
    pane.get_by_role("button", name="ons", exact=True).click()
    chart = page.locator("[data-kind=chart]")
    expect(chart.locator("h3")).to_have_text("ons")
    expect(chart.locator(".plot .legend")).to_have_text(re.compile(r"C \d"))


def test_an_unknown_symbol_is_marked_and_opens_nothing(
    page: Page, service: Service, user: dict[str, Any]
) -> None:
    hold(service, user, "NOPE", "USD")
    pane = portfolio(page, user)
    expect(pane.get_by_title("No feed knows this symbol")).to_have_text("NOPE ?")
    pane.get_by_title("No feed knows this symbol").click()
    expect(page.locator("[data-kind=chart] h3")).to_have_text("AAPL")


def test_a_failed_removal_shows_a_message(page: Page, service: Service, user: dict[str, Any]) -> None:
    """A failed removal leaves the holding in the table and shows a message."""
    hold(service, user, "AAPL", "USD")
    pane = portfolio(page, user)
    page.route(f"**{HOLDINGS}/*", lambda route: route.fulfill(status=500, json={"detail": "Out of order"}))
    pane.get_by_role("button", name="Remove AAPL").click()
    expect(page.get_by_role("alert")).to_contain_text("Out of order")
    expect(pane.locator("tbody tr")).to_have_count(1)


def test_a_removal_is_undone_after_a_failure(page: Page, service: Service, user: dict[str, Any]) -> None:
    """The offer to undo stays while the service is out of order, also beside an empty portfolio."""
    hold(service, user, "AAPL", "USD")
    pane = portfolio(page, user)
    pane.get_by_role("button", name="Remove AAPL").click()
    expect(pane).to_contain_text("No holdings yet")
    page.route(f"**{HOLDINGS}", lambda route: route.fulfill(status=500, json={"detail": "Out of order"}))
    pane.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("alert")).to_contain_text("Out of order")
    page.unroute(f"**{HOLDINGS}")
    pane.get_by_role("button", name="Undo").click()
    expect(pane.locator("tbody tr")).to_have_count(1)
    expect(pane.get_by_role("button", name="Undo")).to_have_count(0)
