"""The palette: symbols of all feeds and commands, by keyboard."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from support.clients.axe import violations
from support.servers.opened_page import eventually, open_page, panes_of, wait_for_price
from support.servers.service import Service

pytestmark = pytest.mark.browser

PANES = panes_of("watchlist", "chart", "movers", "news")

SEARCHES = "**/api/search?*"


@pytest.fixture
def page(page: Page) -> Page:
    """Returns the page once it shows prices."""
    wait_for_price(page)
    return page


def field(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Symbol, name or command")


def open_palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    expect(field(page)).to_be_focused()


def show(page: Page, text: str, symbol: str) -> None:
    """Chooses a symbol by keyboard without a pause, and waits until the chart shows it."""
    page.keyboard.press("Control+k")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    expect(field(page)).to_have_count(0)
    expect_symbol(page, symbol)


def expect_symbol(page: Page, symbol: str) -> None:
    expect(page.locator("[data-kind=chart] h3")).to_have_text(symbol)


def test_three_keys_find_gold(page: Page) -> None:
    """Three letters and Enter show gram gold; pairs need no slash, and banks no Turkish letters."""
    show(page, "alt", "gram-altin")
    show(page, "btcusdt", "BTC/USDT")
    show(page, "is bankasi eur", "isbank-EUR")
    show(page, "quarter gold", "ceyrek-altin")


def test_keys_wait_for_the_palettes_code(browser: Browser, service: Service) -> None:
    """The code loads at the first use; what is typed meanwhile counts."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    with open_page(browser, service.url, panes=PANES) as page:
        wait_for_price(page)
        page.route("**/assets/palette-*.js", hold)
        with page.expect_request("**/assets/palette-*.js"):
            page.keyboard.press("Control+k")
            page.keyboard.type("alt")
            page.keyboard.press("Enter")
        eventually(page, lambda: held, "the palette's code is not asked for")
        held[0].continue_()
        expect_symbol(page, "gram-altin")


def test_enter_waits_for_the_answer_to_the_text(page: Page) -> None:
    """Neither the list of an older text nor an answer that comes late chooses another symbol."""
    show(page, "aapl", "AAPL")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    open_palette(page)
    page.keyboard.type("nvid")
    # Options of an older text stay until the answer to the present one: none of them is chosen.
    expect(page.get_by_role("option", name="NVDA")).to_have_attribute("aria-selected", "true")
    page.route(SEARCHES, hold)
    with page.expect_request("**/api/search?q=micros*"):
        field(page).fill("micros")
    with page.expect_request("**/api/search?q=gold*"):
        field(page).fill("gold")
        page.keyboard.press("Enter")
    eventually(page, lambda: len(held) == 2, "the service is not asked twice")
    older, newer = held
    older.continue_()
    expect(page.get_by_role("listbox")).to_have_attribute("aria-busy", "true")
    expect_symbol(page, "AAPL")
    newer.continue_()
    expect_symbol(page, "gram-altin")


def test_arrows_choose_another_option(page: Page) -> None:
    """The field has the focus all the time and names the active option; recent choices come first."""
    open_palette(page)
    page.keyboard.type("google")
    expect(page.get_by_role("option", name="GOOGL")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    second = page.get_by_role("option", name=re.compile(r"^GOOG\b"))
    expect(second).to_have_attribute("aria-selected", "true")
    expect(field(page)).to_have_attribute("aria-activedescendant", second.get_attribute("id") or "")
    page.keyboard.press("Enter")
    expect_symbol(page, "GOOG")
    open_palette(page)
    expect(page.get_by_role("group", name="Recent").get_by_role("option").first).to_contain_text("GOOG")
    page.keyboard.press("Escape")


def test_escape_closes_and_gives_the_focus_back(page: Page) -> None:
    """The button in the header, a slash, and Ctrl-K in a field open it."""
    button = page.get_by_role("button", name="Search symbols")
    button.focus()
    page.keyboard.press("Enter")
    expect(field(page)).to_be_focused()
    page.keyboard.type("gold")
    page.keyboard.press("Escape")
    expect(field(page)).to_have_count(0)
    expect(button).to_be_focused()
    page.keyboard.press("/")
    expect(field(page)).to_have_value("")
    page.keyboard.press("Control+k")
    expect(field(page)).to_have_count(0)


def test_an_event_of_the_last_closing_leaves_it_open(page: Page) -> None:
    """On a busy page the event of a closed dialog comes after the dialog has opened again."""
    open_palette(page)
    page.locator("dialog.palette").evaluate("dialog => dialog.dispatchEvent(new Event('close'))")
    page.keyboard.type("gold")
    expect(field(page)).to_have_value("gold")
    page.keyboard.press("Escape")


def test_commands_run(page: Page) -> None:
    """A pane takes the focus, a pane is added, the theme changes, the dialog to log in opens."""
    for text in ("go news", "> add movers", "theme light", "> log in"):
        open_palette(page)
        page.keyboard.type(text)
        page.keyboard.press("Enter")
        expect(field(page)).to_have_count(0)
        if text == "go news":
            expect(page.locator("[data-kind=news]")).to_be_focused()
    expect(page.locator("[data-kind=movers]")).to_have_count(2)
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    expect(page.get_by_role("dialog", name="Account")).to_be_visible()
    page.keyboard.press("Escape")


def test_it_says_that_the_service_is_away(page: Page) -> None:
    """Commands still work; Enter asks again."""
    page.route(SEARCHES, lambda route: route.abort())
    open_palette(page)
    page.keyboard.type("gold")
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("No answer from the service")
    field(page).fill("theme")
    expect(page.get_by_role("option", name="Theme: Dark")).to_be_visible()
    field(page).fill("ethereum")
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    page.unroute_all()
    page.keyboard.press("Enter")
    page.get_by_role("option", name="ETH/USDT").click()
    expect_symbol(page, "ETH/USDT")


@pytest.mark.parametrize(
    ("language", "theme", "width"), [("en-US", "dark", 1600), ("tr-TR", "light", 390)], ids=["en", "tr"]
)
def test_the_open_palette_is_accessible(
    browser: Browser, service: Service, language: str, theme: str, width: int
) -> None:
    """It has no violation of WCAG 2.2 AA, empty and with results, and is no wider than a phone."""
    with open_page(
        browser,
        service.url,
        locale=language,
        color_scheme=theme,
        viewport={"width": width, "height": 800},
    ) as page:
        wait_for_price(page)
        page.locator(".search > button").click()
        page.get_by_role("option").first.wait_for()
        assert violations(page, "dialog[open]") == []
        page.get_by_role("dialog").get_by_role("combobox").fill("altın")
        page.get_by_role("option", name="Gram Altın").first.wait_for()
        assert violations(page, "dialog[open]") == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
