"""Our service under the scenarios of prices and listings, in a market that runs two hours a second."""

import time
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time
from itertools import pairwise
from typing import Any, Final

import pytest

from faults.quote_log import Quote, QuoteLog
from quotecast.market.sessions import NEW_YORK
from support.runs.waits import wait_until
from support.servers.processes import running_valkey
from support.servers.service import Service

PATIENCE_SECONDS: Final = 120.0
SPEED: Final = 7200
#: Hours of the market until the first scenario: seconds in which the processes start.
LEAD_HOURS: Final = 24
SETTINGS: Final = {
    "QUOTECAST_LIMITS": "off",
    "QUOTECAST_LOG_LEVEL": "error",
    "QUOTECAST_CRYPTO": "none",
    "QUOTECAST_DOVIZ": "none",
    "QUOTECAST_SIMULATOR_SPEED": str(SPEED),
    "QUOTECAST_SIMULATOR_RATE": "2500",
}
FOLLOWED: Final = ("AAPL", "MSFT", "NVDA", "AMZN", "GOOGL", "RDDT", "INTC", "ORCL")


@dataclass
class Day:
    """What one client saw, and the service with its bars; `start` and `midnight` are times of the market."""

    log: QuoteLog
    service: Service
    start: datetime
    midnight: datetime

    def hour(self, hours: float) -> str:
        """Returns the time some hours after the start."""
        return text_of(self.start + timedelta(hours=hours))

    def prices(self, symbol: str, start: str = "", end: str = "9") -> list[float]:
        """Returns the prices of the time from `start` until before `end`."""
        return [each["price"] for each in self.log.quotes[symbol] if start <= each["timestamp"] < end]

    def bars(self, symbol: str, interval: str, span: str = "5D") -> list[dict[str, Any]]:
        answer = self.service.get(f"/api/market/bars/{symbol}?range={span}&interval={interval}")
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()
        return found


