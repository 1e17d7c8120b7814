"""Bars made from our own quotes, over HTTP: the stored ones, the newest ones and those in progress."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from quotecast.bus.base import FeedInfo
from quotecast.errors import DatabaseAway, SymbolNotFound, UpstreamError
from quotecast.market.bars import bar_time
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import OwnBar
from quotecast.market.quotes import Quote
from support.made.market import doviz, pair, stock
from support.stages.bar_service import BarService, bar, new_service
from support.stages.own_feed import OwnFeed

#: 10:00 on a Thursday in New York.
THURSDAY = datetime(2026, 11, 19, 15, tzinfo=UTC).timestamp()
LIVE = ("1m", "5m", "15m", "1h", "D")
FOLDED = {"30m": "15m", "4h": "1h", "W": "D", "M": "D"}
NAMES = {Feed.STOCKS: "AAPL", Feed.CRYPTO: "BTC/USDT", Feed.DOVIZ: "gram-altin"}
ZONES = {
    Feed.STOCKS: ZoneInfo("America/New_York"),
    Feed.CRYPTO: ZoneInfo("UTC"),
    Feed.DOVIZ: ZoneInfo("Europe/Istanbul"),
}
GOLD = "/api/doviz/bars/gram-altin"


@pytest.fixture
def service() -> BarService:
    return new_service()


def quote_of(feed: Feed, price: float, at: float, volume: float) -> Quote:
    timestamp = f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S.%f}"[:23] + "Z"
    match feed:
        case Feed.STOCKS:
            return replace(stock(price=price), volume=str(int(volume)), timestamp=timestamp)
        case Feed.CRYPTO:
            return replace(pair(price=price), volume=volume, timestamp=timestamp)
        case _:
            return replace(doviz(price=price), timestamp=timestamp)


def path_of(feed: Feed, interval: str) -> str:
    name = "interval" if feed is Feed.STOCKS else "timeframe"
    symbol = NAMES[feed].replace("/", "-")
    return f"/api/{feed.spec.name}/bars/{symbol}?{name}={interval}&source=own"


def shown(feed: Feed, own: OwnBar) -> dict[str, Any]:
    volume = None if feed is Feed.DOVIZ else own.volume
    prices = {"open": own.open, "high": own.high, "low": own.low, "close": own.close}
    return {"time": bar_time(datetime.fromtimestamp(own.opened, UTC)), **prices, "volume": volume}


def traded(service: BarService, feed: Feed, hours: float = 30.0, seed: int = 1) -> OwnFeed:
    """Returns a feed after some hours with an update every few minutes, sometimes late."""
    random, own = Random(seed), OwnFeed(service, feed, FeedInfo(provider="test"))
    now, volume = THURSDAY, 1000.0
    while now < THURSDAY + hours * 3600:
        now += random.choice((1, 20, 61, 300))
        volume += random.choice((0, 1, 250))
        own.take(
            quote_of(feed, random.randrange(9000, 11000) / 100, now - random.choice((0, 0, 90)), volume), now
        )
    return own


async def walked(service: BarService, path: str) -> list[dict[str, Any]]:
    """Returns the bars of all pages."""
    bars: list[dict[str, Any]] = []
    token = ""
    while True:
        answer = await service.get(f"{path}{token}")
        assert (answer.status_code, answer.headers["x-source"]) == (200, "own"), answer.text
        bars += answer.json()
        if "x-next-page" not in answer.headers:
            return bars
        token = f"&page={answer.headers['x-next-page']}"


@pytest.mark.parametrize("feed", Feed)
async def test_bars_are_those_of_all_updates(service: BarService, feed: Feed) -> None:
    """At any moment each interval has the bars that an oracle makes of the list of updates.

    A worker that has just started has them, too.
    """
    own = traded(service, feed)
    for number, pause in enumerate((0, 1, 59, 62, 600)):
        own.pass_time(service.now + pause)
        if number % 2:
            own.restart_worker()
        every = own.oracle.bars()
        for interval in LIVE:
            expected = [
                shown(feed, each)
                for place, each in sorted(every.items(), key=lambda item: item[0][2])
                if place[0] == interval
            ]
            path = f"{path_of(feed, interval)}&start=2026-11-18&limit=400"
            assert await walked(service, path) == expected
            assert await walked(service, f"{path}&order=desc") == expected[::-1]


@pytest.mark.parametrize("feed", Feed)
async def test_longer_bars_are_folds_of_shorter_ones(service: BarService, feed: Feed) -> None:
    traded(service, feed)
    for interval, finer in FOLDED.items():
        if (feed, interval) == (Feed.STOCKS, "30m"):
            continue
        pieces = await walked(service, f"{path_of(feed, finer)}&start=2026-11-18&limit=1000")
        start = "2026-10-25" if interval in {"W", "M"} else "2026-11-18"
        bars = await walked(service, f"{path_of(feed, interval)}&start={start}&limit=1000")
        groups = defaultdict(list)
        for piece in pieces:
            groups[place_of(feed, interval, piece["time"])].append(piece)
        assert [each["open"] for each in bars] == [group[0]["open"] for group in groups.values()]
        assert [each["close"] for each in bars] == [group[-1]["close"] for group in groups.values()]
        assert [each["high"] for each in bars] == [max(map(high, group)) for group in groups.values()]


def high(piece: dict[str, Any]) -> float:
    value: float = piece["high"]
    return value


def place_of(feed: Feed, interval: str, time: str) -> Any:
    local = datetime.fromisoformat(time).astimezone(ZONES[feed])
    match interval:
        case "30m":
            return local.date(), local.hour, local.minute // 30
        case "4h":
            return local.date(), local.hour // 4
        case "W":
            return local.isocalendar()[:2]
        case _:
            return local.year, local.month


async def test_the_last_bar_closes_with_the_quote(service: BarService) -> None:
    own = traded(service, Feed.DOVIZ, hours=2)
    for price in (120.0, 80.0, 100.5):
        own.take(quote_of(Feed.DOVIZ, price, service.now, 0), service.now)
        for interval in (*LIVE, *FOLDED):
            newest = (await service.get(f"{GOLD}?timeframe={interval}")).json()[-1]
            assert newest["close"] == price
            assert newest["low"] <= price <= newest["high"]


async def test_doviz_has_the_parameters_of_crypto(service: BarService) -> None:
    """Bars of doviz have no volume; the newest ones come without a start."""
    traded(service, Feed.DOVIZ, hours=3)
    answer = await service.get(f"{GOLD}?timeframe=5m&limit=7")
    assert [set(each) for each in answer.json()] == [{"time", "open", "high", "low", "close", "volume"}] * 7
    assert {each["volume"] for each in answer.json()} == {None}
    assert answer.headers["cache-control"].startswith("public, max-age=5,")
    assert (
        len((await service.get(f"{GOLD.upper().replace('/API/DOVIZ/BARS', '/api/doviz/bars')}")).json()) == 4
    )
    assert (await service.get("/api/doviz/bars/nope")).status_code == 404
    assert (await service.get(f"{GOLD}?timeframe=7m")).json()["errors"][0]["field"] == "timeframe"
    assert (await service.get(f"{GOLD}?source=alpaca")).json()["errors"] == [
        {"field": "source", "message": "Must be own, or absent"}
    ]


async def test_a_doviz_symbol_without_bars_has_an_empty_list(service: BarService) -> None:
    service.quotes(Feed.DOVIZ, [doviz()])
    answer = await service.get(GOLD)
    assert (answer.status_code, answer.json()) == (200, [])


@pytest.mark.parametrize(
    ("feed", "path"),
    [
        (Feed.STOCKS, "/api/market/bars/AAPL"),
        (Feed.STOCKS, "/api/market/bars/AAPL?range=5D&limit=100"),
        (Feed.CRYPTO, "/api/crypto/bars/BTC-USDT?timeframe=1m"),
        (Feed.CRYPTO, "/api/crypto/bars/BTC-USDT?timeframe=1m&order=desc"),
    ],
)
@pytest.mark.parametrize("fault", ["no provider", "away", "unknown", "empty"])
async def test_own_bars_replace_those_of_an_upstream(
    service: BarService, feed: Feed, path: str, fault: str
) -> None:
    """Where the upstream has no bars or is away, the answer has our own, and says so."""
    traded(service, feed, hours=2)
    if fault == "no provider":
        service.histories.clear()
    elif fault == "empty":
        service.history.answer = []
    else:
        service.history.error = UpstreamError("refused") if fault == "away" else SymbolNotFound()
    answer = await service.get(path)
    assert (answer.status_code, answer.headers["x-source"]) == (200, "own")
    assert len(answer.json()) > 5
    newest = answer.json()[0 if "desc" in path else -1]
    assert newest["close"] == service.mirrors[feed].quotes()[NAMES[feed]].price


async def test_upstream_bars_come_first(service: BarService) -> None:
    traded(service, Feed.STOCKS, hours=2)
    service.history.answer = [bar(datetime.fromtimestamp(service.now, UTC) - timedelta(minutes=30))]
    answer = await service.get("/api/market/bars/AAPL")
    assert answer.headers["x-source"] == "test"
    assert (await service.get("/api/market/bars/AAPL?source=own")).headers["x-source"] == "own"


async def test_without_its_database_a_worker_serves_older_copies(service: BarService) -> None:
    """A copy of the stored bars and the mirror's own hour leave no gap."""
    own = traded(service, Feed.DOVIZ, hours=3)
    before = (await service.get(f"{GOLD}?timeframe=1m")).json()
    service.stored.error = DatabaseAway()
    for _ in range(20):
        own.take(quote_of(Feed.DOVIZ, 99.5, service.now + 70, 0), service.now + 70)
    answer = await service.get(f"{GOLD}?timeframe=1m")
    assert answer.headers["x-cache"] == "STALE"
    assert answer.json()[: len(before) - 2] == before[:-2]
    assert len(answer.json()) > len(before) + 15
    nothing = await service.get(f"{GOLD}?timeframe=1h&end=2026-01-01")
    assert (nothing.status_code, nothing.headers["retry-after"]) == (503, "1")


async def test_the_database_is_read_once_a_minute(service: BarService) -> None:
    own = traded(service, Feed.DOVIZ, hours=3)
    for second in range(50):
        own.pass_time(service.now + 1)
        await service.get(f"{GOLD}?timeframe=1m&start={int(THURSDAY) + second}")
    assert service.stored.reads == 1
