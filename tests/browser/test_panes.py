"""Moving, closing and maximising panes, by keyboard and pointer."""

import re
from typing import Final

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.panes import Box, box_of, pane
from support.servers.opened_page import wait_for_price

pytestmark = pytest.mark.browser

TITLES: Final = (
    *("Watchlist", "Chart", "Movers", "News", "Heatmap", "Crypto", "Currency & gold", "Company"),
    "Portfolio",
)
GRIP_KEYS: Final = ": arrows move, Shift and arrows resize, Alt and arrows join or leave tabs"
STORED: Final = "localStorage['quotecast.layout'] ?? null"
#: Returns the labels of the stops of the Tab key in a part of the page.
STOPS: Final = """(scope) => [...document.querySelectorAll(`${scope} :is(a, button, input, [tabindex])`)]
    .filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility())
    .map((each) => each.ariaLabel ?? each.textContent)"""


def grip(page: Page, title: str) -> Locator:
    return page.get_by_role("button", name=re.compile(f"Move or resize {title}"))


def place_of(element: Locator) -> str:
    """Returns the tracks of the grid that a pane takes."""
    style: str = element.evaluate("(pane) => `${pane.style.gridColumn}, ${pane.style.gridRow}`")
    return style


def test_a_pane_moves_by_keyboard_until_escape_or_enter(page: Page) -> None:
    """Each arrow is visible and announced; Escape puts the pane back, Enter and a lost focus keep it."""
    movers = pane(page, "movers")
    announced = page.get_by_role("status").filter(has_text="Movers: column")
    before = place_of(movers)
    grip(page, "Movers").focus()
    page.keyboard.press("ArrowDown")
    expect(announced).to_have_text("Movers: column 10, row 10, 3 wide, 5 high")
    assert box_of(announced).width > 100
    assert box_of(pane(page, "news")).y < box_of(movers).y
    page.keyboard.press("Shift+ArrowLeft")
    expect(announced).to_contain_text("2 wide")
    page.keyboard.press("Escape")
    assert place_of(movers) == before
    assert page.evaluate(STORED) is None
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(grip(page, "Movers")).to_be_focused()
    assert '"movers","x":9,"y":9' in page.evaluate(STORED).replace('"kind":"movers",', "")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    assert place_of(movers) == before
    expect(page.get_by_role("button", name="Maximise Movers")).to_be_focused()


def empty_cells(page: Page) -> int:
    """Returns how many cells of the first screen no pane covers."""
    taken: list[list[int]] = page.evaluate(
        """() => [...document.querySelectorAll('.pane')].map(({ style }) =>
            [style.gridColumnStart, style.gridColumnEnd, style.gridRowStart, style.gridRowEnd]
                .map((text) => Number(text.replace('span ', ''))))"""
    )
    cells = {(column, row) for column in range(1, 13) for row in range(1, 25)}
    for column, columns, row, rows in taken:
        cells -= {(x, y) for x in range(column, column + columns) for y in range(row, row + rows)}
    return len(cells)


def test_a_dropped_pane_swaps_or_splits_and_the_screen_stays_full(page: Page) -> None:
    """In the middle of a pane it takes its place; beside an edge half of it."""

    def drop(kind: str, x: float, y: float) -> None:
        """Drops a pane at a point of the chart, in shares of its size."""
        start, chart = box_of(pane(page, kind).locator("h2")), box_of(pane(page, "chart"))
        page.mouse.move(start.x + 5, start.y + 5)
        page.mouse.down()
        page.mouse.move(chart.x + chart.width * x, chart.y + chart.height * y, steps=5)
        page.mouse.up()

    places = {kind: place_of(pane(page, kind)) for kind in ("news", "chart")}
    assert empty_cells(page) == 0
    drop("news", 0.5, 0.5)
    assert place_of(pane(page, "news")) == places["chart"]
    assert place_of(pane(page, "chart")) == places["news"]
    page.keyboard.press("Control+z")
    expect(pane(page, "news")).to_have_css("grid-row-start", "10")
    drop("news", 0.05, 0.5)
    assert place_of(pane(page, "news")) == "4 / span 3, 1 / span 14"
    assert place_of(pane(page, "chart")) == "7 / span 3, 1 / span 14"
    assert empty_cells(page) == 0
    page.get_by_role("button", name="Close Chart").click()
    assert empty_cells(page) == 0


