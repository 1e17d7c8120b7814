"""The terminal page as an app: its address and title, opening offline, print and reduced motion."""

import re
import shutil
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from support.made.web_files import WEB
from support.runs.deadlines import scaled
from support.servers.fault_proxy import FaultProxy
from support.servers.opened_page import DEADLINE_MS, change_settings, open_page, wait_for_live, wait_for_price
from support.servers.processes import running_valkey
from support.servers.service import Service

pytestmark = pytest.mark.browser

CACHED: Final = """async () => {
    const names = await caches.keys();
    const caches_ = await Promise.all(names.map((name) => caches.open(name)));
    const requests = await Promise.all(caches_.map((cache) => cache.keys()));
    return requests.flat().map((request) => new URL(request.url).pathname);
}"""
#: Stores two workspaces with the panes of the test, before the page starts for the first time.
TWO_WORKSPACES: Final = """if (!localStorage.getItem("quotecast.layout")) {
    const panes = [
        { id: "watchlist", kind: "watchlist", x: 0, y: 0, w: 4, h: 14 },
        { id: "chart", kind: "chart", x: 4, y: 0, w: 8, h: 14 },
    ];
    const named = (name) => ({ id: name.toLowerCase(), name, panes });
    const layout = { workspaces: [named("Day"), named("Night")], active: "day" };
    localStorage.setItem("quotecast.layout", JSON.stringify(layout));
}"""
CLOCK: Final = "New York %I:%M:%S %p"
#: Cursor, age and delay of a feed: seconds and milliseconds.
DETAILS: Final = re.compile(r"Stocks age \d+s · tick to screen [\d,]{1,6} ms")
DETAILS_OF: Final = ".details .actions p"
#: Returns a text after the page has painted quotes that came since.
PAINTED: Final = """async (selector) => {
    const element = document.querySelector(selector);
    const before = element.textContent;
    for (let frame = 0; frame < 600 && element.textContent === before; frame += 1)
        await new Promise(requestAnimationFrame);
    return element.textContent;
}"""
ROWS: Final = "table => Number(table.getAttribute('aria-rowcount')) - 1"
IS_CONTROLLED: Final = "() => navigator.serviceWorker.controller?.state === 'activated'"


def choose(page: Page, symbol: str) -> None:
    """Selects a symbol of the watchlist, and waits until the address names it."""
    page.locator("[data-kind=watchlist] tbody").get_by_role("button", name=symbol, exact=True).click()
    expect(page).to_have_url(re.compile(rf"symbol={symbol.replace('/', '%2F')}&"))


@pytest.mark.parametrize("step", [20_220_000, -20_220_000], ids=["ahead", "back"])
def test_a_step_of_the_clock_shows_nothing_absurd(browser: Browser, service: Service, step: int) -> None:
    """New York's time goes on as before, and so do ages and delays from the next frame on.

    Until then an age counts the step too: to the page, a machine that slept looks alike.
    """
    with open_page(browser, "about:blank") as page:
        page.add_init_script("const now = Date.now; window.step = 0; Date.now = () => now() + window.step")
        page.goto(service.url)
        wait_for_live(page, "market")
        clock = page.locator(".exchange")
        page.get_by_role("button", name="Details").click()
        details = page.locator(".details .actions p", has_text="Stocks")
        expect(details).to_have_text(DETAILS)
        before = clock.text_content() or ""
        page.evaluate("step => { window.step = step }", step)
        expect(clock).not_to_have_text(before)
        stocks = page.locator(".feed[data-feed=market]")
        # The first frame on the screen may have come before the step.
        for _ in range(2):
            expect(stocks).not_to_have_attribute("data-cursor", stocks.get_attribute("data-cursor") or "")
        seen = [page.evaluate(PAINTED, DETAILS_OF) for _ in range(3)]
        assert all(DETAILS.search(text) for text in seen), seen
        times = [
            datetime.strptime(text, CLOCK).replace(tzinfo=UTC)
            for text in (before, clock.text_content() or "")
        ]
        assert (times[1] - times[0]) % timedelta(days=1) < timedelta(minutes=10)


