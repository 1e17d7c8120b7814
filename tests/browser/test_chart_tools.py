"""What a reader does with a chart: look back, add indicators, compare, and save a picture."""

import re
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from browser.charts import CHART, WATCHLIST, chart_of, memory, open_chart, open_panel, wait_for_chart
from quotecast.market.sessions import NEW_YORK
from support.clients.axe import violations
from support.servers.opened_page import DEADLINE_MS, bring_up, open_page, wait_for_price
from support.servers.service import Service

pytestmark = pytest.mark.browser

#: Reads the legend of the bar under the middle of the chart.
MIDDLE = """() => {
    const { left, right, top, height } = document.querySelector('.plot .canvas').getBoundingClientRect();
    const at = { clientX: (left + right) / 2, clientY: top + height / 3, bubbles: true };
    const canvas = document.elementFromPoint(at.clientX, at.clientY);
    canvas.dispatchEvent(new MouseEvent('mouseenter', at));
    canvas.dispatchEvent(new MouseEvent('mousemove', at));
    return document.querySelector('.plot .legend').textContent;
}"""


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    """Yields the page with the chart of Apple beside the watchlist."""
    with open_chart(browser, service.url) as page:
        yield page


def count_of_bars(page: Page) -> int:
    return int(page.locator(".plot .canvas").get_attribute("data-bars") or 0)


def refuse(route: Route) -> None:
    """Answers 429 as the service does."""
    route.fulfill(status=429, headers={"Retry-After": "6"}, json={"detail": "Too Many Requests"})


def test_a_chart_scrolls_back_without_a_jump(page: Page) -> None:
    """Older bars come one request at a time while the view stays; a busy service is asked again later."""
    first, asked, running = count_of_bars(page), list[str](), list[int]([0])

    def begin(request: Request) -> None:
        if "order=desc" in request.url:
            asked.append(request.url)
            running.append(running[-1] + 1)

    def end(request: Request) -> None:
        if "order=desc" in request.url:
            running.append(running[-1] - 1)

    page.on("request", begin)
    page.on("requestfinished", end)
    page.route("**/bars/AAPL?*order=desc*", refuse, times=1)
    page.locator(".plot .canvas").focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(page.locator(".plot .past")).to_contain_text("busy")
    before = page.evaluate(MIDDLE)
    page.wait_for_function(f"() => document.querySelector('.plot .canvas').dataset.bars >= {first + 1000}")
    assert page.evaluate(MIDDLE) == before
    deadline = time.monotonic() + DEADLINE_MS / 1000
    while count_of_bars(page) < first + 3000:
        page.keyboard.press("PageUp")
        assert time.monotonic() < deadline, "a page holds a thousand bars"
    assert len(asked) == len(set(asked)) + 1, "only the refused request is sent again"
    assert max(running) == 1
    assert re.search(r"C \d", page.evaluate(MIDDLE))


def test_indicators_follow_their_lengths_and_outlive_the_page(page: Page) -> None:
    """Every indicator has a value at the crosshair, also those in panes of their own, and after a reload."""
    panel = open_panel(page, "Indicators")
    for name in ("SMA", "EMA", "VWAP", "Bollinger", "RSI", "MACD", "ATR"):
        panel.get_by_role("button", name=f"+ {name}", exact=True).click()
    length = panel.get_by_label("SMA: Length")
    length.fill("100000")
    length.press("Tab")
    expect(length).to_have_value("400")
    length.fill("5")
    # The panel is drawn again while the reader types.
    panel.get_by_label("Dividends").evaluate("box => box.click()")
    expect(length).to_have_value("5")
    length.press("Tab")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    rows = page.locator(".plot .values li")
    expect(rows).to_have_count(7)
    expect(rows.nth(0)).to_have_text(re.compile(r"^SMA 5\s*\d"))
    expect(rows.nth(5)).to_have_text(re.compile(r"^MACD 12 26 9\s*-?\d\S*\s+-?\d\S*\s+-?\d"))
    page.reload()
    wait_for_chart(page)
    for row in range(7):
        expect(rows.nth(row)).to_have_text(re.compile(r"\d\S*$"), timeout=DEADLINE_MS)
    before = rows.nth(0).inner_text()
    expect(rows.nth(0)).not_to_have_text(before, timeout=DEADLINE_MS)


