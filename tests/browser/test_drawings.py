"""Drawings of a chart: levels, lines, areas and notes."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.charts import CHART, WATCHLIST, chart_of, memory, open_chart, open_panel, wait_for_chart
from support.servers.opened_page import open_page
from support.servers.service import Service

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    """Yields the page with the chart of Apple beside the watchlist."""
    with open_chart(browser, service.url) as page:
        yield page


def drawn(page: Page) -> list[str]:
    """Returns the drawings of Apple, as the pane remembers them."""
    return memory(page).get("drawn stock AAPL", "").split(";")


def point(page: Page, x: float, y: float) -> tuple[float, float]:
    """Returns a point of the chart, from shares of its width and height."""
    box = page.locator(".plot .canvas").bounding_box()
    assert box
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def test_drawings_are_kept_by_symbol(page: Page) -> None:
    """A level by its price, a trend line by two clicks: selected, moved, deleted, and back after a reload."""
    panel = open_panel(page, "Draw")
    panel.get_by_label("Level at price").fill("123.45")
    page.keyboard.press("Enter")
    panel.get_by_role("button", name="Trend line", exact=True).click()
    expect(panel).to_have_count(0)
    page.mouse.click(*point(page, 0.3, 0.5))
    page.mouse.click(*point(page, 0.6, 0.5))
    page.wait_for_function("() => localStorage['quotecast.layout'].includes(';t ')")
    level, line = drawn(page)
    assert level == "h 123.45"
    page.mouse.move(*point(page, 0.45, 0.5))
    page.mouse.down()
    page.mouse.move(*point(page, 0.45, 0.3), steps=4)
    page.mouse.up()
    page.wait_for_function("before => !localStorage['quotecast.layout'].includes(before)", arg=line)
    moved = drawn(page)[1]
    assert float(moved.split()[2]) > float(line.split()[2])
    page.keyboard.press("Alt+ArrowUp")
    page.wait_for_function("before => !localStorage['quotecast.layout'].includes(before)", arg=moved)
    assert drawn(page)[1].split()[:3] == moved.split()[:3], "only the end moves"
    page.reload()
    wait_for_chart(page)
    assert len(drawn(page)) == 2
    panel = open_panel(page, "Draw")
    panel.get_by_role("button", name=re.compile("^Trend line \\d")).click()
    page.keyboard.press("Escape")
    page.locator(".plot .canvas").focus()
    page.keyboard.press("Delete")
    page.wait_for_function("() => !localStorage['quotecast.layout'].includes(';t ')")
    assert drawn(page) == ["h 123.45"]


@pytest.mark.parametrize(("name", "letter"), [("Rectangle", "b"), ("Fibonacci", "f"), ("Measure", "m")])
def test_drawings_between_two_points_are_kept(page: Page, name: str, letter: str) -> None:
    """Two clicks draw one, a click on its line selects it, and Delete removes it."""
    open_panel(page, "Draw").get_by_role("button", name=name, exact=True).click()
    page.mouse.click(*point(page, 0.3, 0.4))
    page.mouse.click(*point(page, 0.6, 0.6))
    page.wait_for_function("letter => localStorage['quotecast.layout'].includes(`${letter} 1`)", arg=letter)
    page.mouse.click(*point(page, 0.8, 0.9))
    page.mouse.click(*point(page, 0.45, 0.6))
    page.keyboard.press("Delete")
    page.wait_for_function("letter => !localStorage['quotecast.layout'].includes(`${letter} 1`)", arg=letter)


def test_a_parallel_channel_has_three_points(page: Page) -> None:
    """The third click sets the width; a point moves alone, also by keys, and undo brings it back."""
    open_panel(page, "Draw").get_by_role("button", name="Parallel channel", exact=True).click()
    for x, y in ((0.3, 0.5), (0.6, 0.45), (0.5, 0.6)):
        page.mouse.click(*point(page, x, y))
    page.wait_for_function("() => localStorage['quotecast.layout'].includes('c 1')")
    (line,) = drawn(page)
    page.mouse.click(*point(page, 0.8, 0.9))
    page.mouse.move(*point(page, 0.5, 0.6))
    page.mouse.down()
    page.mouse.move(*point(page, 0.5, 0.7), steps=4)
    page.mouse.up()
    page.wait_for_function("before => !localStorage['quotecast.layout'].includes(before)", arg=line)
    (wider,) = drawn(page)
    assert wider.split()[:5] == line.split()[:5], "only the other side moves"
    assert float(wider.split()[6]) < float(line.split()[6])
    page.keyboard.press("Alt+PageDown")
    page.wait_for_function("before => !localStorage['quotecast.layout'].includes(before)", arg=wider)
    assert drawn(page)[0].split()[:5] == line.split()[:5]
    for _ in range(2):
        page.keyboard.press("Control+z")
    page.wait_for_function("line => localStorage['quotecast.layout'].includes(line)", arg=line)


def test_a_note_stays_where_it_was_written(page: Page) -> None:
    """A note is text and never markup; a click places it, Enter puts it in the middle, arrows move it."""
    panel = open_panel(page, "Draw")
    panel.get_by_label("Text of the note").fill("<img src=x>; 50 %")
    panel.get_by_role("button", name="Note", exact=True).click()
    page.mouse.click(*point(page, 0.3, 0.5))
    page.wait_for_function("() => localStorage['quotecast.layout'].includes('n 1')")
    (note,) = drawn(page)
    assert note.split(" ", 3)[3] == "<img src=x>%3B 50 %25"
    page.mouse.click(*point(page, 0.8, 0.9))
    page.mouse.click(*point(page, 0.33, 0.5))
    page.keyboard.press("ArrowRight")
    page.wait_for_function("before => !localStorage['quotecast.layout'].includes(before)", arg=note)
    page.reload()
    wait_for_chart(page)
    panel = open_panel(page, "Draw")
    expect(panel.get_by_role("button", name="Note: <img src=x>; 50 %", exact=True)).to_be_visible()
    panel.get_by_label("Text of the note").fill("second")
    page.keyboard.press("Enter")
    page.wait_for_function("() => localStorage['quotecast.layout'].includes(' second')")
    panel.get_by_role("button", name="Remove Note: second").click()
    expect(panel.locator("li")).to_have_count(1)


def test_a_magnet_takes_the_prices_of_bars(page: Page) -> None:
    """With the magnet a point near a price of its bar has that price, also when it moves; Ctrl inverts it."""
    panel = page.get_by_role("region", name="Draw", exact=True)

    def draw_level(y: float) -> float:
        """Draws a level at a share of the height; returns its price."""
        open_panel(page, "Draw").get_by_role("button", name="Horizontal level", exact=True).click()
        count = memory(page).get("drawn stock AAPL", "").count("h ")
        page.mouse.click(*point(page, 0.5, y))
        page.wait_for_function(
            "count => localStorage['quotecast.layout'].split('h ').length > count + 1", arg=count
        )
        return float(drawn(page)[-1].split()[1])

    # Bars of days stay where they are during the test.
    chart_of(page).get_by_role("button", name="1Y", exact=True).click()
    wait_for_chart(page)
    upper, lower = draw_level(0.03), draw_level(0.6)
    page.mouse.move(*point(page, 0.5, 0.5))
    prices = [
        float(each) for each in re.findall(r"[OHLC] ([\d.]+)", page.locator(".plot .legend").inner_text())
    ]
    near = 0.03 + 0.57 * (upper - prices[3]) / (upper - lower) + 0.01
    assert draw_level(near) != pytest.approx(prices[3], abs=0.005)
    page.keyboard.down("Control")
    held = draw_level(near)
    assert any(held == pytest.approx(each, abs=0.005) for each in prices)
    page.keyboard.up("Control")
    open_panel(page, "Draw").get_by_label("Magnet").check()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    assert memory(page)["magnet"] == "on"
    first = drawn(page)[0]
    page.mouse.move(*point(page, 0.5, 0.03))
    page.mouse.down()
    page.mouse.move(*point(page, 0.5, near), steps=4)
    page.mouse.up()
    page.wait_for_function("before => !localStorage['quotecast.layout'].includes(before)", arg=first)
    moved = float(drawn(page)[0].split()[1])
    assert any(moved == pytest.approx(each, abs=0.005) for each in prices)


def test_undo_takes_back_a_drawing(page: Page) -> None:
    """Ctrl+Z on the chart takes back the newest change to its drawings; with Shift it repeats it."""
    panel = open_panel(page, "Draw")
    panel.get_by_label("Level at price").fill("123.45")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.wait_for_function("() => localStorage['quotecast.layout'].includes('h 123.45')")
    page.locator(".plot .canvas").focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_function("() => !localStorage['quotecast.layout'].includes('h 123.45')")
    (moved,) = drawn(page)
    page.keyboard.press("Control+z")
    page.wait_for_function("() => localStorage['quotecast.layout'].includes('h 123.45')")
    page.keyboard.press("Control+z")
    page.wait_for_function("() => !localStorage['quotecast.layout'].includes('h 123.45')")
    page.keyboard.press("Control+Shift+z")
    page.keyboard.press("Control+y")
    page.wait_for_function("line => localStorage['quotecast.layout'].includes(line)", arg=moved)


def test_a_full_pane_says_so(browser: Browser, service: Service) -> None:
    """A pane with fifty drawings, here of another symbol, takes no more, and says why."""
    drawn = ";".join(f"h {price}" for price in range(1, 51))
    chart = CHART | {"memory": {"drawn stock MSFT": drawn}}
    with open_page(browser, service.url, panes=[WATCHLIST, chart]) as page:
        wait_for_chart(page)
        panel = open_panel(page, "Draw")
        expect(panel.get_by_role("status")).to_contain_text("50 drawings")
        expect(panel.get_by_role("button", name="Add")).to_be_disabled()
