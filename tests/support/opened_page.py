"""The terminal as a reader has it open."""

import contextlib
import re
from collections.abc import Iterator
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM: Final = "/usr/bin/chromium"
FIREFOX: Final = "/usr/bin/firefox-esr"
#: Touch events as on a phone.
PREFERENCES: Final[dict[str, str | float | bool]] = {"dom.w3c_touch_events.enabled": 1}
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: Of what is waited for; a loaded machine is slow.
DEADLINE_MS: Final = 30_000


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A browser that asks nobody but the service."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def firefox() -> Iterator[Browser]:
    """Debian's own Firefox, which the channel's name makes Playwright drive over WebDriver BiDi.

    It emulates no colour scheme and enforces the content security policy: tests choose the page's own
    theme, and run scripts by `page.evaluate`.
    """
    with sync_playwright() as playwright:
        browser = playwright.firefox.launch(
            executable_path=FIREFOX, channel="moz-firefox", firefox_user_prefs=PREFERENCES
        )
        yield browser
        browser.close()


@contextlib.contextmanager
def opened(browser: Browser, url: str, **settings: Any) -> Iterator[Page]:
    """A page of a profile of its own, as if on a machine that was never here; it logs no error."""
    context = browser.new_context(
        **{"viewport": {"width": 1600, "height": 1000}, "locale": "en-US", **settings}
    )
    page = context.new_page()
    page.set_default_timeout(DEADLINE_MS)
    errors: list[str] = []
    # Firefox reports a socket that nobody answers as an error of the script.
    page.on("pageerror", lambda error: None if " ws://" in str(error) else errors.append(str(error)))
    page.on(
        "console", lambda message: errors.append(message.text) if "Content Security" in message.text else None
    )
    page.goto(url)
    yield page
    context.close()
    assert not errors, errors


def has_price(page: Page, symbol: str = "AAPL") -> None:
    """Waits until the watchlist shows a symbol's price."""
    cell = page.locator("[data-kind=watchlist] tbody tr", has_text=symbol).locator("td.price")
    page.wait_for_function("cell => /\\d/.test(cell.textContent)", arg=cell.element_handle())


def is_live(page: Page, feed: str = "market") -> None:
    """Waits until the status line says that a feed is live."""
    page.locator(f".feed[data-feed={feed}][data-state=live]").wait_for()


def address(browser: Browser | None, name: str) -> str:
    """An email of its own in each browser: all register at one service."""
    assert browser is not None, "a page of a test stands in a browser"
    return f"{name}@{browser.browser_type.name}.example.com"


def register(page: Page, email: str) -> None:
    """Makes an account through the page's own dialog."""
    page.get_by_role("banner").get_by_role("button", name="Log in").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Register").click()
    dialog.get_by_label("Your name").fill("Ada")
    _enter(page, email, "Register")


def log_in(page: Page, email: str) -> None:
    """Logs in through the page's own dialog."""
    page.get_by_role("banner").get_by_role("button", name="Log in").click()
    _enter(page, email, "Log in")


def _enter(page: Page, email: str, button: str) -> None:
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Email").fill(email)
    dialog.get_by_label(re.compile("Password")).fill("correct horse battery")
    dialog.locator("button[type=submit]", has_text=button).click()
    page.get_by_role("button", name="Log out").wait_for()