def test_symbols_of_all_feeds_are_compared_in_percent(page: Page) -> None:
    """A chart compares symbols of any feed; each has its change since the left edge in the legend."""
    panel = open_panel(page, "Compare")
    for text in ("msft", "btc-usdt", "usd"):
        panel.get_by_label("Symbol to compare").fill(text)
        page.keyboard.press("Enter")
        expect(panel.get_by_label("Symbol to compare")).to_have_value("")
    panel.get_by_label("Symbol to compare").fill("nothing")
    page.keyboard.press("Enter")
    expect(panel.get_by_role("status")).to_have_text("No feed knows this symbol")
    page.keyboard.press("Escape")
    rows = page.locator(".plot .values li")
    expect(rows).to_have_count(4)
    for row, name in enumerate(("AAPL", "MSFT", "BTC/USDT")):
        expect(rows.nth(row)).to_have_text(re.compile(rf"^{name}\s*[+-]?\d+\.\d\d%$"), timeout=DEADLINE_MS)
    assert memory(page)["compare"] == "stock MSFT|crypto BTC/USDT|doviz USD"


#: Returns the colour of each row of the legend by its name.
SWATCHES = """() => Object.fromEntries([...document.querySelectorAll('.plot .values li')].map(
    (row) => [row.querySelector('b').textContent, row.style.getPropertyValue('--swatch')]))"""


def test_indicators_and_their_colours_outlive_a_comparison(page: Page) -> None:
    """A compared symbol leaves all indicators as they are, and what goes recolours nothing that stays."""
    panel = open_panel(page, "Indicators")
    for name in ("SMA", "EMA", "RSI"):
        panel.get_by_role("button", name=f"+ {name}", exact=True).click()
    rows = page.locator(".plot .values li")
    expect(rows).to_have_count(3)
    before = page.evaluate(SWATCHES)
    panel = open_panel(page, "Compare")
    for text in ("msft", "btc-usdt"):
        panel.get_by_label("Symbol to compare").fill(text)
        page.keyboard.press("Enter")
        expect(panel.get_by_label("Symbol to compare")).to_have_value("")
    expect(rows).to_have_count(6)
    compared = page.evaluate(SWATCHES)
    assert compared.items() >= before.items()
    panel.get_by_role("button", name="Remove MSFT").click()
    open_panel(page, "Indicators").get_by_role("button", name="Remove SMA 20").click()
    expect(rows).to_have_count(4)
    left = page.evaluate(SWATCHES)
    assert left == {name: compared[name] for name in ("AAPL", "BTC/USDT", "EMA 50", "RSI 14")}
    page.reload()
    wait_for_chart(page)
    page.wait_for_function(f"(left) => JSON.stringify(({SWATCHES})()) === JSON.stringify(left)", arg=left)


def test_the_scale_is_logarithmic_or_in_percent(page: Page) -> None:
    """The scale is remembered; lines over the prices stay in each."""
    open_panel(page, "Indicators").get_by_role("button", name="+ SMA", exact=True).click()
    rows = page.locator(".plot .values li")
    expect(rows).to_have_count(1)
    panel = open_panel(page, "Scale")
    panel.get_by_role("button", name="Logarithmic").click()
    expect(rows).to_have_count(1)
    assert memory(page)["scale"] == "log"
    panel.get_by_role("button", name="Percent").click()
    page.wait_for_function("() => localStorage['quotecast.layout'].includes('percent')")
    expect(rows).to_have_text(re.compile(r"^SMA 20\s*\d"))
    panel.get_by_role("button", name="Linear").click()
    panel.get_by_label("Fit the prices in view").uncheck()
    expect(panel.get_by_label("Fit the prices in view")).not_to_be_checked()


def test_extended_hours_are_asked_for_and_their_absence_is_said(page: Page) -> None:
    """The chart asks for extended hours; where the source has regular ones only, it says so."""
    panel = open_panel(page, "Scale")
    with page.expect_response(lambda answer: "session=extended" in answer.url) as found:
        panel.get_by_label("Extended hours").check()
    assert found.value.headers["x-session"] == "regular", "the simulator has one session"
    expect(panel.get_by_role("status")).to_have_text("The source of these bars has regular hours only.")
    chart_of(page).get_by_role("button", name="1h", exact=True).click()
    expect(panel).to_contain_text("Bars of at most 15 minutes have extended hours.")


