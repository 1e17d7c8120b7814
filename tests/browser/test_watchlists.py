"""Several watchlists on the terminal page, their order and columns, and the keys of tables."""

import re

import pytest
from playwright.sync_api import APIResponse, Browser, Locator, Page, Response, Route, expect

from support.servers.opened_page import (
    DEADLINE_MS,
    address,
    eventually,
    fetched,
    log_in,
    open_page,
    register,
    wait_for_price,
)
from support.servers.service import Service

pytestmark = pytest.mark.browser

#: As wide as they are by default.
PANES = [
    {"id": kind, "kind": kind, "x": x, "y": 0, "w": width, "h": 14}
    for kind, x, width in (("watchlist", 0, 3), ("chart", 3, 6), ("crypto", 9, 3))
]


def symbols(pane: Locator) -> list[str]:
    return pane.locator("button.symbol").all_text_contents()


def focused(page: Page) -> str:
    label: str = page.evaluate(
        "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
    )
    return label


def add_list(pane: Locator, name: str) -> None:
    pane.get_by_role("button", name="New list").click()
    pane.get_by_label("Name of the list").fill(name)
    pane.get_by_role("button", name="Save").click()


def test_table_is_one_tab_stop_with_keys_for_everything(page: Page) -> None:
    """Keys reach every row, also rows out of view, their buttons and the headings; Alt moves a row."""
    pane = page.locator("[data-kind=watchlist]")
    wait_for_price(page)
    assert pane.locator("table :is(button, a, input)").count() > 10
    expect(pane.locator("table :is(button, a, input):not([tabindex='-1'])")).to_have_count(1)
    pane.locator("button.symbol").first.focus()
    seen = []
    for key in ("ArrowDown", "ArrowDown", "End", "ArrowRight", "ArrowLeft", "Home", "ArrowUp"):
        page.keyboard.press(key)
        seen.append(focused(page))
    assert seen == ["MSFT", "NVDA", "XU100", "Remove XU100", "XU100", "AAPL", "Symbol"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageUp")
    page.keyboard.press("Alt+ArrowDown")
    assert (focused(page), symbols(pane)[:2]) == ("AAPL", ["MSFT", "AAPL"])
    expect(pane.get_by_role("status").last).to_have_text("AAPL: 2 of 16")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("[data-kind=chart] h3").first).to_contain_text("NVDA")


def test_focused_row_out_of_view_keeps_the_focus(page: Page) -> None:
    """The focus stays on a row that is scrolled out of view, and on a row that the sorting moves."""
    page.locator("[data-kind=crypto]").scroll_into_view_if_needed()
    frame = page.locator("[data-kind=crypto] .table-frame")
    row = frame.locator("button.symbol").first
    # Before their quotes come, the pairs are in alphabetical order.
    page.wait_for_function("""() => {
        const buttons = document.querySelectorAll("[data-kind=crypto] button.symbol");
        const names = [...buttons].map((each) => each.textContent);
        return names.length > 1 && names.join() !== [...names].sort().join();
    }""")
    row.focus()
    name = focused(page)
    frame.evaluate("frame => { frame.scrollTop = frame.scrollHeight; }")
    expect(frame.locator("tr[aria-rowindex='72']")).to_be_attached()
    assert focused(page) == name
    page.keyboard.press("ArrowDown")
    # By the turnover of now, the row may be the first no longer.
    expect(frame.locator("button.symbol:focus")).to_be_in_viewport()
    expect(frame.locator("tr[aria-rowindex='72']")).to_have_count(0)
    # Sorting by symbol moves the focused row.
    frame.get_by_role("button", name="Symbol").evaluate("button => button.click()")
    expect(frame.locator("th[aria-sort=ascending]")).to_have_count(1)
    assert page.evaluate("document.activeElement.matches('button.symbol')")


def test_rows_are_dragged_and_stepped_and_the_order_survives_sorting(
    browser: Browser, service: Service
) -> None:
    """A handle drags a row, buttons move the selected one, and sorting hides the own order without a loss."""
    with open_page(browser, service.url, panes=PANES) as page:
        wait_for_price(page)
        pane = page.locator("[data-kind=watchlist]")
        first, third = (pane.locator(".handle").nth(index).bounding_box() for index in (0, 2))
        assert first
        assert third
        page.mouse.move(first["x"] + 12, first["y"] + 12)
        page.mouse.down()
        page.mouse.move(third["x"] + 12, third["y"] + 12, steps=4)
        page.mouse.up()
        assert symbols(pane)[:4] == ["MSFT", "NVDA", "AAPL", "AMZN"]
        pane.get_by_role("button", name="Move AAPL up").click()
        assert symbols(pane)[:4] == ["MSFT", "AAPL", "NVDA", "AMZN"]
        pane.get_by_role("columnheader", name="Symbol").get_by_role("button").click()
        expect(pane.locator("button.symbol").first).to_have_text("AAPL")
        assert symbols(pane)[1] == "AMZN"
        expect(pane.locator(".handle")).to_have_count(0)
        page.reload()
        expect(pane.locator("button.symbol").nth(0)).to_have_text("AAPL", timeout=DEADLINE_MS)
        expect(pane.locator("button.symbol").nth(1)).to_have_text("AMZN", timeout=DEADLINE_MS)
        pane.get_by_role("button", name="Own order").click()
        expect(pane.locator("button.symbol").first).to_have_text("MSFT")
        assert symbols(pane)[:4] == ["MSFT", "AAPL", "NVDA", "AMZN"]


