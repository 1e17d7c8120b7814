"""The terminal page in real browsers."""

import json
import re
import signal
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from support.clients.axe import violations
from support.runs.deadlines import scaled
from support.runs.figures import Figures
from support.servers.browsers import both_browsers
from support.servers.opened_page import (
    DEADLINE_MS,
    LAYOUT,
    address,
    change_settings,
    eventually,
    log_in,
    open_page,
    register,
    wait_for_layout,
    wait_for_live,
    wait_for_price,
)
from support.servers.service import Service

pytestmark = pytest.mark.browser

#: Reads the prices on screen and the feed's cursor together, between two frames.
READ = """() => ({
    cursor: document.querySelector('.feed[data-feed=market]').dataset.cursor,
    prices: Object.fromEntries([...document.querySelectorAll('[data-kind=watchlist] tbody tr')]
        .filter((row) => row.querySelector('.symbol'))
        .map((row) => [row.querySelector('.symbol').textContent, row.querySelector('td.price').textContent])),
})"""


@both_browsers
def test_data_is_on_the_screen_within_two_seconds(
    browser: Browser, service: Service, figures: Figures
) -> None:
    """A browser with an empty cache shows data within two seconds of its first request, by its own clock."""
    with open_page(browser, service.url) as page:
        wait_for_price(page)
        shown = float(page.evaluate("performance.now()")) / 1000
    figures.at_most("prices on the screen", shown, 2, room=5)


@both_browsers
def test_a_price_on_the_screen_is_the_apis_at_the_same_point(page: Page, service: Service) -> None:
    """The prices on screen equal the answer of the route whose entity tag is the status line's cursor."""
    for symbol in ("AAPL", "MSFT", "NVDA"):
        wait_for_price(page, symbol)
    answers: dict[str, dict[str, Any]] = {}
    seen: dict[str, Any] = {}

    def is_at_one_point() -> bool:
        answer = service.get("/api/market/quotes?symbols=AAPL,MSFT,NVDA")
        answers[answer.headers["ETag"]] = answer.json()
        seen.update(page.evaluate(READ))
        return f'W/"{seen["cursor"]}"' in answers

    eventually(page, is_at_one_point, "never at the same point")
    for ticker, quote in answers[f'W/"{seen["cursor"]}"'].items():
        assert float(seen["prices"][ticker].replace(",", "")) == quote["price"]


@both_browsers
def test_it_resumes_by_itself_after_a_restart(page: Page, service: Service) -> None:
    """After a restart of the service the page resumes by itself; the prices stay on screen meanwhile."""
    wait_for_live(page)
    wait_for_price(page)
    service.processes[-1].send_signal(signal.SIGTERM)
    service.processes[-1].wait(scaled(30))
    page.locator(".feed[data-feed=market][data-state=connecting]").wait_for()
    wait_for_price(page)
    service.start("api")
    wait_for_live(page)
    before = page.evaluate(READ)["cursor"]
    page.wait_for_function("before => document.querySelector('.feed').dataset.cursor !== before", arg=before)
    # The pane's code loads after the page, and the restart may have failed its first request.
    page.locator(".plot canvas").first.wait_for()


