"""The terminal page on a touch screen."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from support.servers.browsers import both_browsers
from support.servers.opened_page import open_page, wait_for_price
from support.servers.service import Service

pytestmark = pytest.mark.browser

KINDS = "() => [...document.querySelectorAll('.pane')].map((pane) => pane.dataset.kind)"


@pytest.fixture
def phone(browser: Browser, service: Service) -> Iterator[Page]:
    with open_page(browser, service.url, viewport={"width": 390, "height": 844}, has_touch=True) as page:
        wait_for_price(page)
        yield page


@both_browsers
def test_a_swipe_on_a_heading_moves_no_pane(phone: Page) -> None:
    """A swipe on a heading scrolls the page; it moves no pane and saves no layout."""
    before = phone.evaluate(KINDS)
    heading = phone.locator("[data-kind=watchlist] > header")
    box = heading.bounding_box()
    assert box
    x, y = box["x"] + 60, box["y"] + 10
    phone.mouse.move(x, y)
    phone.mouse.down()
    phone.mouse.move(x, y + 400, steps=8)
    phone.mouse.up()
    assert phone.evaluate(KINDS) == before
    assert phone.evaluate("localStorage['quotecast.layout']") is None
    assert heading.evaluate("(header) => getComputedStyle(header).touchAction") == "auto"


#: Returns whether each list and button of the header has room for a finger.
ROOM = """() => [...document.querySelectorAll('header.top :is(button, select)')]
    .filter((each) => each.checkVisibility())
    .every((each) => each.getBoundingClientRect().width >= 24)"""


@both_browsers
def test_the_header_shows_every_control(phone: Page) -> None:
    """At every width, in English too, whose words are short."""
    assert phone.locator("header.top").locator("button:visible, select:visible").count() > 3
    for width in (360, 390, 700):
        phone.set_viewport_size({"width": width, "height": 844})
        phone.wait_for_function("width => innerWidth === width", arg=width)
        phone.wait_for_function(ROOM)


#: Sizes of what a finger may hit, but for the rows' own buttons, whose row is as high.
SMALL_TARGETS = """() => [...document.querySelectorAll(':is(.top, .pane-bar, .pane > header) button')]
    .filter((each) => each.checkVisibility())
    .map((each) => [each.textContent, each.getBoundingClientRect().height])
    .filter(([, height]) => height < 44)"""


def test_one_pane_fills_the_screen_and_a_bar_brings_the_others(phone: Page) -> None:
    """Four panes have a button, the others a menu; nothing is out of the screen, and targets suit fingers."""
    bar = phone.get_by_role("navigation", name="Panes")
    assert phone.locator(".pane:visible").count() == 1
    bar.get_by_role("button", name="Chart").click()
    expect(phone.locator("[data-kind=chart] .plot canvas").first).to_be_visible()
    bar.get_by_role("button", name="More panes").click()
    bar.get_by_role("button", name="Portfolio").click()
    expect(phone.locator("[data-kind=portfolio]")).to_be_visible()
    assert phone.locator(".pane:visible").count() == 1
    assert phone.evaluate("document.documentElement.scrollHeight") <= 844
    assert phone.evaluate(SMALL_TARGETS) == []
    phone.get_by_role("button", name="Close Portfolio").click()
    expect(phone.locator("[data-kind=portfolio]")).to_have_count(0)
    expect(phone.locator(".pane:visible")).to_have_count(1)


def test_a_tap_on_a_symbol_opens_its_chart(phone: Page) -> None:
    """Back in the list, it is as it was."""
    phone.locator("[data-kind=watchlist]").get_by_role("button", name="MSFT", exact=True).click()
    expect(phone.locator("[data-kind=chart] h3")).to_have_text("MSFT")
    phone.get_by_role("navigation", name="Panes").get_by_role("button", name="Watchlist").click()
    expect(phone.locator("[data-kind=watchlist] tr[aria-current]")).to_contain_text("MSFT")