def drag(page: Page, start: Box, x: float, y: float) -> None:
    """Drags what is near the left edge of a box to a point, and keeps the pointer down."""
    page.mouse.move(start.x + 6, start.y + 6)
    page.mouse.down()
    page.mouse.move(x, y, steps=5)


def test_panes_share_a_place_as_tabs(page: Page) -> None:
    """A pane dropped on a heading is a tab there; arrows show another, and a tab is dragged out."""
    news, chart = pane(page, "news"), pane(page, "chart")
    place = place_of(chart)
    heading = box_of(chart.locator("h2"))
    drag(page, box_of(news.locator("h2")), heading.x + 200, heading.y + 6)
    selected = news.get_by_role("tab", selected=True)
    expect(selected).to_have_css("border-top-style", "dashed")
    expect(page.get_by_role("status").filter(has_text="News: column 4")).to_contain_text("tab 2 of 2")
    page.mouse.up()
    assert place_of(news) == place
    expect(chart).to_be_hidden()
    assert empty_cells(page) == 0
    selected.press("ArrowRight")
    expect(chart.get_by_role("tab", name="Chart")).to_be_focused()
    expect(news).to_be_hidden()
    chart.get_by_role("button", name="Maximise Chart").click()
    chart.get_by_role("tab", name="News").click()
    expect(news.get_by_role("button", name="Restore News")).to_be_visible()
    page.keyboard.press("Escape")
    page.reload()
    wait_for_price(page)
    expect(news.get_by_role("tab")).to_have_text(["Chart", "News"])
    expect(chart).to_be_hidden()
    page.get_by_role("button", name="Close News").click()
    expect(grip(page, "Chart")).to_be_focused()
    expect(chart.locator("h2")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(news).to_be_focused()
    left = box_of(news)
    drag(page, box_of(news.get_by_role("tab", name="Chart")), left.x + 8, left.y + left.height / 2)
    page.mouse.up()
    assert (place_of(chart), place_of(news)) == ("4 / span 3, 1 / span 14", "7 / span 3, 1 / span 14")
    assert empty_cells(page) == 0


def test_keys_make_a_pane_a_tab_and_a_pane_again(page: Page) -> None:
    """Alt and an arrow on the grip join the neighbour and leave it; the palette shows a hidden tab."""
    news, chart = pane(page, "news"), pane(page, "chart")
    grip(page, "News").focus()
    page.keyboard.press("Alt+ArrowLeft")
    expect(chart).to_be_hidden()
    page.keyboard.press("Escape")
    expect(chart).to_be_visible()
    page.keyboard.press("Alt+ArrowLeft")
    page.keyboard.press("Enter")
    expect(grip(page, "News")).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("Go to pane: Chart")
    expect(page.get_by_role("option", name="Go to pane: Chart")).to_be_visible()
    page.keyboard.press("Enter")
    expect(chart).to_be_focused()
    expect(news).to_be_hidden()
    grip(page, "Chart").press("Alt+ArrowDown")
    expect(news).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("Control+z")
    expect(news).to_be_hidden()
    page.get_by_role("button", name="Make Chart a pane of its own").click()
    expect(grip(page, "Chart")).to_be_focused()
    expect(news).to_be_visible()
    assert empty_cells(page) == 0


def test_a_pane_has_a_window_of_its_own(page: Page) -> None:
    """All windows choose one symbol, and the others keep what a pop-out chooses for its pane."""
    chart = pane(page, "chart")
    chart.get_by_role("button", name="6M").click()
    expect(chart.get_by_role("button", name="6M", pressed=True)).to_be_visible()
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Open Chart in a window of its own").click()
    popped = opened.value
    expect(popped).to_have_title("Chart · quotecast")
    expect(popped.locator(".pane")).to_have_count(1)
    expect(popped.get_by_role("button", name="6M", pressed=True)).to_be_visible()
    pane(page, "watchlist").locator("tr[data-row]").nth(1).click()
    expect(popped.locator("h3")).to_have_text("MSFT")
    popped.get_by_role("button", name="1Y", exact=True).click()
    expect(popped.get_by_role("button", name="1Y", exact=True, pressed=True)).to_be_visible()
    expect(chart.get_by_role("button", name="1Y", exact=True, pressed=True)).to_be_visible()
    for title in ("Chart", "Watchlist"):
        page.get_by_role("button", name=f"Link of {title}").click()
    popped.goto(popped.url.replace("pane=chart", "pane=watchlist"))
    popped.locator("tr[data-row]").nth(2).click()
    expect(chart.locator("h3")).to_have_text("NVDA")
    expect(page).to_have_title(re.compile("^MSFT"))
    popped.goto(popped.url.replace("pane=watchlist", "pane=gone"))
    expect(popped.get_by_text("This pane no longer exists.")).to_be_visible()


def test_a_blocked_window_is_explained(page: Page) -> None:
    """The browser may block pop-up windows."""
    page.evaluate("window.open = () => null")
    page.get_by_role("button", name="Open Chart in a window of its own").click()
    expect(page.get_by_role("alert")).to_contain_text("The browser blocked the window of Chart.")


def test_a_pane_below_the_screen_is_dropped_where_the_pointer_is(page: Page) -> None:
    """The workspace has scrolled; a click on a heading moves nothing."""
    company = pane(page, "company")
    company.scroll_into_view_if_needed()
    heading, place = box_of(company.locator("h2")), place_of(company)
    page.mouse.move(heading.x + 5, heading.y + 5)
    page.mouse.down()
    page.mouse.move(heading.x + 6, heading.y + 5)
    assert place_of(company) == place
    portfolio = box_of(pane(page, "portfolio"))
    page.mouse.move(portfolio.x + portfolio.width / 2, portfolio.y + portfolio.height / 2, steps=5)
    page.mouse.up()
    assert place_of(company) == "7 / span 6, 25 / span 13"
    assert place_of(pane(page, "portfolio")) == place


def test_escape_cancels_a_drag(page: Page) -> None:
    """A drag follows the pointer, Escape puts the pane back, and releasing the pointer keeps it."""
    movers = pane(page, "movers")
    before = place_of(movers)
    corner = box_of(movers.locator("[data-handle=resize]"))
    assert min(corner.width, corner.height) >= 24
    x, y = corner.x + 12, corner.y + 12

    def drag() -> None:
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y + 150, steps=5)
        assert place_of(movers) != before

    drag()
    page.keyboard.press("Escape")
    assert place_of(movers) == before
    page.mouse.up()
    assert place_of(movers) == before
    assert page.evaluate(STORED) is None
    drag()
    page.mouse.up()
    assert place_of(movers) != before
    assert page.evaluate(STORED) is not None
    page.keyboard.press("Control+z")
    assert place_of(movers) == before


