"""The dialog of the account: name, password, sessions, and deletion."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from support.servers.opened_page import log_in, open_page, panes_of, register
from support.servers.service import Service

pytestmark = pytest.mark.browser
PANES = panes_of("watchlist")

PROFILE = "/api/auth/profile"
PASSWORD = "correct horse battery"
TOKEN = "JSON.parse(localStorage.getItem('quotecast.session')).token"


def opened(page: Page) -> Locator:
    page.get_by_role("button", name=re.compile("Account of")).click()
    dialog = page.get_by_role("dialog", name=re.compile("Account of"))
    dialog.get_by_role("heading", name="Sessions").wait_for()
    return dialog


def status_of(service: Service, token: str) -> int:
    return service.get(PROFILE, headers={"Authorization": f"Bearer {token}"}).status_code


def test_a_name_and_a_password_change(page: Page, service: Service) -> None:
    """A wrong password says so and ends nothing; a right one ends the other sessions, not this page's."""
    register(page, "changes@dialog.example.com")
    body = {"email": "changes@dialog.example.com", "password": PASSWORD}
    other = service.post("/api/auth/login", json=body).json()["token"]
    dialog = opened(page)
    dialog.get_by_role("textbox", name="Name", exact=True).fill("Ada Lovelace")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("button.who")).to_have_text("Ada Lovelace")
    form = dialog.get_by_role("form", name="Change password")
    for current, text in (("wrong horse", "The password is wrong"), (PASSWORD, "Your password is changed")):
        form.get_by_label("Current password").fill(current)
        form.get_by_label(re.compile("New password")).fill("another horse")
        form.get_by_role("button", name="Change password").click()
        expect(form).to_contain_text(text)
    assert status_of(service, other) == 401
    assert status_of(service, page.evaluate(TOKEN)) == 200
    expect(dialog.locator(".sessions li")).to_have_count(1)
    expect(dialog.locator(".sessions li")).to_contain_text("this session")


def test_a_session_ends_where_it_is_listed(browser: Browser, page: Page, service: Service) -> None:
    """The other browser is logged out with its next request."""
    register(page, "sessions@dialog.example.com")
    with open_page(browser, service.url, panes=PANES, user_agent="Phone/1.0") as phone:
        log_in(phone, "sessions@dialog.example.com")
        dialog = opened(page)
        expect(dialog.locator(".sessions li")).to_have_count(2)
        dialog.get_by_role("button", name="End session Phone/1.0").click()
        expect(dialog.locator(".sessions li")).to_have_count(1)
        phone.reload()
        expect(phone.get_by_role("banner").get_by_role("button", name="Log in")).to_be_visible()
    assert status_of(service, page.evaluate(TOKEN)) == 200


def test_an_account_is_deleted_once_its_email_is_typed(page: Page, service: Service) -> None:
    register(page, "gone@dialog.example.com")
    token = page.evaluate(TOKEN)
    deletions: list[str] = []
    page.on("request", lambda request: deletions.append(request.url) if request.method == "DELETE" else None)
    dialog = opened(page)
    dialog.get_by_text("Delete account").first.click()
    form = dialog.get_by_role("form", name="Delete account")
    form.get_by_label("Current password").fill(PASSWORD)
    form.get_by_label(re.compile("to confirm")).fill("somebody@else.example.com")
    form.get_by_role("button", name="Delete account").click()
    form.get_by_label(re.compile("to confirm")).fill("Gone@dialog.example.com")
    form.get_by_role("button", name="Delete account").click()
    expect(page.get_by_role("banner").get_by_role("button", name="Log in")).to_be_visible()
    assert status_of(service, token) == 401
    assert len(deletions) == 1, "the first email is another"