def test_the_address_names_the_symbol(browser: Browser, service: Service) -> None:
    """An address opens its workspace and symbol; Back skips symbols passed in quick succession."""
    with open_page(browser, "about:blank") as page:
        page.add_init_script(TWO_WORKSPACES)
        page.goto(f"{service.url}/?symbol=BTC%2FUSDT&type=crypto&workspace=Night")
        wait_for_price(page)
        chart = page.locator("[data-kind=chart] h3")
        expect(chart).to_have_text("BTC/USDT")
        # Symbols follow each other within no time by the page's clock.
        page.evaluate("performance.now = () => 1e9")
        for symbol in ("AAPL", "MSFT", "NVDA"):
            choose(page, symbol)
        page.go_back()
        expect(chart).to_have_text("BTC/USDT")
        expect(page).to_have_url(re.compile("symbol=BTC%2FUSDT&type=crypto&workspace=Night$"))
        page.go_forward()
        expect(chart).to_have_text("NVDA")
        page.evaluate("performance.now = () => 2e9")
        choose(page, "MSFT")
        page.go_back()
        expect(chart).to_have_text("NVDA")
        page.reload()
        expect(chart).to_have_text("NVDA")
        page.get_by_role("tab", name="Day").click()
        expect(page).to_have_url(re.compile("workspace=Day$"))
        expect(chart).to_have_text("NVDA")


def test_the_title_has_the_price(browser: Browser, service: Service) -> None:
    """The title has the symbol's price and change, in the reader's language, and marks an old price."""
    with open_page(browser, service.url) as page:
        wait_for_price(page)
        expect(page).to_have_title(re.compile(r"^AAPL \d+\.\d\d ([▲▼] )?\d+\.\d\d% · quotecast$"))
        change_settings(page, language="tr")
        expect(page).to_have_title(re.compile(r"^AAPL \d+,\d\d ([▲▼] )?%\d+,\d\d · quotecast$"))
        choose(page, "MSFT")
        expect(page).to_have_title(re.compile("^MSFT"))


def wait_for_worker(page: Page) -> None:
    """Waits until the service worker serves the page."""
    page.evaluate("() => navigator.serviceWorker.ready.then(() => null)")
    page.wait_for_function(IS_CONTROLLED)


def test_the_page_opens_without_the_service(browser: Browser, service: Service) -> None:
    """It shows the last visit's quotes marked as old, then new ones; the cache has no answer of the API."""
    with (
        FaultProxy(lambda: socket.create_connection(("127.0.0.1", service.port))) as line,
        open_page(browser, f"http://127.0.0.1:{line.port}", service_workers="allow") as page,
    ):
        wait_for_price(page)
        wait_for_worker(page)
        cached = page.evaluate(CACHED)
        assert {"/", "/manifest.webmanifest", "/icons/192.png"} < set(cached)
        assert not [path for path in cached if path.startswith("/api")]
        line.truncate_after = 0
        line.reset()
        page.reload()
        banner = page.locator(".old-state")
        expect(banner).to_contain_text(re.compile(r"Offline: values as of \d"))
        price = page.locator("[data-kind=watchlist] tbody tr", has_text="AAPL").locator("td.price")
        expect(price).to_have_text(re.compile(r"\d"))
        expect(page).to_have_title(re.compile(r"^⚠ AAPL \d"))
        line.truncate_after = None
        expect(banner).to_have_count(0)
        wait_for_price(page)
        assert not [path for path in page.evaluate(CACHED) if path.startswith("/api")]


