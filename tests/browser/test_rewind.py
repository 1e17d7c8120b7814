"""The workspace plays what was recorded."""

import re
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.clients.axe import violations
from support.runs.deadlines import scaled
from support.servers.browsers import both_browsers
from support.servers.opened_page import DEADLINE_MS, eventually, open_page, panes_of, wait_for_price
from support.servers.processes import running_valkey
from support.servers.service import Service

pytestmark = pytest.mark.browser

PANES = panes_of("watchlist", "chart", "movers")
PRICES = """() => Object.fromEntries([...document.querySelectorAll('[data-kind=watchlist] tbody tr')]
    .filter((row) => row.querySelector('.symbol'))
    .map((row) => [row.querySelector('.symbol').textContent, row.querySelector('td.price').textContent]))"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Runs a service that records."""
    folder: Path = tmp_path_factory.mktemp("history")
    settings = {
        "QUOTECAST_HISTORY": "1h",
        "QUOTECAST_HISTORY_STORE": str(folder),
        "QUOTECAST_LIMITS": "off",
    }
    with running_valkey() as valkey, Service(valkey, settings) as running:
        running.start("api", "ingest")
        yield running


def recorded_moment(page: Page, service: Service) -> datetime:
    """Waits for a whole second that is recorded, and returns it."""
    recorded: list[datetime] = []

    def is_recorded() -> bool:
        moment = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=2)
        recorded.append(moment)
        return service.get(f"/api/market/quotes?symbols=AAPL&at={moment:%Y-%m-%dT%H:%M:%SZ}").is_success

    eventually(page, is_recorded, "nothing is recorded")
    return recorded[-1]


def prices(page: Page) -> dict[str, float]:
    """Returns the prices on the screen."""
    shown: dict[str, str] = page.evaluate(PRICES)
    return {symbol: float(text.replace(",", "")) for symbol, text in shown.items() if text[:1].isdigit()}


def play(page: Page, moment: datetime) -> None:
    """Plays the workspace from a moment; faster than recorded it would reach the present and end."""
    page.get_by_role("button", name="Time machine").click()
    dialog = page.get_by_role("dialog", name="Time machine")
    # Browsers write a full minute without its seconds, and Playwright compares.
    dialog.get_by_label("Play from").fill(f"{moment:%Y-%m-%dT%H:%M:%S}".removesuffix(":00"))
    dialog.get_by_label("Speed").select_option("1")
    dialog.get_by_role("button", name="Play").click()


def test_the_workspace_plays_what_was_recorded(browser: Browser, service: Service) -> None:
    """The status line says that quotes are replayed; at the end of the recording they are the last ones."""
    with open_page(browser, service.url, panes=PANES, timezone_id="UTC") as page:
        wait_for_price(page)
        moment = recorded_moment(page, service)
        play(page, moment)
        banner = page.locator(".replayed")
        expect(banner).to_contain_text("Replayed, not live:")
        # It plays on, perhaps past midnight.
        days = [f"{day:%b} {day.day}, {day.year}" for day in (moment, moment + timedelta(days=1))]
        expect(banner.locator("time")).to_contain_text(re.compile("|".join(days)))
        wait_for_price(page)
        wait_for_price(page, "BTC/USDT")
        for kind, mark in (("watchlist", "replay"), ("chart", "replay")):
            expect(page.locator(f"[data-kind={kind}] > header mark")).to_have_text(mark)
        expect(page.locator("[data-kind=movers]")).to_contain_text("shows live data only")
        ingest = service.processes[-1]
        ingest.send_signal(signal.SIGTERM)
        ingest.wait(scaled(30))
        banner.get_by_label("Speed").select_option("10")
        expect(banner).to_contain_text("The recording has ended.", timeout=DEADLINE_MS)
        quotes = service.get("/api/market/quotes?symbols=AAPL,MSFT,NVDA").json()
        last = {key: quote["price"] for key, quote in quotes.items()}
        eventually(page, lambda: last.items() <= prices(page).items(), "the last quotes are not shown")
        page.get_by_role("button", name="Back to live").click()
        expect(banner).to_have_count(0)
        expect(page.locator("[data-kind=movers] td.price").first).to_be_visible()
        service.start("ingest")


@both_browsers
def test_a_moment_that_is_not_recorded_has_an_explanation(browser: Browser, service: Service) -> None:
    """The banner says what is recorded; axe finds no violation in it nor in the dialog."""
    with open_page(browser, service.url, panes=PANES, timezone_id="UTC") as page:
        wait_for_price(page)
        page.get_by_role("button", name="Time machine").click()
        assert violations(page, ".replayed, dialog[open]") == []
        page.keyboard.press("Escape")
        play(page, datetime.now(UTC) - timedelta(days=400))
        expect(page.locator(".replayed")).to_contain_text("The replay has stopped. at: ")
        assert violations(page, ".replayed, dialog[open]") == []


def test_a_pause_shows_one_moment_and_a_step_the_next_minute(browser: Browser, service: Service) -> None:
    """The quotes of a pause are those that the service has of its moment."""
    with open_page(browser, service.url, panes=PANES, timezone_id="UTC") as page:
        wait_for_price(page)
        play(page, recorded_moment(page, service))
        bar = page.get_by_role("group", name="Time machine")
        pause = bar.get_by_role("button", name="Pause")
        pause.wait_for()
        with page.expect_websocket(lambda opened: "/api/ws/market" in opened.url) as asking:
            pause.click()
        bar.get_by_role("button", name="Play").wait_for()
        # The page closes the socket once it has the quotes of the moment.
        eventually(page, asking.value.is_closed, "the quotes of the moment do not come")
        moment = page.evaluate("document.querySelector('.replayed time').textContent")
        eventually(page, lambda: "AAPL" in prices(page), "the quotes of the moment are not shown")
        shown = prices(page)["AAPL"]
        at = datetime.strptime(moment, "%b %d, %Y, %I:%M:%S\u202f%p").replace(tzinfo=UTC)
        near = [at + timedelta(seconds=step) for step in (0, 1)]
        stored = [
            service.get(f"/api/market/quotes?symbols=AAPL&at={each:%Y-%m-%dT%H:%M:%SZ}") for each in near
        ]
        recorded = [answer.json()["AAPL"]["price"] for answer in stored if answer.is_success]
        assert min(recorded) - 0.5 <= shown <= max(recorded) + 0.5
        bar.get_by_role("button", name="One minute on").click()
        page.wait_for_function(
            "before => document.querySelector('.replayed time').textContent !== before", arg=moment
        )
