"""Bars and sparklines of several instruments, over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from quotecast.bus.base import FeedInfo
from quotecast.errors import DatabaseAway, SymbolNotFound, UpstreamError
from quotecast.market.bars import Bar, Interval, bar_time
from quotecast.market.feeds import Feed
from support.made.market import doviz, pair, stock
from support.made.memory_cache import MemoryCache
from support.stages.bar_service import FRIDAY, BarService, History, bar, new_service
from support.stages.own_feed import OwnFeed

STOCKS = "/api/market/bars?symbols="
PAIRS = "/api/crypto/bars?symbols="
GOLD = "/api/doviz/bars?symbols="
LINES = "/api/{}/sparklines?symbols="


@pytest.fixture
def service() -> BarService:
    return new_service()


class Known(History):
    """A history of given openings by symbol."""

    def __init__(self, openings: dict[str, list[datetime]]) -> None:
        super().__init__()
        self.openings = openings

    async def bars(self, symbol: str, interval: Interval, start: datetime, end: datetime) -> list[Bar]:
        await super().bars(symbol, interval, start, end)
        return [bar(each) for each in self.openings[symbol] if start <= each < end]


def listed(service: BarService, *tickers: str) -> None:
    service.quotes(Feed.STOCKS, [stock(ticker) for ticker in tickers])
    service.quotes(Feed.CRYPTO, [pair(f"{ticker}/USDT") for ticker in tickers])


async def test_a_batch_has_the_bars_of_each_symbol(service: BarService) -> None:
    """A batch has what single requests have, by the symbols' canonical spelling, once each."""
    listed(service, "AAPL", "MSFT")
    answer = await service.get(f"{STOCKS}msft,NOPE,aapl,Msft&range=5D&interval=5m")
    assert list(answer.json()) == ["MSFT", "AAPL"]
    single = await service.get("/api/market/bars/AAPL?range=5D&interval=5m&limit=100")
    assert answer.json()["AAPL"] == single.json()
    headers = {
        name: answer.headers.get(name) for name in ("x-missing-count", "x-missing-symbols", "x-source")
    }
    assert headers == {"x-missing-count": "1", "x-missing-symbols": "NOPE", "x-source": "test"}
    tag = answer.headers["etag"]
    again = await service.get(f"{STOCKS}msft,NOPE,aapl,Msft&range=5D&interval=5m", **{"if-none-match": tag})
    assert again.status_code == 304


async def test_a_batch_without_a_range_has_the_latest_session(service: BarService) -> None:
    """As one stock has; the default limit is no wish for the newest bars of several sessions."""
    before, latest = (FRIDAY.replace(hour=15, minute=0) - timedelta(days=n) for n in (1, 0))
    service.reset(Known({"AAPL": [before, latest]}))
    listed(service, "AAPL")
    whole = (await service.get(f"{STOCKS}AAPL")).json()["AAPL"]
    newest = (await service.get(f"{STOCKS}AAPL&limit=9")).json()["AAPL"]
    assert (whole[0]["time"], newest[0]["time"]) == (bar_time(latest), bar_time(before))


async def test_pages_of_a_batch_have_each_bar_once(service: BarService) -> None:
    """All symbols of a page end at the same time, though one has more bars than the other."""
    openings = [FRIDAY - timedelta(minutes=n) for n in range(300, -1, -1)]
    known = {"BTC/USDT": openings, "ETH/USDT": openings[::7]}

    service.reset(Known(known))
    listed(service, "BTC", "ETH")
    for order in ("asc", "desc"):
        token, found = "", {symbol: list[str]() for symbol in known}
        while True:
            path = (
                f"{PAIRS}BTC/USDT,eth-usdt&timeframe=1m&start=2026-11-20T10:00Z&limit=40&order={order}{token}"
            )
            answer = await service.get(path)
            for symbol, each in answer.json().items():
                found[symbol] += [one["time"] for one in each]
            if "x-next-page" not in answer.headers:
                break
            token = f"&page={answer.headers['x-next-page']}"
        for symbol, given in known.items():
            times = [bar_time(each) for each in given]
            assert found[symbol] == (times if order == "asc" else times[::-1])


async def test_one_symbol_without_bars_does_not_fail_the_others(service: BarService) -> None:
    listed(service, "AAPL", "MSFT")
    service.history.error = SymbolNotFound()
    assert (await service.get(f"{STOCKS}AAPL,MSFT")).json() == {"AAPL": [], "MSFT": []}
    service.history.error = UpstreamError("refused", retry_after=3)
    answer = await service.get(f"{STOCKS}AAPL,MSFT&interval=1m")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "3")


