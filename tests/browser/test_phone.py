"""The terminal page on a touch screen."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from support.servers.browsers import both_browsers
from support.servers.opened_page import open_page, wait_for_price
from support.servers.service import Service

pytestmark = pytest.mark.browser

KINDS = "() => [...document.querySelectorAll('.pane')].map((pane) => pane.dataset.kind)"
#: Returns whether the page may scroll after a touch of the element: the answer of its touch handlers.
SWIPE = """(element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const x = left + width / 2;
    const at = (y) =>
        new Touch({ identifier: 1, target: element, clientX: x, clientY: y, pageX: x, pageY: y });
    const send = (name, touch) => {
        const touches = name === 'touchend' ? [] : [touch];
        const event = new TouchEvent(name,
            { touches, targetTouches: touches, changedTouches: [touch], bubbles: true, cancelable: true });
        element.dispatchEvent(event);
        return !event.defaultPrevented;
    };
    const from = top + height / 2;
    send('touchstart', at(from));
    const scrolls = [20, 40, 60, 80].map((step) => send('touchmove', at(from - step)));
    send('touchend', at(from - 80));
    return scrolls.every(Boolean);
}"""


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


@both_browsers
def test_a_vertical_swipe_on_the_chart_scrolls_the_page(phone: Page) -> None:
    """The chart handles horizontal swipes; vertical ones scroll the page."""
    phone.locator("[data-kind=chart]").scroll_into_view_if_needed()
    canvas = phone.locator("[data-kind=chart] tr:first-child td:nth-child(2) canvas").last
    canvas.wait_for()
    assert canvas.evaluate(SWIPE)
