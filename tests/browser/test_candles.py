"""The chart shows the service's bars, also after the page was hidden or offline."""

import contextlib
import re
import socket
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from support.servers.browsers import both_browsers
from support.servers.fault_proxy import FaultProxy
from support.servers.opened_page import eventually, open_page, panes_of, wait_for_live, wait_for_price
from support.servers.service import Service
from support.servers.terminal_service import Databases, fast_market

pytestmark = pytest.mark.browser
PANES = [*panes_of("watchlist", "chart"), *panes_of("doviz", y=14)]

PAIR = "BTC/USDT"
#: Speed of the simulator at which a minute of the market takes three seconds. A feed is stale at that age, so
#: an ingest that pauses for longer than a minute says so.
FAST = 20
#: No test needs more minutes of the market; at that speed they take 45 seconds.
QUARTER = timedelta(minutes=15)
#: Speed of the simulator at which a day of the market takes nine seconds.
FASTEST = 10_000

#: Hides the page as a browser does: reports it hidden, and draws no frames. No browser has negative ids.
HIDE = """() => {
    const { requestAnimationFrame: ask, cancelAnimationFrame: cancel } = window;
    const held = { ask, cancel, waiting: new Map() };
    window.held = held;
    let last = 0;
    window.requestAnimationFrame = (callback) => (held.waiting.set(--last, callback), last);
    window.cancelAnimationFrame = (id) => held.waiting.delete(id) || cancel.call(window, id);
    for (const [name, value] of [['hidden', true], ['visibilityState', 'hidden']])
        Object.defineProperty(document, name, { configurable: true, value });
    document.dispatchEvent(new Event('visibilitychange'));
}"""
SHOW = """() => {
    window.requestAnimationFrame = window.held.ask;
    window.cancelAnimationFrame = window.held.cancel;
    delete document.hidden;
    delete document.visibilityState;
    document.dispatchEvent(new Event('visibilitychange'));
    window.held.waiting.forEach((callback) => callback(performance.now()));
}"""
#: Collects the chart's legend of each bar, from left to right, by moving the pointer over all of them.
LEGENDS = """() => {
    const { left, right, top, bottom } = document.querySelector('.plot .canvas').getBoundingClientRect();
    const y = (top + bottom) / 2;
    const canvas = document.elementFromPoint((left + right) / 2, y);
    const send = (name, x) =>
        canvas.dispatchEvent(new MouseEvent(name, { clientX: x, clientY: y, bubbles: true }));
    send('mouseenter', left);
    const legends = new Set();
    for (let x = left; x < canvas.getBoundingClientRect().right; x += 1) {
        send('mousemove', x);
        legends.add(document.querySelector('.plot .legend').textContent.split('  V')[0]);
    }
    send('mouseleave', left);
    return [...legends];
}"""


@pytest.fixture(scope="module", params=[FAST])
def fast_service(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Service]:
    """Runs a service whose market is that many times faster than the clock."""
    with fast_market(databases, request.param) as running:
        yield running


def show_minutes(page: Page, service: Service) -> None:
    """Shows the pair's minutes in the chart.

    Waits out the end of a day of the market: a chart of the day begins anew at midnight.
    """

    def is_early() -> bool:
        now = market_time(service)
        return now.date() == (now + QUARTER).date()

    eventually(page, is_early, "the day does not end")
    show_chart(page, "1m")


def show_chart(page: Page, timeframe: str) -> None:
    """Shows the pair's bars in the chart."""
    wait_for_price(page)
    page.locator("[data-kind=watchlist] tbody tr", has_text=PAIR).click()
    page.get_by_role("group", name="Interval").get_by_role("button", name=timeframe, exact=True).click()
    page.wait_for_function("() => document.querySelector('.plot .legend')?.textContent")


def market_time(service: Service) -> datetime:
    quote = service.get("/api/crypto/quotes/BTC-USDT").json()
    return datetime.fromisoformat(quote["timestamp"])


def price(value: float) -> str:
    """Returns a price as the chart writes it: that of the pair has two decimals, the dollar's four."""
    return f"{value:,.{2 if value >= 100 else 4}f}"


def legend(bar: dict[str, Any]) -> str:
    """Returns the legend of a bar."""
    names = {"O": "open", "H": "high", "L": "low", "C": "close"}
    return "  ".join(f"{letter} {price(bar[name])}" for letter, name in names.items())