@pytest.mark.parametrize("path", [STOCKS, PAIRS, GOLD, *(LINES.format(each.spec.name) for each in Feed)])
async def test_the_number_of_symbols_is_bounded(service: BarService, path: str) -> None:
    listed(service, "AAPL")
    service.quotes(Feed.DOVIZ, [doviz()])
    most = 500 if "sparklines" in path else 50
    many = ",".join(f"S{n}" for n in range(most + 1))
    for names in ("all", many):
        answer = await service.get(path + names)
        problem = answer.json()["errors"][0]
        assert (answer.status_code, problem["field"]) == (422, "symbols")
        assert str(most) in problem["message"]
    assert (await service.get(path)).status_code == 422
    answer = await service.get(path + many.rpartition(",")[0])
    assert (answer.status_code, answer.json()) == (200, {})
    assert answer.headers["x-missing-count"] == str(most)
    assert service.history.calls == []


async def test_the_number_of_bars_is_bounded(service: BarService) -> None:
    listed(service, "AAPL")
    names = ",".join(["AAPL", *(f"S{n}" for n in range(39))])
    answer = await service.get(f"{STOCKS}{names}&limit=251")
    assert (answer.status_code, answer.json()["errors"]) == (
        422,
        [{"field": "limit", "message": "Must be at most 250 for 40 symbols"}],
    )
    assert (await service.get(f"{STOCKS}{names}&limit=250")).status_code == 200


async def test_doviz_has_batches_of_own_bars(service: BarService) -> None:
    own = OwnFeed(service, Feed.DOVIZ, FeedInfo(provider="test"))
    for second in range(0, 4000, 50):
        for symbol in ("gram-altin", "USD"):
            own.take(
                quoted(symbol, 30.0 + second / 1000, FRIDAY + timedelta(seconds=second)), own_now(second)
            )
    answer = await service.get(f"{GOLD}usd,GRAM-ALTIN&timeframe=5m&limit=3")
    single = await service.get("/api/doviz/bars/USD?timeframe=5m&limit=3")
    assert list(answer.json()) == ["USD", "gram-altin"]
    assert answer.json()["USD"] == single.json()
    assert answer.headers["x-source"] == "own"


def quoted(symbol: str, price: float, at: datetime) -> Any:
    timestamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return replace(doviz(symbol, price), timestamp=timestamp)


def own_now(second: float) -> float:
    return FRIDAY.timestamp() + second


async def test_sparklines_have_the_closes_of_a_day(service: BarService) -> None:
    """A point each half hour of the last 24 hours; the last one is the price."""
    own = OwnFeed(service, Feed.DOVIZ, FeedInfo(provider="test"))
    for second in range(0, 30 * 3600, 600):
        at = FRIDAY + timedelta(seconds=second)
        own.take(quoted("gram-altin", float(second), at), at.timestamp())
    answer = await service.get(LINES.format("doviz") + "gram-altin")
    line = answer.json()["gram-altin"]
    assert (line["start"], line["end"]) == ("2026-11-20T21:30:00Z", "2026-11-21T21:20:00Z")
    assert len(line["closes"]) == 48
    # 15:30 is the first second, and each point closes with the update ten minutes before the next point.
    assert line["closes"][0] == 6 * 3600 + 1200
    assert line["closes"][-1] == 30 * 3600 - 600
    assert line["closes"] == sorted(line["closes"])
    assert answer.headers["cache-control"].startswith("public, max-age=5,")


async def test_sparklines_of_stocks_are_of_the_latest_session(service: BarService) -> None:
    own = OwnFeed(service, Feed.STOCKS, FeedInfo(provider="test"))
    opening = datetime(2026, 11, 19, 14, 30, tzinfo=UTC)
    for minutes in range(0, 30 * 60, 5):
        at = opening + timedelta(minutes=minutes)
        timestamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        own.take(replace(stock(price=100.0 + minutes), timestamp=timestamp), at.timestamp())
    line = (await service.get(LINES.format("market") + "AAPL")).json()["AAPL"]
    assert line["start"] == "2026-11-20T14:30:00Z"
    assert len(line["closes"]) == 24
    assert line["closes"][-1] == 100.0 + 30 * 60 - 5


async def test_a_sparkline_without_bars_is_the_price(service: BarService) -> None:
    listed(service, "AAPL")
    line = (await service.get(LINES.format("market") + "AAPL,NOPE")).json()
    assert line["AAPL"]["closes"] == [100.0]


async def test_many_sparklines_read_the_database_once_a_minute(service: BarService) -> None:
    own = OwnFeed(service, Feed.DOVIZ, FeedInfo(provider="test"))
    for number in range(5):
        own.take(quoted(f"s{number}", 5.0, FRIDAY), FRIDAY.timestamp())
    for number in range(5):
        assert (await service.get(LINES.format("doviz") + f"s{number}")).status_code == 200
    assert service.stored.reads == 1
    service.stored.error = DatabaseAway()
    service.now += 120
    answer = await service.get(LINES.format("doviz") + "s1")
    assert (answer.status_code, answer.headers["x-cache"]) == (200, "STALE")
    service.cache = MemoryCache(lambda: service.now)
    answer = await service.get(LINES.format("doviz") + "s2")
    assert (answer.json()["s2"]["closes"], answer.headers["x-cache"]) == ([5.0], "STALE")