def test_a_closed_pane_comes_back(page: Page) -> None:
    """The focus goes from a closed pane to the next; a notice and keys undo and redo, but not in a field."""
    page.get_by_role("button", name="Close Movers").click()
    expect(pane(page, "movers")).to_have_count(0)
    expect(grip(page, "News")).to_be_focused()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(pane(page, "movers")).to_be_focused()
    page.keyboard.press("Control+Shift+z")
    expect(pane(page, "movers")).to_have_count(0)
    expect(page.get_by_role("tab", name="Main")).to_be_focused()
    page.get_by_role("button", name="Add pane").click()
    page.get_by_role("button", name="Default layout").click()
    expect(page.get_by_role("status").get_by_text("default layout")).to_be_visible()
    expect(pane(page, "movers")).to_have_count(1)
    page.get_by_role("tab").dblclick()
    page.get_by_label("Name of the workspace").press("Control+z")
    expect(pane(page, "movers")).to_have_count(1)
    page.keyboard.press("Escape")
    pane(page, "chart").focus()
    page.keyboard.press("Control+z")
    expect(pane(page, "movers")).to_have_count(0)


def test_a_pane_fills_the_workspace_and_goes_back(page: Page) -> None:
    """A double click on the title, the button and the key m maximise a pane; Escape restores it."""
    news, main = pane(page, "news"), page.get_by_role("main")
    wait_for_price(page)
    before = box_of(news)

    def fills() -> bool:
        now, whole = box_of(news), box_of(main)
        return now.width > whole.width - 12 and now.height > whole.height - 12

    news.locator("h2").dblclick()
    expect(pane(page, "chart")).to_be_hidden()
    assert fills()
    page.keyboard.press("Escape")
    expect(pane(page, "chart")).to_be_visible()
    assert box_of(news) == before
    grip(page, "News").focus()
    page.keyboard.press("m")
    expect(pane(page, "chart")).to_be_hidden()
    page.get_by_role("button", name="Restore News").click()
    expect(pane(page, "chart")).to_be_visible()
    assert page.evaluate(STORED) is None
    page.get_by_role("button", name="Maximise News").click()
    assert fills()
    page.reload()
    expect(pane(page, "chart")).to_be_visible()