def whole_bars(service: Service, first: datetime, last: datetime) -> set[str]:
    """Returns the service's bars of whole minutes between two moments."""
    bars = service.get("/api/crypto/bars/BTC-USDT?timeframe=1m&limit=100").json()
    minute = timedelta(minutes=1)
    times = {legend(bar): datetime.fromisoformat(bar["time"]) for bar in bars}
    return {text for text, opened_at in times.items() if first <= opened_at <= last - minute}


def shows_all_between(page: Page, service: Service, first: datetime, last: datetime) -> None:
    def shows_all() -> bool:
        wanted = whole_bars(service, first, last)
        return len(wanted) > 2 and wanted <= {*page.evaluate(LEGENDS)}

    eventually(page, shows_all, "the bars that were missed do not come")


@both_browsers
def test_a_page_that_was_hidden_has_every_bar(browser: Browser, fast_service: Service) -> None:
    """A page that was hidden shows every bar that it missed, complete."""
    with open_page(browser, fast_service.url, panes=PANES) as page:
        show_minutes(page, fast_service)
        page.evaluate(HIDE)
        hidden = market_time(fast_service)
        pause = timedelta(minutes=3)
        wait_in_the_market(page, fast_service, hidden, pause)
        page.evaluate(SHOW)
        shows_all_between(page, fast_service, hidden - timedelta(minutes=1), hidden + pause)


@pytest.mark.slow
def test_a_reload_changes_no_candle(browser: Browser, fast_service: Service) -> None:
    """The candles that the page made of the feed are those that it loads.

    A machine that pauses for seconds makes the feed miss minutes of this market, and the history of that time
    is the upstream's: the promise is of a feed that heard everything.
    """
    with open_page(browser, fast_service.url, panes=PANES) as page:
        show_minutes(page, fast_service)
        assert any(keeps_its_candles(page, fast_service) for _ in range(3))


def keeps_its_candles(page: Page, service: Service) -> bool:
    """Waits for minutes that come live, and reloads; returns whether their candles are the same."""
    wait_for_live(page, "crypto")
    wait_in_the_market(page, service, market_time(service), timedelta(minutes=6))
    # The last two may still change.
    closed = page.evaluate(LEGENDS)[-6:-2]
    page.reload()
    show_chart(page, "1m")
    eventually(page, lambda: len(page.evaluate(LEGENDS)) > len(closed), "no candles come")
    return {*closed} <= {*page.evaluate(LEGENDS)}


def wait_in_the_market(page: Page, service: Service, since: datetime, pause: timedelta) -> None:
    eventually(page, lambda: market_time(service) > since + pause, "the market stands still")


@contextlib.contextmanager
def breakable_page(browser: Browser, service: Service) -> Iterator[tuple[Page, FaultProxy]]:
    """Yields a page with the pair's chart, whose feeds are live, and the line between it and the service."""
    connect = lambda: socket.create_connection(("127.0.0.1", service.port))  # noqa: E731
    with (
        FaultProxy(connect) as line,
        open_page(browser, f"http://127.0.0.1:{line.port}", panes=PANES) as page,
    ):
        show_minutes(page, service)
        wait_for_live(page, "crypto")
        yield page, line


def test_the_chart_has_every_bar_after_an_outage(browser: Browser, fast_service: Service) -> None:
    """After an outage of three market minutes the chart has every bar."""
    with breakable_page(browser, fast_service) as (page, line):
        cut, pause = fall_silent(line, fast_service), timedelta(minutes=3)
        wait_in_the_market(page, fast_service, cut, pause)
        line.truncate_after = None
        page.evaluate("window.dispatchEvent(new Event('online'))")
        wait_for_live(page, "crypto")
        shows_all_between(page, fast_service, cut - timedelta(minutes=1), cut + pause)


@pytest.mark.slow
def test_a_hidden_chart_follows_the_market_after_an_outage(browser: Browser, fast_service: Service) -> None:
    """A hidden page that loads its bars again shows the newest ones later: its view has not stood still."""
    with breakable_page(browser, fast_service) as (page, line):
        page.evaluate(HIDE)
        cut, pause = fall_silent(line, fast_service), timedelta(minutes=2)
        wait_in_the_market(page, fast_service, cut, pause)
        with page.expect_response(lambda answer: "/bars/" in answer.url and answer.ok):
            line.truncate_after = None
            page.evaluate("window.dispatchEvent(new Event('online'))")
        loaded = market_time(fast_service)
        wait_in_the_market(page, fast_service, loaded, timedelta(minutes=2))
        page.evaluate(SHOW)
        shows_all_between(page, fast_service, cut, loaded + timedelta(minutes=2))


def fall_silent(line: FaultProxy, service: Service) -> datetime:
    """Cuts the line and keeps it cut; returns the market's time."""
    line.truncate_after = 0
    line.reset()
    return market_time(service)


