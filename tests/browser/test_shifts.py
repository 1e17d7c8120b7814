"""Layout shifts while the page loads."""

from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Route

from support.servers.opened_page import eventually, open_page, wait_for_live, wait_for_price
from support.servers.service import Service

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MOST_SHIFT: Final = 0.05
PHONE: Final[Any] = {"width": 390, "height": 1000}

#: Sums the layout shifts from the first frame on, and keeps what moved, from where to where.
#: The line that names a stale feed moves the page, and should; a machine that pauses makes feeds stale. So
#: the page has no such line here.
NOTE_SHIFTS: Final = """
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('.banner { display: none !important }');
    document.adoptedStyleSheets = [sheet];
    window.shift = 0;
    window.moved = [];
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries().filter((each) => !each.hadRecentInput)) {
            window.shift += entry.value;
            window.moved.push([entry.value, ...entry.sources.map(({ node, previousRect, currentRect }) => {
                const element = node?.parentElement ?? node;
                const pane = element?.closest('[data-kind]')?.dataset.kind;
                const text = node?.textContent.slice(0, 30);
                const [before, after] = [previousRect, currentRect].map(({ x, y }) => `${x},${y}`);
                return `${pane} ${element?.className} ${text}: ${before} to ${after}`;
            })]);
        }
    }).observe({ type: 'layout-shift', buffered: true });
"""


@pytest.mark.parametrize(
    ("locale", "width"),
    [*(("tr-TR", width) for width in (390, 820, 1024, 1440, 1920)), ("en-US", 390), ("en-US", 1440)],
)
def test_nothing_moves_while_the_page_loads(
    browser: Browser, service: Service, locale: str, width: int
) -> None:
    """Layout shift is near zero until prices, news and candles are there; only Chromium measures it."""
    settings: dict[str, Any] = {"locale": locale, "viewport": {"width": width, "height": 1000}}
    with open_page(browser, "about:blank", **settings) as page:
        page.add_init_script(NOTE_SHIFTS)
        page.goto(service.url)
        wait_for_price(page)
        for feed in ("market", "crypto", "doviz"):
            wait_for_live(page, feed)
        # A phone shows the first pane only.
        if width > 760:
            page.locator(".plot canvas").first.wait_for()
        page.locator(".status mark").wait_for()
        assert page.evaluate("shift") < MOST_SHIFT, page.evaluate("moved")


def test_the_bar_of_a_phone_stays_for_the_mark_of_simulated_data(browser: Browser, service: Service) -> None:
    """The status line has two lines before the answer with the mark comes."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    with open_page(browser, "about:blank", locale="en-US", viewport=PHONE) as page:
        page.add_init_script(NOTE_SHIFTS)  # it hides the line of stale feeds
        page.route("**/api/market/status", hold)
        page.goto(service.url)
        for feed in ("market", "crypto", "doviz"):
            wait_for_live(page, feed)
        bar = page.locator(".pane-bar")
        eventually(page, lambda: held, "the page does not ask for the market's state")
        place = bar.bounding_box()
        for route in held:
            route.continue_()
        page.locator(".status mark").wait_for()
        assert bar.bounding_box() == place


#: Returns the width of a bitcoin's price and the room for it, in pixels.
WIDTHS: Final = """(cell) => {
    const text = document.createElement("span");
    text.textContent = "107,835.44";
    cell.append(text);
    const { paddingLeft, paddingRight } = getComputedStyle(cell);
    const room = cell.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    return [text.getBoundingClientRect().width, room];
}"""


def test_prices_of_a_phone_have_room_for_a_bitcoin_before_it_comes(
    browser: Browser, service: Service
) -> None:
    """The feeds say nothing here."""
    with open_page(browser, "about:blank", locale="en-US", viewport=PHONE) as page:
        page.route_web_socket("**/api/ws**", lambda _: None)
        page.goto(service.url)
        width, room = page.locator("[data-kind=watchlist] td.price").first.evaluate(WIDTHS)
        assert 0 < width <= room