def test_a_picture_is_saved_and_the_chart_fills_the_screen(page: Page) -> None:
    """The picture is a PNG named by symbol, interval and time; the button begins and ends full screen."""
    with page.expect_download() as started:
        chart_of(page).get_by_role("button", name="Save as PNG").click()
    assert re.fullmatch(r"AAPL-15m-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.png", started.value.suggested_filename)
    assert started.value.path().read_bytes().startswith(b"\x89PNG")
    button = chart_of(page).get_by_role("button", name="Full screen")
    button.click()
    page.wait_for_function("() => document.fullscreenElement?.querySelector('.plot')")
    button.click()
    page.wait_for_function("() => !document.fullscreenElement")


def test_the_toolbar_has_one_tab_stop_and_fits_a_narrow_pane(browser: Browser, service: Service) -> None:
    """Arrows move inside the toolbar; on a phone lists replace the rows of buttons."""
    with open_page(browser, service.url, panes=[WATCHLIST, CHART]) as page:
        wait_for_chart(page)
        toolbar = page.get_by_role("toolbar", name="Chart tools")
        expect(toolbar.locator("[tabindex='0']")).to_have_count(1)
        toolbar.locator("[tabindex='0']").focus()
        page.keyboard.press("End")
        expect(toolbar.get_by_role("button", name="Full screen")).to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(toolbar.get_by_role("button", name="1D", exact=True)).to_be_focused()
        expect(toolbar.locator("[tabindex='0']")).to_have_count(1)
        page.set_viewport_size({"width": 390, "height": 800})
        page.locator(".pane-bar").wait_for()
        bring_up(page, "chart")
        toolbar.get_by_role("combobox", name="Interval").select_option("1h")
        page.wait_for_function("() => document.querySelector('.plot .canvas canvas')")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize(("language", "scheme"), [("en-US", "dark"), ("tr-TR", "light")])
def test_axe_finds_nothing_in_the_panels(
    browser: Browser, service: Service, language: str, scheme: Any
) -> None:
    """WCAG 2.2 AA: each open panel has no violation, in both languages and themes."""
    settings = {"locale": language, "color_scheme": scheme}
    with open_page(browser, service.url, panes=[WATCHLIST, CHART], **settings) as page:
        wait_for_price(page)
        page.locator(".plot canvas").first.wait_for()
        for name in ("indicators", "compare", "scale", "draw"):
            page.locator(f"[data-panel={name}]").click()
            page.locator(".stage .panel form, .stage .panel .choice, .stage .panel .adding").first.wait_for()
            assert violations(page, ".chart-frame") == []


#: Returns whether the tools share one row.
ONE_ROW = """(tools) => tools.offsetHeight < 1.5 * Math.max(
    ...[...tools.querySelectorAll('button, select')].map((each) => each.offsetHeight))"""


def test_the_tools_share_one_row(page: Page) -> None:
    """No button of the tools wraps at common widths."""
    tools = chart_of(page).get_by_role("toolbar", name="Chart tools")
    for width in (390, 768, 1024, 1366, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.locator(
            f"[data-shape={'stack' if width < 761 else 'columns' if width < 1024 else 'grid'}]"
        ).wait_for()
        bring_up(page, "chart")
        page.wait_for_function(ONE_ROW, arg=tools.element_handle())


def test_a_panel_focuses_its_first_field(page: Page) -> None:
    """A reader types into a panel at once; the closing button comes later."""
    panel = open_panel(page, "Compare")
    expect(panel.get_by_label("Symbol to compare")).to_be_focused()


def test_a_maximised_chart_shows_the_same_bars_after_it_is_restored(page: Page) -> None:
    """The first bar in view is the same one as before."""
    # A bar of days does not end during the test.
    chart_of(page).get_by_role("button", name="1Y", exact=True).click()
    wait_for_chart(page)
    before = page.evaluate(MIDDLE)
    chart_of(page).focus()
    for key, size in (("m", "> 1200"), ("Escape", "< 1200")):
        page.keyboard.press(key)
        page.wait_for_function(f"() => document.querySelector('.plot canvas').offsetWidth {size}")
    page.wait_for_function(f"(before) => ({MIDDLE})() === before", arg=before)


#: Returns the open of the bar that both legends show, or "": prices move the other values of the newest bar.
COMMON_OPEN = """() => {
    const opens = [...document.querySelectorAll('.plot .legend')]
        .map((each) => /O [\\d.]+/.exec(each.textContent)?.[0]);
    return opens[0] === opens[1] && opens[0] || '';
}"""


def test_charts_show_the_same_moment_under_the_crosshair(browser: Browser, service: Service) -> None:
    """A pointer on one chart moves the crosshair of the other, and takes it away again."""
    # The first hours of a day leave most of a chart of the day empty.
    year = {"range": "1Y", "interval": "D"}
    first = CHART | {"x": 0, "memory": year}
    second = CHART | {"id": "chart-2", "x": 6, "w": 6, "memory": year | {"pin": "stock AAPL"}}
    with open_page(browser, service.url, panes=[first, second]) as page:
        legends = page.locator(".plot .legend")
        expect(legends).to_have_count(2)
        expect(legends.last).to_have_text(re.compile(r"C \d"))
        expect(legends.first).to_have_text(re.compile(r"C \d"))
        newest = page.wait_for_function(COMMON_OPEN).json_value()
        box = page.locator(".plot .canvas").first.bounding_box()
        assert box
        page.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] / 2)
        is_another = f"(open) => ({COMMON_OPEN})() && ({COMMON_OPEN})() !== open"
        page.wait_for_function(is_another, arg=newest)
        pointed = page.evaluate(COMMON_OPEN)
        page.mouse.move(2, 2)
        page.wait_for_function(is_another, arg=pointed)