def newer_version(folder: Path, version: str) -> Path:
    """Returns a copy of the package whose page has another version."""
    package = folder / "quotecast"
    shutil.copytree(WEB.parent, package, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    dist = package / "web/dist"
    old = re.search(r'data-version="(\w+)"', (dist / "index.html").read_text())
    assert old
    for name in ("index.html", "sw.js"):
        for compressed in dist.glob(f"{name}.*"):
            compressed.unlink()
        (dist / name).write_text((dist / name).read_text().replace(old[1], version))
    return folder


def test_a_new_version_offers_to_reload(browser: Browser, tmp_path: Path) -> None:
    """After a restart with a newer page, an open window says so; the reload opens the newer page."""
    newer = newer_version(tmp_path, "0123456789ab")
    with running_valkey() as valkey, Service(valkey, {"QUOTECAST_HEARTBEAT_MS": "1000"}) as service:
        service.start("ingest", "api")
        with open_page(browser, service.url, service_workers="allow") as page:
            wait_for_price(page)
            wait_for_worker(page)
            before = service.processes[-1]
            service.launch("api", {"PYTHONPATH": str(newer)})
            service.until_ready()
            before.terminate()
            before.wait(scaled(30))
            reload = page.locator(".new-version").get_by_role("button", name="Reload")
            # The page looks for the third time a minute after its reconnection.
            reload.click(timeout=60_000 + DEADLINE_MS)
            expect(page.locator("html")).to_have_attribute("data-version", "0123456789ab")
            wait_for_price(page)
            expect(reload).to_have_count(0)
            assert len(page.evaluate("caches.keys()")) == 2


def test_prints_light_and_without_controls(browser: Browser, service: Service) -> None:
    """A print has the tables with all of their rows in light colours, without buttons and status line."""
    with open_page(browser, service.url, color_scheme="dark") as page:
        wait_for_price(page)
        page.locator("[data-kind=crypto] td.price").first.wait_for()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        for hidden in (page.locator(".status"), page.get_by_role("button", name="Close Chart")):
            expect(hidden).to_be_hidden()
        crypto = page.locator("[data-kind=crypto] tbody tr:not(.space) td.price")
        expect(crypto).to_have_count(page.locator("[data-kind=crypto] table").evaluate(ROWS))
        expect(crypto.last).to_have_text(re.compile(r"\d"))


def test_reduced_motion_has_no_flashes(browser: Browser, service: Service) -> None:
    """With reduced motion no cell flashes and nothing moves by itself."""
    with open_page(browser, service.url, reduced_motion="reduce") as page:
        wait_for_price(page)
        grounds = """() => {
            const lit = [...document.querySelectorAll("td.lit-rise, td.lit-fall, .lit")];
            return lit.length && lit.map((each) => getComputedStyle(each).backgroundColor);
        }"""
        assert {*page.wait_for_function(grounds).json_value()} == {"rgba(0, 0, 0, 0)"}
        assert page.evaluate("document.getAnimations().length") == 0


def test_a_service_that_records_nothing_has_no_time_machine(page: Page) -> None:
    """The page asks once, and shows no button that would only be refused."""
    with page.expect_response(
        lambda answer: "/api/market/quotes?" in answer.url and "at=" in answer.url
    ) as asked:
        page.reload()
    assert asked.value.status == 422
    expect(page.get_by_role("button", name="Settings", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Time machine")).to_have_count(0)


#: Widths of the edges of a feed's dot, of the mark of simulated data and of the chosen row.
EDGES = """() => {
    const style = (selector, part) => {
        const found = document.querySelector(selector);
        return found && getComputedStyle(found, part);
    };
    const edges = [
        style(".feed[data-state=live] em", "::before")?.borderTopWidth,
        style(".status mark")?.borderTopWidth,
        style("tr[aria-current=true] > th")?.outlineWidth,
    ];
    return edges.every(Boolean) && edges;
}"""


def test_forced_colours_hide_no_state(browser: Browser, service: Service) -> None:
    """Where the reader's system takes the colours away, edges stay."""
    with open_page(browser, service.url, forced_colors="active") as page:
        wait_for_price(page)
        wait_for_live(page)
        page.locator(".status mark").wait_for()
        assert page.wait_for_function(EDGES).json_value() == ["4px", "1px", "2px"]