def keeps_the_days_open(page: Page) -> bool:
    """Waits for another day; returns whether the bar of the day before still has its opening price."""
    before = page.evaluate(LEGENDS)
    eventually(page, lambda: len({*page.evaluate(LEGENDS)} - {*before}) > 1, "no other day comes")
    opens = [text.split("  ")[0] for text in page.evaluate(LEGENDS)]
    return before[-1].split("  ")[0] in opens[:-1]


@pytest.mark.slow
@pytest.mark.parametrize("fast_service", [FASTEST], indirect=True)
def test_a_days_bar_ends_with_its_day(browser: Browser, fast_service: Service) -> None:
    """A day's bar keeps its opening price at the end of its day, and the next bar begins.

    A machine that pauses for days of this market makes the page load its bars again, from the simulated
    provider, whose days open elsewhere: the promise is of days without a pause.
    """
    with open_page(browser, fast_service.url, panes=PANES) as page:
        show_chart(page, "D")
        wait_for_live(page, "crypto")
        assert any(keeps_the_days_open(page) for _ in range(4))


def show_currency(page: Page, timeframe: str) -> None:
    """Shows the dollar's bars in the chart, by its row among the currencies."""
    currencies = page.locator("[data-kind=doviz]")
    currencies.scroll_into_view_if_needed()
    currencies.get_by_role("button", name="US Dollar").click()
    chart = page.locator("[data-kind=chart]")
    expect(chart.locator("h3")).to_have_text("USD")
    chart.get_by_role("button", name=timeframe, exact=True).click()
    expect(chart.locator(".plot .legend")).to_have_text(re.compile(r"C \d"))


def own_minutes(service: Service, count: int) -> set[str]:
    """Returns the dollar's newest final minutes."""
    bars = service.get("/api/doviz/bars/USD?timeframe=1m&limit=100").json()
    return {legend(bar) for bar in bars[-count - 1 : -1]}


@pytest.mark.slow
def test_a_currency_has_candles_that_come_over_the_feed(browser: Browser, fast_service: Service) -> None:
    """A currency's row opens its chart; its minutes come as live bars and equal the service's."""
    with open_page(browser, fast_service.url, panes=PANES) as page:
        wait_for_price(page)
        show_currency(page, "1m")
        assert any(requests_of_two_minutes(page, fast_service) == 0 for _ in range(12))


def requests_of_two_minutes(page: Page, service: Service) -> int:
    """Waits until two minutes have come and equal the service's; returns how often the page read bars.

    A page that was late, or whose machine paused for minutes of this market, reads them again.
    """
    requests: list[str] = []

    def note(request: Request) -> None:
        if "/bars/" in request.url:
            requests.append(request.url)

    page.on("request", note)
    before = {*page.evaluate(LEGENDS)}
    # A full chart has as many bars as before: each new one moves the oldest out of view.
    eventually(page, lambda: len({*page.evaluate(LEGENDS)} - before) > 2, "no minutes come")
    eventually(
        page,
        lambda: own_minutes(service, 2) <= {*page.evaluate(LEGENDS)},
        "the minutes differ",
    )
    page.remove_listener("request", note)
    return len(requests)


@both_browsers
def test_a_currency_has_indicators_and_its_tick_size(browser: Browser, fast_service: Service) -> None:
    """Own bars have all indicators that need no volume, and prices with all decimals of the currency."""
    with open_page(browser, fast_service.url, panes=PANES) as page:
        wait_for_price(page)
        show_currency(page, "1m")
        chart = page.locator("[data-kind=chart]")
        expect(chart.locator(".plot .legend")).to_have_text(re.compile(r"C \d+\.\d{4}$"))
        chart.get_by_role("button", name="Indicators", exact=True).click()
        expect(chart.get_by_role("button", name="+ VWAP")).to_be_disabled()
        for name in ("SMA", "EMA", "Bollinger", "RSI", "MACD", "ATR"):
            chart.get_by_role("button", name=f"+ {name}", exact=True).click()
        for field in chart.get_by_label(re.compile("Length|Slow|Fast|Signal")).all():
            # Firefox sends no change event for a value that a script fills in.
            field.focus()
            page.keyboard.press("Control+a")
            page.keyboard.type("2")
            page.keyboard.press("Tab")
        page.keyboard.press("Escape")
        rows = chart.locator(".plot .values li")
        for row in range(6):
            # Long after the first three bars each line has its value.
            expect(rows.nth(row)).to_have_text(re.compile(r"\d\S*$"))