def text_of(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def scenarios_of(start: datetime) -> str:
    at = {hours: text_of(start + timedelta(hours=hours)) for hours in (0, 4, 6)}
    return ";".join(
        (
            f"halt@{at[0]},symbols=AAPL,seconds=28800,gap=0.2",
            f"flash-crash@{at[0]},symbols=MSFT,depth=0.5,fall_seconds=14400,recovery_seconds=28800",
            f"gap-open@{at[0]},symbols=NVDA,size=0.2",
            f"split@{at[0]},symbols=AMZN",
            f"split@{at[6]},symbols=GOOGL,ratio=20,overnight=false",
            f"new-listing@{at[4]},symbols=RDDT",
            f"delisting@{at[4]},symbols=INTC",
        )
    )


@pytest.fixture(scope="module")
def day() -> Iterator[Day]:
    """Yields what happened until three hours after the next midnight in New York."""
    start = datetime.fromtimestamp(time.time() // 60 * 60, UTC) + timedelta(hours=LEAD_HOURS)
    tomorrow: date = start.astimezone(NEW_YORK).date() + timedelta(days=1)
    midnight = datetime.combine(tomorrow, clock_time(), NEW_YORK)
    scenarios = {"QUOTECAST_SIMULATOR_SCENARIO": scenarios_of(start)}
    with running_valkey() as valkey, Service(valkey, {**SETTINGS, **scenarios}) as service:
        service.launch("api")
        service.answers("/api/health")
        with QuoteLog(service.port, FOLLOWED) as log:
            service.launch("ingest")
            log.wait_until(
                max(text_of(midnight + timedelta(hours=3)), text_of(start + timedelta(hours=14))),
                PATIENCE_SECONDS,
            )
            yield Day(log, service, start, midnight)


def test_a_halted_stock_keeps_its_price_and_its_time(day: Day) -> None:
    """During a halt the feed goes on for others; then trading resumes with a gap."""
    halted = day.prices("AAPL", day.hour(0), day.hour(8))
    assert halted == []
    assert len(day.prices("ORCL", day.hour(0), day.hour(8))) > 2
    before, after = day.prices("AAPL", end=day.hour(0))[-1], day.prices("AAPL", day.hour(8))[0]
    assert after / before == pytest.approx(1.2, rel=0.05)
    assert not [bar for bar in day.bars("AAPL", "1h") if day.hour(0) <= bar["time"] < day.hour(7)]


def test_bars_of_a_flash_crash_agree_with_quotes(day: Day) -> None:
    """The price halves and recovers; each quote lies within the bar of its time."""
    before, crash = day.prices("MSFT", end=day.hour(0))[-1], day.prices("MSFT", day.hour(0), day.hour(12))
    assert min(crash) / before < 0.75
    bars = day.bars("MSFT", "15m")
    assert min(bar["low"] for bar in bars) / before == pytest.approx(0.5, rel=0.1)
    assert day.prices("MSFT", day.hour(12))[0] / before == pytest.approx(1.0, rel=0.1)
    assert_within_bars(day.log.quotes["MSFT"], bars)


def assert_within_bars(quotes: list[Quote], bars: list[dict[str, Any]]) -> None:
    """Fails for a quote outside the bar of its time; in a fast market the last two may be in progress."""
    times = [bar["time"] for bar in bars]
    compared = [quote for quote in quotes if times[0] <= quote["timestamp"] < times[-2]]
    assert len(compared) > 10
    for quote in compared:
        bar = bars[bisect_right(times, quote["timestamp"]) - 1]
        assert bar["low"] <= quote["price"] <= bar["high"], (quote, bar)


def test_a_stock_opens_with_a_gap(day: Day) -> None:
    opened = next(each for each in day.log.quotes["NVDA"] if each["timestamp"] >= text_of(day.midnight))
    assert opened["open"] / opened["previousClose"] == pytest.approx(1.2, rel=0.02)
    assert opened["changePercent"] == pytest.approx(20, abs=6)
    bars = day.bars("NVDA", "D", "1M")
    # Another day of this market may have begun since.
    place = next(n for n, bar in enumerate(bars) if datetime.fromisoformat(bar["time"]) >= day.midnight)
    assert bars[place]["open"] / bars[place - 1]["close"] == pytest.approx(1.2, rel=0.02)


@pytest.mark.parametrize(("symbol", "ratio"), [("AMZN", 2), ("GOOGL", 20)])
def test_a_split_changes_no_percentage(day: Day, symbol: str, ratio: int) -> None:
    """The price falls to its part of the old one; the change and adjusted bars do not jump."""
    quotes = day.log.quotes[symbol]
    falls = [before["price"] / after["price"] for before, after in pairwise(quotes)]
    assert max(falls) == pytest.approx(ratio, rel=0.05)
    assert max(abs(each["changePercent"]) for each in quotes) < 15
    for interval, span in (("1h", "5D"), ("D", "1M")):
        closes = [bar["close"] for bar in day.bars(symbol, interval, span)]
        assert max(max(a, b) / min(a, b) for a, b in pairwise(closes)) < 1.2


def test_a_new_listing_appears_and_a_delisted_stock_leaves(day: Day) -> None:
    """Feed, quotes, bars and the list of stocks agree."""
    assert "INTC" in day.log.first
    assert "RDDT" not in day.log.first
    assert "INTC" in day.log.removed
    assert min(each["timestamp"] for each in day.log.quotes["RDDT"]) >= day.hour(4)
    assert max(each["timestamp"] for each in day.log.quotes["INTC"]) < day.hour(4)
    statuses = {name: day.service.get(f"/api/market/quotes/{name}").status_code for name in ("RDDT", "INTC")}
    assert statuses == {"RDDT": 200, "INTC": 404}
    assert day.bars("RDDT", "1h")[0]["time"] >= day.hour(4)[:14]
    wait_until(
        lambda: listed(day.service) == {"RDDT"}, "the list of stocks does not change", seconds=30, pause=0.2
    )


def listed(service: Service) -> set[str]:
    assets = service.get("/api/market/assets").json()
    return {each["ticker"] for each in assets} & {"RDDT", "INTC"}
