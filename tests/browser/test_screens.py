"""The panes of the default layout on every common screen."""

from typing import Any, Final

import pytest
from playwright.sync_api import Browser, expect

from browser.panes import box_of, pane
from support.servers.opened_page import open_page, wait_for_price
from support.servers.service import Service

pytestmark = pytest.mark.browser

DESKTOPS: Final = ((1280, 720), (1366, 768), (1440, 900), (1536, 864), (1920, 1080), (2560, 1440))


def test_the_first_panes_are_above_the_fold(browser: Browser, service: Service) -> None:
    """On every common desktop the panes of the default layout but company and portfolio need no scrolling."""
    with open_page(browser, service.url) as page:
        wait_for_price(page)
        for width, height in DESKTOPS:
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_function("height => document.documentElement.clientHeight === height", arg=height)
            main = page.get_by_role("main")
            for kind in ("watchlist", "chart", "movers", "news", "heatmap", "crypto", "doviz"):
                expect(pane(page, kind)).to_be_in_viewport(ratio=1)
                assert box_of(pane(page, kind)).bottom <= box_of(main).bottom, (width, height, kind)


@pytest.mark.parametrize("size", [(768, 1024), (1023, 700)], ids=str)
def test_a_tablet_has_two_columns(browser: Browser, service: Service, size: tuple[int, int]) -> None:
    """Two columns without gaps; the chart is in the first screen of a tablet; targets suit fingers."""
    settings: dict[str, Any] = {"viewport": {"width": size[0], "height": size[1]}, "has_touch": True}
    with open_page(browser, service.url, **settings) as page:
        wait_for_price(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        rows: dict[float, float] = {}
        for each in page.locator(".pane").all():
            box = box_of(each)
            rows[box.y] = rows.get(box.y, 0) + box.width
            assert box.height >= 350
        whole = box_of(page.get_by_role("main")).width - 8
        assert all(whole - 25 <= width <= whole for width in rows.values()), rows
        assert box_of(pane(page, "watchlist")).y == box_of(pane(page, "movers")).y
        if size[1] > 1000:
            expect(pane(page, "chart")).to_be_in_viewport(ratio=0.99)
        for button in page.locator(":is(.pane > header, .pane .choice, .top) button:visible").all():
            box = box_of(button)
            assert min(box.width, box.height) >= 32, button


#: Rows of quotes in view, and the tables that show a part of a row.
ROWS = """() => {
    const frames = [...document.querySelectorAll('.table-frame')];
    const bottom = document.querySelector('main').getBoundingClientRect().bottom;
    const seen = (frame) => {
        const box = frame.getBoundingClientRect();
        return [...frame.querySelectorAll('tbody tr[data-row]')].map((row) => row.getBoundingClientRect())
            .filter(({ top, bottom: end }) => top >= box.top + 23 && end <= Math.min(box.bottom, bottom) + 1)
            .length;
    };
    const isCut = (frame) => (frame.clientHeight - 24) % 24 !== 0;
    const sum = frames.reduce((total, frame) => total + seen(frame), 0);
    return [sum, frames.filter(isCut).map((frame) => frame.closest('.pane').dataset.kind)];
}"""


def test_a_laptop_shows_forty_five_whole_rows_of_quotes(browser: Browser, service: Service) -> None:
    """Tables end with a whole row, and the first screen has room for the usual lists."""
    with open_page(browser, service.url, viewport={"width": 1440, "height": 900}) as page:
        wait_for_price(page)
        for kind in ("movers", "crypto", "doviz"):
            pane(page, kind).locator("td:not(:empty)").first.wait_for()
        # A table learns its height after its first rows; a note stands above one until rates come.
        page.wait_for_function(
            f"() => {{ const [rows, cut] = ({ROWS})(); return rows >= 45 && !cut.length; }}"
        )
