"""Layout shifts while the page loads."""

from typing import Any, Final

import pytest

from support.opened_page import chromium, open_page, wait_for_live, wait_for_price
from support.service import Service

pytestmark = pytest.mark.browser

MOST_SHIFT: Final = 0.05

#: Loads of the page, of which one must pass without an outage: a machine that pauses makes feeds stale.
LOADS: Final = 5

#: Sums the layout shifts from the first frame on, and keeps what moved; notes whether a feed was stale.
NOTE_SHIFTS: Final = """
    window.shift = 0;
    window.moved = [];
    window.wasStale = false;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries().filter((each) => !each.hadRecentInput)) {
            window.shift += entry.value;
            window.moved.push(...entry.sources.map(({ node }) => node?.className ?? node?.nodeName));
        }
    }).observe({ type: 'layout-shift', buffered: true });
    new MutationObserver(() => {
        window.wasStale ||= Boolean(document.documentElement.dataset.stale);
    }).observe(document, { attributes: true, attributeFilter: ['data-stale'], subtree: true });
"""


@pytest.mark.parametrize("width", [390, 820, 1024, 1440, 1920])
@pytest.mark.parametrize("locale", ["en-US", "tr-TR"])
def test_nothing_moves_while_the_page_loads(service: Service, locale: str, width: int) -> None:
    """Layout shift is near zero until prices, news and candles are there; only Chromium measures it.

    The line that names a stale feed moves the page, and should.
    """
    settings: dict[str, Any] = {"locale": locale, "viewport": {"width": width, "height": 1000}}
    for _ in range(LOADS):
        with chromium() as browser, open_page(browser, "about:blank", **settings) as page:
            page.add_init_script(NOTE_SHIFTS)
            page.goto(service.url)
            wait_for_price(page)
            for feed in ("market", "crypto", "doviz"):
                wait_for_live(page, feed)
            page.locator(".plot canvas").first.wait_for()
            page.locator(".status .left").wait_for()
            if not page.evaluate("wasStale"):
                assert page.evaluate("shift") < MOST_SHIFT, page.evaluate("moved")
                return
    pytest.fail(f"a feed was stale in each of {LOADS} loads")
