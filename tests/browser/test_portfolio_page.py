"""The portfolio pane: purchases, their changes, allocation, value over time, and files."""

import re
import secrets
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from support.clients.axe import violations
from support.servers.opened_page import change_settings, log_in, open_page, panes_of
from support.servers.service import Service

pytestmark = pytest.mark.browser

PANES = panes_of("portfolio")

HOLDINGS = "/api/portfolio/holdings"
PASSWORD = "correct horse battery"
HEADER = "ticker,shares,avg_cost,bought_at,currency\r\n"


@pytest.fixture
def user(service: Service) -> dict[str, Any]:
    """A registered user: the email, and the headers of the account."""
    email = f"{secrets.token_hex(6)}@example.com"
    body = {"name": "Ada", "email": email, "password": PASSWORD}
    token = service.post("/api/auth/register", json=body).json()["token"]
    return {"email": email, "headers": {"Authorization": f"Bearer {token}"}}


def hold(service: Service, user: dict[str, Any], ticker: str, **more: Any) -> None:
    body = {"ticker": ticker, "shares": 1, "avg_cost": 1, "currency": "USD", **more}
    assert service.post(HOLDINGS, json=body, headers=user["headers"]).status_code == 201


def listed(service: Service, user: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = service.get(HOLDINGS, headers=user["headers"]).json()
    return found


def portfolio(page: Page, user: dict[str, Any]) -> Locator:
    log_in(page, user["email"])
    pane = page.locator("[data-kind=portfolio]")
    pane.scroll_into_view_if_needed()
    pane.get_by_role("button", name="Import CSV").wait_for()
    return pane


def view(pane: Locator, name: str) -> None:
    pane.get_by_role("radio", name=name, exact=True).click()


def test_a_symbol_is_picked_with_its_currency_and_a_date(
    page: Page, service: Service, user: dict[str, Any]
) -> None:
    """The arrows choose among the symbols that fit, and Enter takes one with its currency."""
    form = portfolio(page, user).get_by_role("form", name="Add holding")
    symbol = form.get_by_label("Symbol")
    symbol.fill("gram alt")
    expect(form.get_by_role("option", name=re.compile("gram-altin")).first).to_be_visible()
    symbol.press("ArrowDown")
    symbol.press("Enter")
    expect(form.locator(".picker li")).to_have_count(0)
    expect(symbol).to_have_value(re.compile("altin"))
    expect(form.get_by_label("Currency")).to_have_value("TRY")
    expect(form.get_by_label("Shares")).to_be_focused()
    page.keyboard.type("2.5")
    form.get_by_label("Avg cost").fill("3000")
    form.get_by_label("Bought").fill("2026-01-05")
    form.get_by_label("Bought").press("Enter")
    expect(page.locator("[data-kind=portfolio] tbody tr")).to_have_count(1)
    (holding,) = listed(service, user)
    assert (holding["shares"], holding["bought_at"], holding["currency"]) == (2.5, "2026-01-05", "TRY")


def test_purchases_open_change_and_come_back(page: Page, service: Service, user: dict[str, Any]) -> None:
    """By keyboard alone: one stop of Tab, arrows inside, edit, Escape, remove and undo."""
    hold(service, user, "MSFT", shares=5)
    hold(service, user, "AAPL", shares=2, avg_cost=10, bought_at="2026-01-05")
    hold(service, user, "AAPL", shares=3, avg_cost=20, bought_at="2026-02-05")
    pane = portfolio(page, user)
    rows = pane.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("5")
    expect(rows.first).to_contain_text("16.00")
    expect(pane.locator("tbody button[tabindex='0']")).to_have_count(1)
    pane.locator("tbody button[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    expect(pane.get_by_role("button", name="AAPL: 2 purchases")).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows).to_have_count(4)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Home")
    pane.get_by_role("button", name="Edit AAPL").last.focus()
    page.keyboard.press("Enter")
    form = pane.get_by_role("form", name="Edit holding AAPL")
    expect(form.get_by_label("Shares")).to_be_focused()
    page.keyboard.press("Escape")
    expect(form).to_have_count(0)
    pane.get_by_role("button", name="Edit AAPL").last.click()
    expect(form.get_by_label("Shares")).to_be_focused()
    # A price that moves must not take the focus from another field.
    form.get_by_label("Avg cost").focus()
    page.wait_for_function(
        "first => document.querySelector('[data-kind=portfolio] tbody [data-tone]').textContent !== first",
        arg=pane.locator("tbody [data-tone]").first.text_content(),
    )
    expect(form.get_by_label("Avg cost")).to_be_focused()
    form.get_by_label("Shares").fill("7.5")
    form.get_by_label("Shares").press("Enter")
    expect(rows.first).to_contain_text("10.5")
    assert sorted(each["shares"] for each in listed(service, user)) == [3, 5, 7.5]
    pane.get_by_role("button", name="Remove MSFT").click()
    expect(rows).to_have_count(3)
    pane.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(4)
    restored = next(each for each in listed(service, user) if each["ticker"] == "MSFT")
    assert (restored["shares"], restored["avg_cost"]) == (5, 1)


def test_allocation_and_value_over_time_are_text_too(
    page: Page, service: Service, user: dict[str, Any]
) -> None:
    hold(service, user, "AAPL", shares=2, bought_at="2026-01-05")
    hold(service, user, "BTC/USDT", shares=0.01, bought_at="2026-01-05")
    hold(service, user, "NOPE", bought_at="2026-01-05")
    pane = portfolio(page, user)
    view(pane, "Allocation")
    parts = pane.get_by_role("listitem")
    expect(parts).to_have_count(2)
    expect(parts.first).to_contain_text(re.compile(r"\d+\.\d%.*USD"))
    view(pane, "Type")
    expect(parts.filter(has_text="Crypto")).to_have_count(1)
    view(pane, "Value over time")
    expect(pane).to_contain_text("NOPE (no feed knows it)")
    line = pane.get_by_role("img", name=re.compile(r"Value from .* to .* USD, between"))
    notice = pane.get_by_text("There is no value in this range yet.")
    expect(line.or_(notice).first).to_be_visible()
    view(pane, "1M")
    expect(pane.get_by_role("radio", name="1M")).to_have_attribute("aria-checked", "true")


def test_a_file_is_checked_imported_and_exported(
    page: Page, service: Service, user: dict[str, Any], tmp_path: Path
) -> None:
    """A bad file names its lines and imports nothing; a good one is the export again."""
    pane = portfolio(page, user)
    pane.get_by_role("button", name="Import CSV").click()
    dialog = page.get_by_role("dialog", name="Import CSV")
    bad, good = tmp_path / "bad.csv", tmp_path / "good.csv"
    bad.write_text(HEADER + "AAPL,0,1,,\r\nAAPL,1,1,,TL\r\n")
    good.write_text(
        HEADER + "AAPL,0.1,187.5,2026-03-02,USD\r\ngram-altin,2,3000,2026-03-03,TRY\r\n", newline=""
    )
    dialog.get_by_label(re.compile("CSV file")).set_input_files(bad)
    expect(dialog.get_by_role("alert")).to_contain_text("Line 2, shares: Must be above 0")
    expect(dialog.get_by_role("alert")).to_contain_text("Line 3, currency")
    expect(dialog.locator("button[type=submit]")).to_be_disabled()
    dialog.get_by_label(re.compile("CSV file")).set_input_files(good)
    expect(dialog.get_by_role("status")).to_have_text("2 holdings are ready to import.")
    dialog.get_by_role("button", name="Import 2 holdings").click()
    # The dialog shows rows of its own.
    expect(dialog).to_have_count(0)
    expect(pane.locator("tbody tr")).to_have_count(2)
    assert len(listed(service, user)) == 2
    with page.expect_download() as download:
        pane.get_by_role("button", name="Export CSV").click()
    assert download.value.suggested_filename == "holdings.csv"
    assert Path(download.value.path()).read_bytes() == good.read_bytes()


@pytest.mark.parametrize(("language", "theme"), [("en", "dark"), ("tr", "light")])
def test_nothing_here_breaks_an_accessibility_rule(
    browser: Browser, service: Service, user: dict[str, Any], language: str, theme: str
) -> None:
    """WCAG 2.2 AA in every view and dialog, with both languages and themes."""
    hold(service, user, "AAPL", shares=2, bought_at="2026-01-05")
    hold(service, user, "AAPL", shares=2)
    hold(service, user, "NOPE")
    with open_page(browser, service.url, panes=PANES) as page:
        pane = portfolio(page, user)
        change_settings(page, language=language, theme=theme)
        pane.locator("tbody tr.group button").last.click()
        assert violations(page, "[data-kind=portfolio]") == []
        pane.locator("tbody .action button").first.click()
        assert violations(page, "[data-kind=portfolio]") == []
        for place in (1, 2):
            pane.locator(".tools [role=radio]").nth(place).click()
            pane.locator(".allocation, .value-history").first.wait_for()
            assert violations(page, "[data-kind=portfolio]") == []
        pane.locator(".files button").first.click()
        page.locator("dialog[open]").wait_for()
        assert violations(page, "dialog[open]") == []
        page.keyboard.press("Escape")
        page.locator("button.who").click()
        page.locator(".sessions li").first.wait_for()
        page.locator("dialog[open] summary").last.click()
        assert violations(page, "dialog[open]") == []
