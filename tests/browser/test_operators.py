"""The operator's page: sign in with a code, watch the processes, revoke a key and read the log."""

import base64
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from websockets.exceptions import ConnectionClosed

from quotecast.operators.totp import STEP_SECONDS, code_of
from support.clients.axe import violations
from support.made.web_files import WEB
from support.runs.deadlines import scaled
from support.servers.browsers import both_browsers
from support.servers.opened_page import address, open_page
from support.servers.service import Service
from support.servers.terminal_service import Databases, terminal_service
from support.stages.account_service import PASSWORD

pytestmark = pytest.mark.browser

SECRET = "a secret of tests, known to everybody"


@pytest.fixture(scope="module")
def settings(databases: Databases) -> dict[str, str]:
    """Returns the settings that the service and the operators' command share."""
    return {"QUOTECAST_DATABASE_URL": databases.new(), "QUOTECAST_JWT_SECRET": SECRET}


@pytest.fixture(scope="module")
def service(settings: dict[str, str]) -> Iterator[Service]:
    """Runs one worker and one ingest with the operator's page."""
    more = {"QUOTECAST_ADMIN": "on", "QUOTECAST_LIMIT_AUTH": "100", "QUOTECAST_LIMIT_ADMIN": "1000"}
    with terminal_service(settings | more) as running:
        yield running


def registered(service: Service, email: str) -> dict[str, Any]:
    body = {"name": "Ada", "email": email, "password": PASSWORD}
    answer = service.post("/api/auth/register", json=body)
    assert answer.status_code == 201, answer.text
    session: dict[str, Any] = answer.json()
    return session


def make_operator(settings: dict[str, str], email: str) -> bytes:
    """Gives a registered user the role; returns the secret of their codes."""
    printed = subprocess.run(
        [sys.executable, "-m", "quotecast", "operators", "add", email, "--totp"],
        env={**os.environ, **settings},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return base64.b32decode(printed.splitlines()[2])


def sign_in(page: Page, email: str, secret: bytes) -> None:
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Code of your app").fill(code_of(secret, int(time.time()) // STEP_SECONDS))
    page.get_by_role("button", name="Sign in").click()


def close_code(connection: Any) -> int | None:
    """Reads a socket to its end; returns the close code."""
    try:
        while True:
            connection.recv(timeout=scaled(60))
    except ConnectionClosed:
        return int(connection.close_code)


@both_browsers
def test_operator_revokes_a_key(browser: Browser, service: Service, settings: dict[str, str]) -> None:
    """Its socket closes with 4401, and the log has the line."""
    email, owner = address(browser, "operator"), address(browser, "owner")
    registered(service, email)
    token = registered(service, owner)["token"]
    name = f"Lobby of {browser.browser_type.name}"
    headers = {"Authorization": f"Bearer {token}"}
    key = service.post("/api/keys", headers=headers, json={"name": name}).json()
    secret = make_operator(settings, email)
    with_key = {"additional_headers": {"X-API-Key": key["secret_key"]}}
    with (
        service.feed("/api/ws/market?symbols=AAPL", **with_key) as feed,
        open_page(browser, f"{service.url}/admin") as page,
    ):
        assert violations(page) == []
        sign_in(page, email, secret)
        feeds = page.get_by_role("region", name="Feeds and leases")
        for text in ("stocks", "live", "simulator"):
            expect(feeds).to_contain_text(text)
        expect(page.get_by_role("region", name="Sockets by key")).to_contain_text(name)
        expect(page.get_by_role("region", name="Workers").locator("tbody tr")).to_have_count(1)
        assert violations(page) == []
        page.get_by_role("link", name="Keys").click()
        row = page.get_by_role("row").filter(has_text=name)
        expect(row).to_contain_text(owner)
        page.get_by_role("button", name=f"Revoke {name}").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("never works again")
        assert violations(page) == []
        dialog.get_by_role("button", name="Revoke", exact=True).click()
        expect(row).to_contain_text("revoked")
        assert close_code(feed.connection) == 4401
        page.get_by_role("link", name="Log").click()
        newest = page.get_by_role("row").filter(has_text="keys.revoke").first
        for text in (email, name, "done"):
            expect(newest).to_contain_text(text)
        assert violations(page) == []
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        assert page.evaluate("sessionStorage.length") == 0


def test_operator_disables_a_user(browser: Browser, service: Service, settings: dict[str, str]) -> None:
    """The user's token ends; a reload keeps the operator signed in, another tab is not."""
    email, other = address(browser, "disables"), address(browser, "disabled")
    registered(service, email)
    token = registered(service, other)["token"]
    secret = make_operator(settings, email)
    with open_page(browser, f"{service.url}/admin#users") as page:
        sign_in(page, email, secret)
        page.get_by_role("searchbox").fill(other)
        page.get_by_role("button", name="Find").click()
        rows = page.get_by_role("region", name="Users").locator("tbody tr")
        expect(rows).to_have_count(1)
        page.get_by_role("button", name=f"Disable {other}").click()
        page.get_by_role("dialog").get_by_role("button", name="Disable", exact=True).click()
        # The email has the word of the state in it.
        expect(rows.first.get_by_role("button", name=f"Enable {other}")).to_be_visible()
        headers = {"Authorization": f"Bearer {token}"}
        assert service.get("/api/auth/profile", headers=headers).status_code == 401
        page.reload()
        expect(page.get_by_role("region", name="Users")).to_be_visible()
        second = page.context.new_page()
        second.goto(f"{service.url}/admin")
        expect(second.get_by_role("button", name="Sign in")).to_be_visible()
        second.close()


def test_wrong_code_is_refused(browser: Browser, service: Service, settings: dict[str, str]) -> None:
    """The form says what is wrong without saying which, in Turkish too; the code's field is empty again."""
    email = address(browser, "wrong")
    registered(service, email)
    make_operator(settings, email)
    with open_page(browser, f"{service.url}/admin") as page:
        sign_in(page, email, b"another secret")
        expect(page.get_by_role("alert")).to_contain_text("Email, password or code is wrong")
        expect(page.get_by_label("Code of your app")).to_have_value("")
        page.get_by_role("button", name="Türkçe").click()
        expect(page.get_by_role("button", name="Giriş yap")).to_be_visible()


def test_service_worker_leaves_the_page_alone() -> None:
    """The page comes from the network each time: the terminal's service worker stores none of its files."""
    worker = (WEB / "dist/sw.js").read_text("utf-8")
    assert "/assets/terminal-" in worker
    assert "/admin" not in worker
