"""Market panes of the terminal page: turnover, heatmap, news, earnings calendar, spreads of banks."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from support.clients.axe import violations
from support.servers.opened_page import open_page, wait_for_price
from support.servers.service import Service

pytestmark = pytest.mark.browser

#: The legend has all colours of the tiles, which are alike: a few of each sector stand for 500.
MOST_TILES: Final = ".tile:nth-of-type(n + 5)"
#: The first six amounts of a column; nothing before all are numbers without a currency.
FIRST_AMOUNTS = """(cell) => {
    const texts = [...document.querySelectorAll(cell)].slice(0, 6).map((each) => each.textContent);
    return texts.length === 6 && texts.every((text) => /^[\\d.]+[KMBT]?$/.test(text)) && texts;
}"""
PANES: Final = [
    {"id": "watchlist", "kind": "watchlist", "x": 0, "y": 0, "w": 3, "h": 8},
    {"id": "heatmap", "kind": "heatmap", "x": 3, "y": 0, "w": 5, "h": 12},
    {"id": "crypto", "kind": "crypto", "x": 8, "y": 0, "w": 4, "h": 8},
    {"id": "news", "kind": "news", "x": 0, "y": 8, "w": 3, "h": 8},
    {"id": "doviz", "kind": "doviz", "x": 8, "y": 8, "w": 4, "h": 14},
    {"id": "earnings", "kind": "earnings", "x": 3, "y": 12, "w": 5, "h": 10},
]


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    """Yields a page with the market panes."""
    with open_page(browser, service.url, panes=PANES, timezone_id="UTC") as page:
        wait_for_price(page)
        yield page


def pane(page: Page, kind: str) -> Locator:
    return page.locator(f"[data-kind={kind}]")


def amount(text: str) -> float:
    """Returns a short number: 1.2B is 1,200,000,000."""
    match = re.fullmatch(r"([\d.]+)([KMBT]?)", text)
    assert match, text
    return float(match[1]) * float(1000 ** " KMBT".index(match[2] or " "))


def test_crypto_is_sorted_by_turnover_of_one_currency(page: Page, service: Service) -> None:
    """The greatest turnover comes first; the pane names its currency."""
    table = pane(page, "crypto")
    expect(table.locator("th[aria-sort=descending]")).to_have_text("Turnover 24 h")
    expect(table.locator("header")).to_contain_text(re.compile("Turnover in [A-Z]{3,4}"))
    column = table.locator("thead th").all_text_contents().index("Turnover 24 h")
    cell = f"[data-kind=crypto] tbody tr:not(.space) > :nth-child({column + 1})"
    # Before the rates come, a cell names another currency.
    texts: list[str] = page.wait_for_function(FIRST_AMOUNTS, arg=cell).json_value()
    amounts = [amount(text) for text in texts]
    # Between two sortings a few quotes may pass each other.
    assert amounts[0] > amounts[5]
    first = table.locator("button.symbol").first.text_content()
    quotes = service.get("/api/crypto/quotes").json()
    tether = {key: each["price"] * each["volume"] for key, each in quotes.items() if key.endswith("/USDT")}
    if first and first.endswith("/USDT"):
        # Between the page's sorting and this answer a pair may pass another.
        assert tether[first] >= 0.99 * max(tether.values())


def test_sector_is_zoomed_and_left_by_keys(page: Page) -> None:
    """Enter on a heading shows its sector alone, Escape shows all; the map is one tab stop."""
    heatmap = pane(page, "heatmap")
    heatmap.locator(".tile i:not(:empty)").first.wait_for()
    sectors = heatmap.locator("section").count()
    assert sectors > 5
    expect(heatmap.locator(".heatmap button:not([tabindex='-1'])")).to_have_count(1)
    heatmap.locator(".heatmap [tabindex='0']").focus()
    before: Any = page.evaluate("document.activeElement.title")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.title") != before
    expect(heatmap.locator(".heatmap button:not([tabindex='-1'])")).to_have_count(1)
    heading = heatmap.locator("h3 button").first
    heading.focus()
    page.keyboard.press("Enter")
    expect(heatmap.locator("section")).to_have_count(1)
    expect(heading).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(heatmap.locator("section")).to_have_count(sectors)
    assert page.evaluate("document.activeElement.matches('h3 button')")


#: The tiles of the map without a text that fits them.
NAMELESS = """() => [...document.querySelectorAll('.heatmap .tile')]
    .filter((tile) => !tile.textContent || tile.querySelector('b').offsetWidth > tile.clientWidth)
    .map((tile) => `${tile.textContent} ${tile.querySelector('b')?.offsetWidth} ${tile.clientWidth}`)"""


def test_every_tile_has_a_name_and_a_card(page: Page) -> None:
    """The largest stocks of a sector have tiles, the others share one, which shows them."""
    heatmap = pane(page, "heatmap")
    heatmap.locator(".tile i:not(:empty)").first.wait_for()
    assert page.evaluate(NAMELESS) == []
    heatmap.locator(".tile", has_text="AAPL").hover()
    expect(heatmap.locator(".card")).to_contain_text("Apple Inc.")
    heatmap.locator(".tile", has_text="AAPL").focus()
    expect(heatmap.locator(".tile", has_text="AAPL")).to_have_accessible_description(
        re.compile(r"Apple Inc\., \d.*%$")
    )
    sector = heatmap.locator("section", has_text="AAPL")
    tiles = sector.locator(".tile").count()
    sector.locator(".others").click()
    expect(heatmap.locator("section")).to_have_count(1)
    assert heatmap.locator(".tile").count() > tiles
    assert page.evaluate(NAMELESS) == []


def test_names_of_wide_letters_fit_their_tiles(page: Page) -> None:
    """H and O are wider than I and L; as prices move, a tile's width comes near each name's."""
    stocks = [
        {"ticker": name, "name": name, "price": 1.0, "weight": 1.0, "changePercent": 0.0}
        for name in ("HON", "DOW", "MMM", "GOOG", "OXY", "HOOD", "NOW", "QCOM", "WMB", "AVGO", "CMG", "MO")
    ]
    sector = {"sector": "Technology", "changePercent": 0.0, "weight": 1.0, "stocks": stocks}
    answer = {"lastUpdate": None, "sectors": [sector | {"sector": f"Sector {number}"} for number in range(9)]}
    page.route("**/api/market/heatmap", lambda route: route.fulfill(json=answer))
    page.reload()
    for width in range(1000, 1400, 10):
        page.set_viewport_size({"width": width, "height": 900})
        pane(page, "heatmap").locator(".tile:not(.others)").first.wait_for()
        # The map learns its new size before the second frame.
        page.evaluate("() => new Promise((end) => requestAnimationFrame(() => requestAnimationFrame(end)))")
        assert page.evaluate(NAMELESS) == [], width


def test_palette_is_remembered_and_tiles_have_a_sign(page: Page) -> None:
    """The blue and orange palette outlives a reload; tiles say the direction without their colour."""
    heatmap = pane(page, "heatmap")
    expect(heatmap.locator(".legend li")).to_have_count(7)
    heatmap.get_by_text("Blue–orange").click()  # noqa: RUF001 - a dash between two words
    page.reload()
    expect(heatmap.locator(".heat")).to_have_attribute("data-palette", "blueOrange")
    heatmap.locator(".tile i:not(:empty)").first.wait_for()
    # At the start of a day no small tile has moved far enough: each heat in turn, in place of the market's.
    signs = heatmap.locator(".tile[data-bare][data-heat]").first.evaluate(
        """tile => ["-3", "-1", "0", "1", "3"].map((heat) => {
            tile.dataset.heat = heat;
            return getComputedStyle(tile, "::after").content;
        })"""
    )
    assert signs == ['"\u2212"', '"\u2212"', "none", '"+"', '"+"']


def test_news_are_those_of_the_selected_symbol(page: Page) -> None:
    """Articles have dates; the pane shows all or those about the selected stock."""
    news = pane(page, "news")
    expect(news.locator("li time").first).to_have_text(re.compile(r"[A-Z][a-z]{2} \d+"))
    symbol = news.locator("li .tag").first.text_content()
    assert symbol
    # A new article may have come on top.
    news.locator("li .tag").get_by_text(symbol, exact=True).first.click()
    with page.expect_response(lambda answer: f"symbols={symbol}" in answer.url) as answered:
        news.get_by_text(symbol, exact=True).first.click()
    assert all(symbol in each["symbols"] for each in answered.value.json())
    expect(news.locator("li")).to_have_count(len(answered.value.json()))
    expect(news.locator(".news :is(a, button):not([tabindex='-1'])")).to_have_count(1)


def give_reports(page: Page) -> None:
    """Answers the earnings calendar with two reports.

    In the weeks around the end of a quarter no simulated company reports.
    """
    report = {"year": 2026, "quarter": 4, "epsActual": None, "revenueActual": None}
    reports = [
        report | {"symbol": symbol, "date": date, "hour": hour, "epsEstimate": 1.25, "revenueEstimate": 2e9}
        for symbol, date, hour in (("ZZZ", "2026-11-24", "amc"), ("AAPL", "2026-11-23", "bmo"))
    ]
    reports[0] |= {"abroad": True}
    reports[1] |= {"epsActual": 1.5, "revenueActual": 1.9e9, "abroad": False}
    covered = {"coveredFrom": "2026-11-23", "coveredTo": "2026-11-29"}
    page.route(
        "**/api/financials/earnings-calendar*",
        lambda route: route.fulfill(json={"earningsCalendar": reports} | covered),
    )


def test_earnings_are_by_day_and_mark_watched_symbols(page: Page) -> None:
    """The calendar goes by day, marks watched and foreign symbols, and a symbol becomes the selected one."""
    give_reports(page)
    page.reload()
    earnings = pane(page, "earnings")
    expect(earnings.locator("table")).to_have_count(2)
    first = earnings.locator("tbody tr").first
    expect(first).to_have_text(re.compile("AAPL.*on your watchlist.*before open.*▲ 1.5 / 1.25.*▼ 1.9B / 2B"))
    expect(first).not_to_contain_text("listed abroad")
    expect(earnings.locator("tbody tr").last).to_contain_text("listed abroad: amounts in its own currency")
    earnings.locator("button.symbol").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(earnings.locator("tr[aria-current=true]")).to_contain_text("ZZZ")
    earnings.get_by_text("Watched", exact=True).click()
    expect(earnings.locator("tbody tr")).to_have_count(1)


def test_banks_have_their_spread_over_time(page: Page, service: Service) -> None:
    """Lines begin with the spreads of recorded moments, and end with the present one."""
    quotes = service.get("/api/doviz/quotes?category=currency").json()
    asked: list[str] = []

    def fulfil(route: Any) -> None:
        asked.append(route.request.url)
        if len(asked) > 3:
            route.fulfill(status=422, json={"detail": "Not recorded"})
        else:
            then = {key: each | {"buying": each["buying"] - len(asked)} for key, each in quotes.items()}
            route.fulfill(json=then)

    # The page that asks now gets no answer of the test.
    page.goto("about:blank")
    page.route("**/api/doviz/quotes?*at=*", fulfil)
    with page.expect_response(lambda answer: "/doviz/quotes" in answer.url and answer.status == 422):
        page.goto(service.url)
    banks = pane(page, "doviz").locator(".banks")
    line = banks.get_by_role("img", name=re.compile("spread since")).first
    expect(line).to_have_attribute(
        "aria-label", re.compile(r"spread since .+, [\d.]+ → [\d.]+, at most [\d.]+")
    )
    path = line.locator("path")
    page.wait_for_function("path => path.getAttribute('d').split('L').length > 3", arg=path.element_handle())
    assert len(asked) == 4


@pytest.mark.parametrize(("language", "theme"), [("en", "dark"), ("tr", "light")])
def test_panes_meet_wcag_2_2(page: Page, theme: str, language: str) -> None:
    """Finds no violation of WCAG 2.2 AA in the market panes, also with a sector alone and a form open."""
    page.evaluate(
        "values => Object.entries(values)"
        ".forEach(([name, value]) => localStorage.setItem(`quotecast.${name}`, value))",
        {"language": json.dumps(language), "theme": json.dumps(theme)},
    )
    give_reports(page)
    page.reload()
    wait_for_price(page)
    pane(page, "heatmap").locator(".tile i:not(:empty)").first.wait_for()
    pane(page, "earnings").locator("tbody tr").first.wait_for()
    pane(page, "watchlist").locator(".lists button").last.wait_for()
    assert violations(page, ".pane-body", but=MOST_TILES) == []
    pane(page, "heatmap").locator("h3 button").first.click()
    pane(page, "watchlist").locator(".lists [aria-expanded]").click()
    pane(page, "watchlist").locator(".lists .steps button").first.click()
    assert violations(page, ".pane-body", but=MOST_TILES) == []
