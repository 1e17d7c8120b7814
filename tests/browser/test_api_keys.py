"""API keys in the dialog of the account: make, copy, rotate and revoke one."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from support.clients.axe import violations
from support.runs.deadlines import scaled
from support.servers.opened_page import address, open_page, panes_of, register
from support.servers.service import Service

pytestmark = pytest.mark.browser
PANES = panes_of("watchlist")

TOKEN = "JSON.parse(localStorage.getItem('quotecast.session')).token"
SECRET = re.compile(r"^qc_live_[0-9a-f]{24}_[A-Za-z0-9_-]{43}$")


def keys_of(page: Page, service: Service) -> Any:
    """Returns the keys of the page's user, as the service lists them."""
    headers = {"Authorization": f"Bearer {page.evaluate(TOKEN)}"}
    return httpx.get(f"{service.url}/api/keys", headers=headers, timeout=scaled(30)).json()


def opened(page: Page) -> Locator:
    """Opens the dialog of the account, and returns the section of keys."""
    page.get_by_role("button", name=re.compile("Account of")).click()
    return page.get_by_role("region", name="API keys")


def make(section: Locator, name: str) -> None:
    """Opens the form, and fills in the name."""
    section.get_by_text("New API key").click()
    section.get_by_label("Name of the key").fill(name)


def test_a_new_key_is_shown_once_and_can_be_copied(browser: Browser, service: Service) -> None:
    """The service gets name, scope and end; the secret is gone with the dialog."""
    with open_page(
        browser, service.url, panes=PANES, permissions=["clipboard-read", "clipboard-write"]
    ) as page:
        register(page, address(browser, "keys"))
        section = opened(page)
        expect(section).to_contain_text("You have no API keys.")
        make(section, "Price ticker")
        day = (datetime.now(UTC) + timedelta(days=40)).date().isoformat()
        section.get_by_label(re.compile("Last day")).fill(day)
        section.get_by_role("checkbox", name="Stocks").check()
        section.get_by_label(re.compile("Symbols")).fill("AAPL, sector:Energy")
        section.get_by_role("button", name="Make key").click()
        field = section.get_by_label(re.compile("not shown again"))
        expect(field).to_be_focused()
        secret = field.input_value()
        assert SECRET.match(secret)
        section.get_by_role("button", name="Copy").click()
        expect(section.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == secret
        (key,) = keys_of(page, service)
        assert (key["name"], key["scope"]["feeds"]) == ("Price ticker", ["market"])
        assert {symbol.casefold() for symbol in key["scope"]["symbols"]} == {"aapl", "sector:energy"}
        assert key["expires_at"][:10] >= day
        row = section.get_by_role("listitem")
        for text in ("Price ticker", key["key"], "active", "expires", "AAPL"):
            expect(row).to_contain_text(text)
        page.get_by_role("dialog").get_by_role("button", name="Close").click()
        section = opened(page)
        expect(section.get_by_role("listitem")).to_have_count(1)
        assert secret not in page.content()


def test_a_rotated_key_leaves_the_old_one_some_time(page: Page, service: Service) -> None:
    register(page, address(page.context.browser, "rotates"))
    section = opened(page)
    make(section, "Server")
    section.get_by_role("button", name="Make key").click()
    field = section.get_by_label(re.compile("not shown again"))
    first = field.input_value()
    section.get_by_role("listitem").get_by_text("Rotate").click()
    section.get_by_label("Old key works for").select_option("1 hour")
    section.get_by_role("button", name="Make new key").click()
    expect(field).not_to_have_value(first)
    expect(field).to_be_focused()
    expect(section.get_by_role("listitem")).to_contain_text("old key works until")
    (key,) = keys_of(page, service)
    left = datetime.fromisoformat(key["previous_until"]) - datetime.now(UTC)
    assert timedelta(minutes=55) < left <= timedelta(hours=1)


def test_a_key_is_revoked_after_a_confirmation(page: Page, service: Service) -> None:
    """The list still shows it; a revoked key has no buttons, and its secret leaves the page."""
    register(page, address(page.context.browser, "revokes"))
    section = opened(page)
    make(section, "Old program")
    section.get_by_role("button", name="Make key").click()
    row = section.get_by_role("listitem")
    row.get_by_text("Revoke", exact=True).click()
    expect(row).to_contain_text("stop at once")
    assert keys_of(page, service)[0]["revoked_at"] is None
    row.get_by_role("button", name="Revoke key Old program").click()
    # The confirmation has the word too.
    expect(row.get_by_role("button")).to_have_count(0)
    expect(row).to_contain_text("revoked")
    assert keys_of(page, service)[0]["revoked_at"]
    expect(row).to_be_focused()
    expect(section.get_by_label(re.compile("not shown again"))).to_have_count(0)


def test_a_key_that_the_service_rejects_has_its_reason_shown(page: Page) -> None:
    register(page, address(page.context.browser, "rejects"))
    section = opened(page)
    make(section, "Wrong")
    section.get_by_label(re.compile("Symbols")).fill("A$B")
    section.get_by_role("button", name="Make key").click()
    expect(section.get_by_role("alert")).to_contain_text("symbols")
    expect(section.get_by_label("Name of the key")).to_have_value("Wrong")


@pytest.mark.parametrize(("language", "title"), [("en", "API keys"), ("tr", "API anahtarları")])
def test_the_section_is_accessible(browser: Browser, service: Service, language: str, title: str) -> None:
    """With all of its parts open, and in both languages."""
    with open_page(browser, service.url, panes=PANES) as page:
        register(page, address(browser, f"axe-{language}"))
        page.evaluate(
            "language => localStorage.setItem('quotecast.language', JSON.stringify(language))", language
        )
        page.reload()
        page.locator("button.who").click()
        section = page.locator(".api-keys")
        expect(section.get_by_role("heading")).to_have_text(title)
        section.locator("summary").click()
        section.locator("[name=name]").fill("Key")
        section.locator("button[type=submit]").click()
        section.locator(".secret").wait_for()
        section.locator("li summary").first.wait_for()
        for summary in section.locator("li summary").all():
            summary.click()
        assert violations(page) == []
