"""Layout shifts while the page loads."""

from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Route

from support.servers.opened_page import open_page, wait_for_live, wait_for_price
from support.servers.service import Service

pytestmark = pytest.mark.browser

MOST_SHIFT: Final = 0.05

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


@pytest.mark.parametrize("width", [390, 820, 1024, 1440, 1920])
@pytest.mark.parametrize("locale", ["en-US", "tr-TR"])
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


def test_a_phone_moves_nothing_for_what_comes_last(browser: Browser, service: Service) -> None:
    """The status line has room for its mark, and the watchlist for prices and changes of pairs."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    with open_page(browser, "about:blank", locale="en-US", viewport={"width": 390, "height": 1000}) as page:
        page.add_init_script(NOTE_SHIFTS)
        page.route("**/api/market/status", hold)
        page.goto(service.url)
        wait_for_price(page)
        for feed in ("market", "crypto", "doviz"):
            wait_for_live(page, feed)
        wait_for_price(page, "BTC/USDT")
        bar = page.locator(".pane-bar")
        place = bar.bounding_box()
        for route in held:
            route.continue_()
        page.locator(".status mark").wait_for()
        assert bar.bounding_box() == place
        moved = {source.split()[0] for _, *sources in page.evaluate("moved") for source in sources}
        assert "watchlist" not in moved
