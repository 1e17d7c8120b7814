"""Every digit is visible, at every width, in both languages."""

from collections.abc import Sequence
from typing import Final

import pytest
from playwright.sync_api import Browser, Page

from support.servers.opened_page import bring_up, change_settings, open_page, register
from support.servers.service import Service

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDTHS: Final = (390, 600, 761, 820, 1024, 1280, 1440, 1920, 2560)
#: Phone, narrowest grid and desktop: both browsers choose columns alike, and Turkish has the longer words.
FEW_WIDTHS: Final = (390, 761, 1440)

#: Finds texts with digits, in a part of the page, that extend beyond a clipping element or beyond the page.
CUT: Final = """(part) => {
    const found = [];
    const walker = document.createTreeWalker(document.querySelector(part), NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
        const element = text.parentElement;
        if (!/\\d/.test(text.nodeValue) || element.closest('.unseen, option')) continue;
        if (!element.checkVisibility()) continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        const box = range.getBoundingClientRect();
        let [left, right] = [0, document.documentElement.clientWidth];
        for (let each = element; each !== document.body; each = each.parentElement) {
            const { overflowX, contain } = getComputedStyle(each);
            if (overflowX === 'visible' && !/strict|paint/.test(contain)) continue;
            const frame = each.getBoundingClientRect();
            [left, right] = [Math.max(left, frame.left), Math.min(right, frame.right)];
        }
        if (box.width && (box.left < left - 1 || box.right > right + 1)) found.push(text.nodeValue);
    }
    return found;
}"""

#: Holdings with wide numbers: of many digits, of pairs, of metals, of unknown symbols.
HELD: Final = (
    {"ticker": "BTC/USDT", "shares": 12.3456, "avg_cost": 98765.43, "currency": "TRY"},
    {"ticker": "gram-altin", "shares": 1234.5, "avg_cost": 4321.09, "currency": "TRY"},
    {"ticker": "NOPE", "shares": 1, "avg_cost": 1, "currency": "USD"},
)


def fill(page: Page, service: Service, email: str) -> None:
    """Gives the page an account with holdings."""
    register(page, email)
    token = page.evaluate("JSON.parse(localStorage.getItem('quotecast.session')).token")
    for holding in HELD:
        added = service.post(
            "/api/portfolio/holdings", json=holding, headers={"Authorization": f"Bearer {token}"}
        )
        assert added.status_code == 201
    page.reload()
    page.get_by_role("button", name="Log out").wait_for()


#: Element that shows that a pane has its data.
FILLED: Final = {
    "watchlist": "td.price:not(:empty)",
    "movers": "td.price:not(:empty)",
    "heatmap": "i:not(:empty)",
    "crypto": "td.price:not(:empty)",
    "doviz": ".banks td",
    "company": "dd",
    "portfolio": ".sum",
}


def wait_for_data(page: Page, kind: str) -> None:
    """Scrolls a pane into view and waits for its data."""
    pane = page.locator(f"[data-kind={kind}]")
    bring_up(page, kind)
    pane.locator(FILLED[kind]).first.wait_for()


@pytest.mark.parametrize(
    ("browser", "language", "widths"),
    [("chromium", "en", FEW_WIDTHS), ("chromium", "tr", WIDTHS), ("firefox", "tr", FEW_WIDTHS)],
    indirect=["browser"],
)
def test_no_digit_is_cut_at_any_width(
    browser: Browser, service: Service, language: str, widths: Sequence[int]
) -> None:
    """No pane cuts a digit, and the page never scrolls sideways."""
    with open_page(browser, service.url) as page:
        fill(page, service, f"{browser.browser_type.name}-{language}@example.com")
        change_settings(page, language=language)
        for width in widths:
            page.set_viewport_size({"width": width, "height": 1000})
            page.locator(
                "[data-shape=stack]" if width < 761 else ":not([data-shape=stack]) > .pane"
            ).first.wait_for()
            for kind in FILLED:
                wait_for_data(page, kind)
                wait_for_fit(page, width, f"[data-kind={kind}]")
            wait_for_fit(page, width, "body")


def wait_for_fit(page: Page, width: int, part: str) -> None:
    """Waits until a part of the page has chosen its columns; fails with the texts that it cuts."""
    script = f"(part) => ({CUT})(part).length === 0 && document.documentElement.scrollWidth <= {width}"
    try:
        page.wait_for_function(script, arg=part)
    except Exception as error:
        wide = page.evaluate("document.documentElement.scrollWidth")
        raise AssertionError(
            f"{width} pixels, {part}: {page.evaluate(CUT, part)}, the page is {wide}"
        ) from error