def test_columns_are_chosen_and_remembered(browser: Browser, service: Service) -> None:
    """Chosen columns stay in a narrow pane and after a reload."""
    with open_page(browser, service.url, panes=PANES) as page:
        wait_for_price(page)
        pane = page.locator("[data-kind=watchlist]")
        pane.get_by_role("button", name="Columns").click()
        for name in ("Bid", "Day range"):
            pane.get_by_label(name).check()
        pane.get_by_label("Volume").uncheck()
        page.keyboard.press("Escape")
        expect(pane.get_by_label("Bid")).to_have_count(0)
        page.reload()
        wait_for_price(page)
        titles = pane.locator("thead th").all_text_contents()
        assert {"Bid", "Day range"} <= set(titles)
        assert "Volume" not in titles
        row = pane.locator("tbody tr", has_text="AAPL")
        expect(row.locator("td").nth(titles.index("Day range") - 1)).to_have_text(re.compile(r"\d . \d"))


def test_lists_of_a_browser_become_those_of_its_account(browser: Browser, service: Service) -> None:
    """Lists work logged out; a new account takes them over, and another browser of the account sees them."""
    with open_page(browser, service.url, panes=PANES) as page:
        wait_for_price(page)
        pane = page.locator("[data-kind=watchlist]")
        add_list(pane, "Coins")
        expect(pane).to_contain_text("No symbols yet")
        star = page.locator("[data-kind=chart]").get_by_role("button", name="Add to watchlist")
        star.click()
        add_list(pane, "coins")
        expect(pane.get_by_role("alert")).to_have_text("Another list has this name.")
        page.keyboard.press("Escape")
        page.reload()
        expect(pane.get_by_label("List", exact=True).locator("option")).to_have_text(["Watchlist", "Coins"])
        expect(pane.locator("button.symbol")).to_have_text(["AAPL"])
        with page.expect_response(
            lambda answer: answer.request.method == "GET" and "/watchlists" in answer.url
        ):
            register(page, address(browser, "lists"))
        expect(pane.locator("button.symbol")).to_have_text(["AAPL"])
        pane.get_by_role("button", name="Rename the list Coins").click()
        pane.get_by_label("Name of the list").fill("Stocks")
        with page.expect_response(lambda answer: answer.request.method == "PATCH"):
            pane.get_by_role("button", name="Save").click()
        pane.get_by_label("List", exact=True).select_option("Watchlist")
        expect(pane.locator("button.symbol").first).to_have_text("AAPL")
        expect(pane.locator("button.symbol").nth(1)).to_have_text("MSFT")
        pane.locator("button.symbol").first.focus()
        # The page may store the order after the first step already.
        with page.expect_response(is_stored_in_order):
            page.keyboard.press("Alt+ArrowDown")
            page.keyboard.press("Alt+ArrowDown")
    with open_page(browser, service.url, panes=PANES) as page:
        log_in(page, address(browser, "lists"))
        pane = page.locator("[data-kind=watchlist]")
        expect(pane.get_by_label("List", exact=True).locator("option")).to_have_text(["Watchlist", "Stocks"])
        expect(pane.locator("button.symbol").nth(2)).to_have_text("AAPL")
        pane.get_by_label("List", exact=True).select_option("Stocks")
        expect(pane.locator("button.symbol")).to_have_text(["AAPL"])


def is_stored_in_order(answer: Response) -> bool:
    if "/watchlist/order" not in answer.url:
        return False
    return [each["ticker"] for each in answer.json()][:3] == ["MSFT", "NVDA", "AAPL"]


def is_of_both_lists(answer: Response) -> bool:
    return answer.url.endswith("/api/watchlists") and len(answer.json()) == 2


def test_a_list_added_during_the_first_load_stays(page: Page) -> None:
    """The answer about the lists that was under way when the reader added one does not hide it."""
    held: list[tuple[Route, APIResponse]] = []

    def hold_first(route: Route) -> None:
        if route.request.method == "GET" and not held:
            held.append((route, fetched(route)))
        else:
            route.continue_()

    page.route("**/api/watchlists", hold_first)
    register(page, address(page.context.browser, "early"))
    eventually(page, lambda: held, "the lists are not asked for")
    pane = page.locator("[data-kind=watchlist]")
    add_list(pane, "Early")
    options = pane.get_by_label("List", exact=True).locator("option")
    expect(options).to_have_text(["Watchlist", "Early"])
    ((route, answer),) = held
    assert [each["name"] for each in answer.json()] == ["Watchlist"]
    with page.expect_response(is_of_both_lists):
        route.fulfill(response=answer)
    expect(options).to_have_text(["Watchlist", "Early"])


def test_deleted_list_comes_back(page: Page) -> None:
    """Undo brings a deleted list back with its symbols; the first list cannot be deleted."""
    with page.expect_response(lambda answer: answer.url.endswith("/api/watchlists")):
        register(page, address(page.context.browser, "undone"))
    pane = page.locator("[data-kind=watchlist]")
    expect(pane.get_by_role("button", name=re.compile("Delete the list"))).to_have_count(0)
    add_list(pane, "Short")
    expect(pane.get_by_label("List", exact=True).locator("option")).to_have_count(2)
    with page.expect_response(lambda answer: "/api/watchlist?list=" in answer.url):
        page.locator("[data-kind=chart]").get_by_role("button", name="Add to watchlist").click()
    with page.expect_response(lambda answer: answer.request.method == "DELETE"):
        pane.get_by_role("button", name="Delete the list Short").click()
    expect(pane.get_by_label("List", exact=True).locator("option")).to_have_text(["Watchlist"])
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        pane.get_by_role("button", name="Undo").click()
    page.reload()
    expect(pane.get_by_label("List", exact=True).locator("option")).to_have_text(["Watchlist", "Short"])
    expect(pane.locator("button.symbol")).to_have_text(["AAPL"])