def test_a_new_pane_is_in_view_with_the_focus(page: Page) -> None:
    """A new pane of the header's menu comes into view, takes the focus, and has a title of its own."""
    page.get_by_role("button", name="Add pane").click()
    page.get_by_role("group", name="Add pane").get_by_role("button", name="Chart").click()
    second = page.get_by_role("region", name="Chart 2")
    expect(second).to_be_focused()
    expect(second).to_be_in_viewport(ratio=0.99)


def test_few_keys_reach_the_panes(page: Page) -> None:
    """The first Tab stop skips to the panes; a header has two stops, a choice one, and its arrows choose."""
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the panes")
    expect(skip).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    tools = page.evaluate(STOPS, ".pane > header > .tools")
    frame = [stop for stop in page.evaluate(STOPS, ".pane > header") if stop not in tools]
    assert frame == [
        label
        for title in TITLES
        for label in (
            f"Move or resize {title}{GRIP_KEYS}",
            f"Maximise {title} (m)",
        )
    ]
    assert page.evaluate(STOPS, "[data-kind=movers] .choice") == ["Gainers"]
    page.get_by_role("radio", name="Gainers").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Losers")).to_be_focused()
    expect(page.get_by_role("radio", name="Losers")).to_be_checked()
    page.get_by_role("button", name="Maximise Movers").focus()
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Close Movers")).to_be_focused()


def test_linked_panes_have_a_symbol_of_their_own(page: Page) -> None:
    """A row of a linked list changes the panes of its link only, also after a reload."""
    chart, company = pane(page, "chart"), pane(page, "company")
    for title in ("Chart", "Watchlist"):
        page.get_by_role("button", name=f"Link of {title}: none").click()
        expect(page.get_by_role("button", name=f"Link of {title}: 1")).to_be_visible()
    expect(chart.locator("h3")).to_have_text("AAPL")
    pane(page, "watchlist").get_by_role("button", name="MSFT", exact=True).click()
    expect(chart.locator("h3")).to_have_text("MSFT")
    expect(company.locator("h3").first).to_have_text("AAPL")
    assert "AAPL" in page.url
    pane(page, "crypto").get_by_role("button", name="ETH/USDT").click()
    expect(page).to_have_url(re.compile("ETH"))
    expect(chart.locator("h3")).to_have_text("MSFT")
    page.reload()
    expect(chart.locator("h3")).to_have_text("MSFT")


def test_a_question_mark_lists_the_keys(page: Page) -> None:
    """Escape closes the list."""
    wait_for_price(page)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_contain_text("Maximise the pane with the focus")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_rows_are_as_dense_as_the_reader_wants(page: Page) -> None:
    """The choice outlives a reload."""
    page.get_by_role("button", name="Settings", exact=True).click()
    page.get_by_role("radio", name="Roomy").click()
    row = pane(page, "watchlist").locator("tbody tr[data-row]").first
    expect(row).to_have_js_property("offsetHeight", 32)
    page.reload()
    wait_for_price(page)
    expect(row).to_have_js_property("offsetHeight", 32)


def test_times_are_of_the_clock_and_the_zone_that_the_reader_wants(page: Page) -> None:
    """The chart's axis and the status line write 24 hours."""
    clock = page.locator(".exchange")
    expect(clock).to_have_text(re.compile("[AP]M$"))
    page.get_by_role("button", name="Settings", exact=True).click()
    page.get_by_role("radio", name="24 hours").click()
    page.get_by_role("radio", name="New York").click()
    expect(clock).to_have_text(re.compile(r"^New York \d\d:\d\d:\d\d$"))
    page.keyboard.press("Escape")
    times = pane(page, "news").locator("time").first
    expect(times).to_have_text(re.compile(r"\d\d:\d\d$"))