@pytest.mark.parametrize("name", ["candles", "later"])
@both_browsers
def test_code_that_failed_to_load_comes_later(browser: Browser, service: Service, name: str) -> None:
    """The chart comes by itself, a pane at the next try, also in a browser that remembers failures."""
    asked: list[str] = []

    def refuse_first(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.abort()
        else:
            route.continue_()

    with open_page(browser, "about:blank") as page:
        page.route(f"**/assets/{name}-*.js", refuse_first)
        page.goto(service.url)
        if name == "later":
            page.locator("[data-kind=company]").get_by_role("button", name="Try again").click()
            page.locator("[data-kind=company] dl").first.wait_for()
        else:
            page.locator(".plot canvas").first.wait_for()
    assert len(asked) > 1


@both_browsers
def test_a_layout_follows_its_owner(browser: Browser, service: Service) -> None:
    """A user's layout appears in every browser where the user logs in."""
    email = address(browser, "ada")
    with open_page(browser, service.url) as page:
        register(page, email)
        page.get_by_role("button", name="Close News").click()
        page.get_by_text("Layout saved").wait_for()
        wait_for_layout(page, service, lambda layout: '"chart"' in layout and '"news"' not in layout)
    with open_page(browser, service.url) as page:
        expect(page.locator("[data-kind=news]")).to_have_count(1)
        log_in(page, email)
        expect(page.locator("[data-kind=news]")).to_have_count(0, timeout=DEADLINE_MS)
        expect(page.locator("[data-kind=chart]")).to_have_count(1)


def test_the_last_change_of_two_windows_wins(browser: Browser, service: Service) -> None:
    """The last change of a layout wins, even if its window had not seen the other window's change."""
    with open_page(browser, service.url) as first, open_page(browser, service.url) as second:
        email = address(browser, "grace")
        register(first, email)
        wait_for_layout(first, service, lambda layout: '"news"' in layout)
        with second.expect_response(lambda answer: answer.request.method == "GET" and LAYOUT in answer.url):
            log_in(second, email)
        first.get_by_role("button", name="Close News").click()
        wait_for_layout(first, service, lambda layout: '"chart"' in layout and '"news"' not in layout)
        second.get_by_role("button", name="Close Movers").click()
        wait_for_layout(first, service, lambda layout: '"news"' in layout and '"movers"' not in layout)
        second.reload()
        expect(second.locator("[data-kind=movers]")).to_have_count(0, timeout=DEADLINE_MS)
        expect(second.locator("[data-kind=news]")).to_have_count(1)


@both_browsers
def test_a_layout_without_account_stays_in_the_browser(page: Page) -> None:
    """The browser stores a layout without account: a reload shows the pane where it was moved.

    The chart took the column that the movers gave up, and then the movers took the chart's place.
    """
    page.get_by_role("button", name=re.compile("Move or resize Movers")).focus()
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("ArrowLeft")
    place = page.locator("[data-kind=movers]").get_attribute("style")
    assert place
    assert "span 7" in place
    page.reload()
    expect(page.locator("[data-kind=movers]")).to_have_attribute("style", place)


def test_a_holding_shows_its_gain_live(browser: Browser, page: Page) -> None:
    """A holding's gain follows the feed's price."""
    register(page, address(browser, "portfolio"))
    form = page.get_by_role("form", name="Add holding")
    form.scroll_into_view_if_needed()
    form.get_by_label("Symbol").fill("AAPL")
    form.get_by_label("Shares").fill("10")
    form.get_by_label("Avg cost").fill("100")
    form.get_by_role("button", name="Add").click()
    gain = page.locator("[data-kind=portfolio] tbody td[data-tone=rise]")
    gain.wait_for()
    first = gain.text_content()
    page.wait_for_function(
        "first => document.querySelector('[data-kind=portfolio] tbody [data-tone]').textContent !== first",
        arg=first,
    )


def refuse(route: Route) -> None:
    """Answers 429 as the service does."""
    route.fulfill(status=429, headers={"Retry-After": "5"}, body=json.dumps({"detail": "Too Many Requests"}))


def test_a_429_shows_its_waiting_time(browser: Browser, service: Service) -> None:
    """A 429 shows its waiting time in words, and the pane recovers without a click."""
    with open_page(browser, "about:blank") as page:
        page.route("**/api/market/movers", refuse, times=1)
        page.goto(service.url)
        movers = page.locator("[data-kind=movers]")
        expect(movers).to_contain_text("Resuming in", timeout=DEADLINE_MS)
        movers.locator("td.price").first.wait_for()


@pytest.mark.parametrize(
    ("browser", "width", "scheme", "language"),
    [
        ("chromium", 360, "dark", "en"),
        ("chromium", 820, "light", "en"),
        ("chromium", 1600, "dark", "tr"),
        ("chromium", 1600, "light", "en"),
        ("firefox", 1600, "light", "en"),
    ],
    indirect=["browser"],
)
def test_axe_finds_no_fault(
    browser: Browser, service: Service, width: int, scheme: str, language: str
) -> None:
    """WCAG 2.2 A and AA: axe finds no violation, in both themes, on phone, tablet and desktop."""
    viewport = {"width": width, "height": 1000}
    with open_page(browser, service.url, viewport=viewport) as page:
        wait_for_price(page)
        change_settings(page, language=language, theme=scheme)
        assert violations(page) == []


@both_browsers
def test_nothing_is_wider_than_a_phone(browser: Browser, service: Service) -> None:
    """At 360 pixels the page does not scroll sideways."""
    with open_page(browser, service.url, viewport={"width": 360, "height": 740}) as page:
        wait_for_price(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


@both_browsers
def test_turkish_is_spoken(browser: Browser, service: Service) -> None:
    """A browser that prefers Turkish gets Turkish texts and numbers."""
    with open_page(browser, service.url, locale="tr-TR") as page:
        page.get_by_role("heading", name="İzleme listesi").wait_for()
        assert page.evaluate("document.documentElement.lang") == "tr"
        watchlist = page.locator("[data-kind=watchlist]")
        expect(watchlist).to_contain_text(re.compile(r"%\d,\d\d"), timeout=DEADLINE_MS)


@both_browsers
def test_a_symbol_is_found_by_keyboard(page: Page) -> None:
    """Ctrl-K, a key of the browser too, opens the search; Enter shows the symbol."""
    wait_for_price(page)
    page.keyboard.press("Control+k")
    page.keyboard.type("nvid")
    page.get_by_role("option", name=re.compile("NVDA")).wait_for()
    page.keyboard.press("Enter")
    page.locator("[data-kind=chart] h3", has_text="NVDA").wait_for()
