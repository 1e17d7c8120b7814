"""The terminal page in a browser."""

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from support.servers.service import Service

LAYOUT: Final = "/api/terminal/layout"
#: Stores a layout before the page starts for the first time.
STORE_LAYOUT: Final = """if (location.protocol === "http:" && !localStorage.getItem("quotecast.layout"))
    localStorage.setItem("quotecast.layout", JSON.stringify(%s));"""
#: Timeout of waits, in milliseconds; a loaded machine is slow.
DEADLINE_MS: Final = 60_000


def panes_of(*kinds: str, y: int = 0) -> list[dict[str, Any]]:
    """Returns panes beside each other: a page of few panes loads with half the work of all."""
    width = 12 // len(kinds)
    return [
        {"id": kind, "kind": kind, "x": place * width, "y": y, "w": width, "h": 14}
        for place, kind in enumerate(kinds)
    ]


@contextlib.contextmanager
def open_page(
    browser: Browser, url: str, *, panes: Sequence[Mapping[str, Any]] | None = None, **settings: Any
) -> Iterator[Page]:
    """Yields the page in a new profile, with these panes or all; fails if the page logs an error.

    No service worker starts unless a test allows it: `page.route` does not see the requests of one.
    """
    defaults = {
        "viewport": {"width": 1600, "height": 1000},
        "locale": "en-US",
        "service_workers": "block",
    }
    context = browser.new_context(**{**defaults, **settings})
    if panes:
        context.add_init_script(STORE_LAYOUT % json.dumps({"panes": panes}))
    context.set_default_timeout(DEADLINE_MS)
    page = context.new_page()
    errors: list[str] = []
    # Firefox logs a failed connection of a WebSocket as a script error.
    page.on("pageerror", lambda error: None if " ws://" in str(error) else errors.append(str(error)))
    page.on(
        "console", lambda message: errors.append(message.text) if "Content Security" in message.text else None
    )
    try:
        page.goto(url)
        yield page
    finally:
        # All tests share the browser: what one leaves open would run beside the others.
        context.close()
    assert not errors, errors


def eventually(page: Page, holds: Callable[[], object], trouble: str) -> None:
    """Waits for a condition that the page does not show, while the page goes on."""
    deadline = time.monotonic() + DEADLINE_MS / 1000
    while not holds():
        assert time.monotonic() < deadline, trouble
        page.wait_for_timeout(20)


def fetched(route: Route) -> APIResponse:
    """Returns the service's answer uncompressed: Playwright does not read zstd, which Firefox accepts."""
    return route.fetch(headers={**route.request.headers, "accept-encoding": "identity"})


def wait_for_price(page: Page, symbol: str = "AAPL") -> None:
    """Waits until the watchlist shows a symbol's price of this visit.

    After a reload, a slow page shows the last visit's, and makes all panes anew when the feeds are live.
    """
    watchlist = page.locator("html:not([data-old]) [data-kind=watchlist]")
    cell = watchlist.locator("tbody tr", has_text=symbol).locator("td.price")
    expect(cell).to_have_text(re.compile(r"\d"))


def wait_for_live(page: Page, feed: str = "market") -> None:
    """Waits until the status line says that a feed is live."""
    page.locator(f".feed[data-feed={feed}][data-state=live]").wait_for()


def bring_up(page: Page, kind: str) -> None:
    """Brings a pane into view; on a phone the bar has a button for it, or its menu."""
    pane = page.locator(f"[data-kind={kind}]")
    # The bar is there as soon as the page has the width of a phone.
    if not pane.is_visible():
        title = pane.get_attribute("aria-label")
        bar = page.locator(".pane-bar")
        button = bar.get_by_role("button", name=title or kind, exact=True)
        if not button.is_visible():
            bar.locator(".menu button").first.click()
        button.click()
    pane.scroll_into_view_if_needed()


def change_settings(page: Page, *, language: str | None = None, theme: str | None = None) -> None:
    """Chooses a language or a theme in the menu of the header."""
    menu = page.locator(".menu.settings")
    menu.locator("button").first.click()
    if theme:
        menu.get_by_role("radio").nth(("auto", "dark", "light").index(theme)).click()
    if language:
        menu.get_by_role("radio").nth(3 + ("en", "tr").index(language)).click()
    page.keyboard.press("Escape")
    menu.locator(".actions").wait_for(state="detached")


def wait_for_layout(page: Page, service: Service, holds: Callable[[str], bool]) -> None:
    """Waits until the account of the page's user has a layout; `holds` judges its JSON.

    An earlier save may end just now, and Firefox does not show what a request sent.
    """
    token = page.evaluate("() => JSON.parse(localStorage.getItem('quotecast.session')).token")
    headers = {"Authorization": f"Bearer {token}"}
    eventually(page, lambda: holds(service.get(LAYOUT, headers=headers).text), "the layout is not saved")


def address(browser: Browser | None, name: str) -> str:
    """Returns an email that no other browser of the run uses: all register at one service."""
    assert browser is not None, "the page has no browser"
    return f"{name}@{browser.browser_type.name}.example.com"


def register(page: Page, email: str) -> None:
    """Registers a user in the page's dialog."""
    page.get_by_role("banner").get_by_role("button", name="Log in").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Register").click()
    dialog.get_by_label("Your name").fill("Ada")
    _enter(page, email, "Register")


def log_in(page: Page, email: str) -> None:
    """Logs in with the page's dialog."""
    page.get_by_role("banner").get_by_role("button", name="Log in").click()
    _enter(page, email, "Log in")


def _enter(page: Page, email: str, button: str) -> None:
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Email").fill(email)
    dialog.get_by_label(re.compile("Password")).fill("correct horse battery")
    dialog.locator("button[type=submit]", has_text=button).click()
    page.get_by_role("button", name="Log out").wait_for()