def test_dividends_splits_and_reports_have_marks(page: Page, service: Service) -> None:
    """The legend says what the mark of a bar is; the chart asks for actions only if the reader wants them."""
    asked: list[str] = []
    page.on(
        "request",
        lambda request: asked.append(request.url) if re.search("actions|calendar", request.url) else None,
    )
    chart_of(page).get_by_role("button", name="1Y", exact=True).click()
    wait_for_chart(page)
    bars = service.get("/api/market/bars/AAPL?range=1Y&interval=D").json()
    last = datetime.fromisoformat(bars[-1]["time"]).astimezone(NEW_YORK).date()
    # A new day may begin meanwhile.
    days = [last, last + timedelta(days=1)]
    paid = [{"type": "cash_dividend", "exDate": f"{day}", "amount": 0.27, "currency": "USD"} for day in days]
    split = {"type": "split", "oldShares": 1, "newShares": 4}
    page.route(
        "**/api/market/actions?*",
        lambda route: route.fulfill(json=[*paid, *({**split, "exDate": f"{day}"} for day in days)]),
    )
    report = {"epsActual": 1.64, "epsEstimate": 1.6}
    page.route(
        "**/api/financials/earnings-calendar?*",
        lambda route: route.fulfill(
            json={"earningsCalendar": [{**report, "date": f"{day}"} for day in days]}
        ),
    )
    rows = page.locator(".plot .values li")
    expect(rows).to_have_count(0)
    assert asked == []
    panel = open_panel(page, "Indicators")
    panel.get_by_label("Dividends, splits and reports").check()
    expect(rows).to_have_text(["Dividend 0.27 USD", "Split 1 → 4", "Earnings per share 1.64, expected 1.6"])
    assert "symbols=AAPL" in asked[0]
    assert all("symbol=AAPL" in url for url in asked if "calendar" in url)
    assert memory(page)["marks"] == "on"
    panel.get_by_label("Dividends, splits and reports").uncheck()
    expect(rows).to_have_count(0)


def test_a_price_after_hours_stands_beside_the_close(page: Page) -> None:
    """The change is that of the live price, not of the answer with the close."""
    hours = {"session": "post", "price": 1.0, "change": 9.0, "changePercent": 9.0, "close": 100.0}
    found = {"extended": {**hours, "timestamp": "2026-11-20T22:00:00Z"}}
    page.route("**/api/market/quotes/AAPL", lambda route: route.fulfill(json=found))
    page.reload()
    headline = chart_of(page).locator(".headline")
    expect(headline).to_contain_text("After hours")
    # Both are of one frame of the page.
    last, shown = headline.evaluate("""each => ["strong", ".extended"].map(
        part => each.querySelector(part).textContent.replace(",", "").replace("\N{MINUS SIGN}", "-"))""")
    change = re.fullmatch(r"After hours ([+-][\d.]+) \([+-][\d.]+\s?%\) close 100.00", shown)
    assert change, shown
    assert float(change[1]) == pytest.approx(float(last) - 100)
