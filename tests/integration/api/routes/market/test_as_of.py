"""Prices, rates and bars as they were known at a moment, over a real PostgreSQL."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, date, datetime
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from quotecast.access.plans import Reach
from quotecast.api.market.services import Services
from quotecast.database.database import Database
from quotecast.history.known_actions import KnownActions
from quotecast.history.known_bars import KnownBars, Series
from quotecast.market.actions import CorporateAction
from quotecast.market.bars import Bar
from quotecast.market.feeds import Feed
from support.made.factories import NOW, client_of, doviz, full_mirrors, mirror_of, services
from support.made.market import stock
from support.made.memory_cache import MemoryCache
from support.oracles.transactions import open_database
from support.stages.account_service import PATIENCE_SECONDS
from support.stages.bar_service import History, Stored, bar, write_closes
from support.stages.caching import Clock
from support.stages.known_days import APPLE, DAY, FIRST, HOUR, days, days_read


@pytest.fixture
async def database(own_accounts_url: str) -> AsyncIterator[Database]:
    async with open_database(own_accounts_url, deadline_seconds=PATIENCE_SECONDS) as database:
        yield database


@pytest.fixture
async def known(database: Database) -> KnownBars:
    return await days_read(database)


class Heard(KnownBars):
    """Remembers what is recorded, as soon as it is asked to."""

    def __init__(self) -> None:
        self.said: list[tuple[Series, list[float], datetime]] = []

    async def record(self, series: Series, bars: Sequence[Bar], now: datetime) -> None:
        self.said.append((series, [each.close for each in bars], now))


@pytest.mark.parametrize(
    "path",
    [
        "/api/market/bars/AAPL?interval=D&range=1M",
        "/api/market/bars/AAPL?interval=D&start=2026-11-16",
        "/api/prices/AAPL?date=2026-11-18",
    ],
)
async def test_every_reading_of_days_is_kept_but_the_day_in_progress(path: str) -> None:
    heard, history = Heard(), History(*days(1, 2, 3, 4, 5))
    parts = services(full_mirrors(), known_bars=heard, history={Feed.STOCKS: {"test": history}})
    async with client_of(parts) as client:
        assert (await client.get(path)).status_code == 200
    now = datetime.fromtimestamp(NOW, UTC)
    assert heard.said
    assert {(series, *closes) for series, closes, _ in heard.said} == {(APPLE, 1, 2, 3, 4)}
    assert {at for _, _, at in heard.said} == {now}


async def test_minutes_are_not_kept() -> None:
    heard, history = Heard(), History(*days(1))
    parts = services(full_mirrors(), known_bars=heard, history={Feed.STOCKS: {"test": history}})
    async with client_of(parts) as client:
        assert (await client.get("/api/market/bars/AAPL?interval=5m")).status_code == 200
    assert history.calls
    assert heard.said == []


@pytest.mark.parametrize(
    "now", ["2026-11-21T15:00:00", "2026-11-23T13:00:00"], ids=["Saturday", "before Monday's open"]
)
async def test_the_close_of_friday_is_kept_on_the_weekend(now: str) -> None:
    heard, history = Heard(), History(*days(1, 2, 3, 4, 5))
    clock = datetime.fromisoformat(f"{now}+00:00").timestamp
    parts = services(full_mirrors(), known_bars=heard, history={Feed.STOCKS: {"test": history}}, clock=clock)
    async with client_of(parts) as client:
        assert (await client.get("/api/market/bars/AAPL?interval=D&start=2026-11-16")).status_code == 200
    assert [closes for _, closes, _ in heard.said] == [[1, 2, 3, 4, 5]]


@pytest.fixture
def stored() -> Stored:
    stored = Stored()
    write_closes(stored, Feed.DOVIZ, "USD", {"2026-11-17": 40.0, "2026-11-18": 41.0, "2026-11-19": 42.0})
    return stored


@pytest.fixture
def clock() -> Clock:
    """A week after the first reading."""
    clock = Clock()
    clock.now = (FIRST + 7 * DAY).timestamp()
    return clock


@pytest.fixture
def parts(known: KnownBars, database: Database, stored: Stored, clock: Clock) -> Services:
    dollar = replace(doviz("USD", "currency"), unit="1 USD", price=50.0)
    mirrors = full_mirrors() | {
        Feed.STOCKS: mirror_of(Feed.STOCKS, [stock("AAPL", 300.0), stock("MSFT", 500.0)]),
        Feed.DOVIZ: mirror_of(Feed.DOVIZ, [dollar]),
    }

    class Provider:
        name = "test"

    return services(
        mirrors,
        known_bars=known,
        known_actions=KnownActions(database),
        actions=[Provider()],
        stored_bars=stored,
        history={Feed.STOCKS: {"test": History()}},
        clock=clock,
    )


@pytest.fixture
async def client(parts: Services) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(parts) as client:
        yield client


async def answer(client: httpx.AsyncClient, path: str) -> Any:
    response = await client.get(path)
    assert response.status_code == 200, response.text
    return response.json()


def as_of(hours: float) -> str:
    return f"as_of={(FIRST + hours * HOUR).isoformat().replace('+00:00', 'Z')}"


async def test_a_price_is_the_close_that_was_known(client: httpx.AsyncClient) -> None:
    """Never the present quote; without a date it is the last close that was known."""
    for hours, close in ((0, 2), (2, 2.5)):
        found = await answer(client, f"/api/prices/AAPL?date=2026-11-17&{as_of(hours)}")
        assert (found["price"], found["date"], found["status"]) == (close, "2026-11-17", "close")
    for hours, day, close in ((0, "2026-11-18", 3), (3, "2026-11-19", 4)):
        found = await answer(client, f"/api/prices/AAPL?{as_of(hours)}")
        assert (found["price"], found["date"], found["dateAsked"]) == (
            close,
            day,
            "2026-11-19" if hours < 2 else "2026-11-20",
        )


async def test_rates_are_closes_of_days_that_had_ended(client: httpx.AsyncClient) -> None:
    """Own bars never change. Istanbul's day ends three hours before that of UTC."""
    found = await answer(client, f"/api/prices/AAPL?date=2026-11-17&currency=TRY&{as_of(0)}")
    assert (found["price"], found["rates"][0]["date"]) == (80.0, "2026-11-17")
    for hours, rate in ((-2, 41.0), (0, 42.0)):
        assert (await answer(client, f"/api/rates?from=USD&to=TRY&{as_of(hours)}"))["rate"] == rate


async def test_bars_and_histories_are_what_was_known(client: httpx.AsyncClient) -> None:
    for hours, expected in ((0, [1, 2, 3]), (2, [1, 2.5, 3]), (3, [1, 2.5, 3, 4])):
        bars = await answer(client, f"{BARS}?interval=D&range=1M&{as_of(hours)}")
        assert [each["close"] for each in bars] == expected
        history = await answer(client, f"/api/prices/AAPL/history?{as_of(hours)}")
        assert [each["price"] for each in history["prices"]] == expected
        several = await answer(client, f"/api/market/bars?symbols=AAPL&interval=D&limit=10&{as_of(hours)}")
        assert [each["close"] for each in several["AAPL"]] == expected
    own = await answer(client, f"/api/doviz/bars/USD?interval=D&{as_of(-2)}")
    assert [each["close"] for each in own] == [40.0, 41.0]


async def test_a_question_about_the_past_leaves_the_present_as_it_is(
    parts: Services, stored: Stored, clock: Clock
) -> None:
    """Both read one cache, also where an upstream has the past of a currency."""
    past = [bar(MIDNIGHT_IN_ISTANBUL + number * DAY, 30.0 + number) for number in range(12)]

    class Past:
        name = "test"

        async def bars(self, _symbol: str, _interval: str, start: datetime, end: datetime) -> list[Bar]:
            return [each for each in past if start <= datetime.fromisoformat(each.time) < end]

    stored.clear()
    given = replace(parts, history={Feed.DOVIZ: {"test": Past()}}, cache=MemoryCache(clock))
    path = "/api/doviz/bars/USD?interval=D&limit=100"
    async with client_of(given) as client:
        then = await answer(client, f"{path}&{as_of(0)}")
        now = await answer(client, path)
        again = await answer(client, f"{path}&{as_of(0)}")
    assert [each["close"] for each in then] == [each["close"] for each in again] == [30.0, 31.0, 32.0, 33.0]
    assert len(now) >= 10


async def test_days_are_in_the_shares_of_the_moment(parts: Services, client: httpx.AsyncClient) -> None:
    """The service had not read them since the split, of which it knew."""
    split = replace(SPLIT, ex_day=date(2026, 11, 21))
    await parts.known_actions.record("test", "AAPL", [split], FIRST)
    for at, adjusted, close in (
        (0, "splits", 2),
        (48, "splits", 1.25),
        (48, "raw", 2.5),
    ):
        query = f"date=2026-11-17&adjusted={adjusted}&{as_of(at)}"
        assert (await answer(client, f"/api/prices/AAPL?{query}"))["price"] == close
    (monday, *_) = await answer(client, f"{BARS}?interval=D&range=1M&{as_of(48)}")
    assert (monday["close"], monday["volume"]) == (0.5, 10_000)


async def test_days_that_were_read_before_and_after_a_split_are_in_the_same_shares(
    parts: Services, known: KnownBars, client: httpx.AsyncClient
) -> None:
    """Also where no day was in both readings."""
    await parts.known_actions.record("test", "MSFT", [replace(SPLIT, symbol="MSFT")], FIRST - 6 * DAY)
    series, (monday, _, wednesday) = APPLE._replace(symbol="MSFT"), days(400, 404, 201)
    await known.record(series, [monday], FIRST - 2 * DAY)
    await known.record(series, [wednesday], FIRST)
    bars = await answer(client, f"/api/market/bars/MSFT?interval=D&range=1M&{as_of(1)}")
    assert [each["close"] for each in bars] == [200, 201]


async def test_a_stock_without_a_known_close_of_late_has_the_reason(
    known: KnownBars, client: httpx.AsyncClient
) -> None:
    """In the hours in which New York's day has not begun, too."""
    await known.record(APPLE._replace(symbol="MSFT"), [bar(FIRST - 30 * DAY, 7.0)], FIRST)
    found = await answer(client, "/api/prices?symbols=AAPL,MSFT&as_of=2026-11-20T03:00:00Z")
    assert (found["AAPL"]["price"], found["MSFT"]["price"]) == (4, None)
    assert found["MSFT"]["problem"].startswith("There is no close of MSFT")


async def test_what_may_still_be_stored_is_not_cached_for_long(
    client: httpx.AsyncClient, clock: Clock
) -> None:
    """A worker stores what it has read a moment later."""
    for seconds, lasting in ((0, False), (600, True)):
        moment = f"as_of={clock.now - seconds:.0f}"
        bars = await client.get(f"{BARS}?interval=D&start=2026-11-16&end=2026-11-19&{moment}")
        assert ("max-age=3600" in bars.headers["cache-control"]) is lasting
    price = await client.get(f"/api/prices/AAPL?date=2026-11-17&as_of={clock.now:.0f}")
    assert "max-age=3600" not in price.headers["cache-control"]


async def test_own_bars_answer_where_no_upstream_has_bars(parts: Services, stored: Stored) -> None:
    write_closes(stored, Feed.STOCKS, "MSFT", {"2026-11-18": 7.0, "2026-11-19": 8.0})
    for history in ({}, {Feed.STOCKS: {"other": History()}}):
        async with client_of(replace(parts, history=history)) as client:
            assert (await answer(client, f"/api/prices/MSFT?{as_of(0)}"))["price"] == 7
            assert (await answer(client, f"/api/prices/MSFT?{as_of(24)}"))["price"] == 8


async def test_prices_are_adjusted_by_the_actions_that_were_known(
    parts: Services, client: httpx.AsyncClient
) -> None:
    for hours, said in ((0, [SPLIT]), (2, [])):
        await parts.known_actions.record("test", "AAPL", said, FIRST + hours * HOUR)
    path = "/api/prices/AAPL?date=2026-11-17&adjusted=raw"
    assert (await answer(client, f"{path}&{as_of(0)}"))["price"] == 4
    assert (await answer(client, f"{path}&{as_of(2)}"))["price"] == 2.5
    bars = await answer(client, f"{BARS}?interval=D&range=1M&adjustment=raw&{as_of(0)}")
    assert [each["close"] for each in bars] == [2, 4, 3]


SPLIT = CorporateAction(
    id="1",
    type="split",
    symbol="AAPL",
    ex_day=date(2026, 11, 18),
    old_shares=1.0,
    new_shares=2.0,
    provider="test",
)
MIDNIGHT_IN_ISTANBUL = datetime(2026, 11, 15, 21, tzinfo=UTC)
UNREAD = "Must not be before the days of {} were first read"
BARS = "/api/market/bars/AAPL"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"/api/prices/MSFT?{as_of(0)}", UNREAD.format("MSFT")),
        (f"/api/prices/AAPL?{as_of(-1)}", UNREAD.format("AAPL")),
        (f"{BARS}?interval=D&range=1M&{as_of(-1)}", UNREAD.format("AAPL")),
        (f"{BARS}?interval=5m&{as_of(0)}", "Works with daily bars only: send `interval=D`"),
        (f"{BARS}?interval=5m&session=extended&{as_of(0)}", "Works with daily bars only: send `interval=D`"),
        (f"/api/doviz/bars/USD?interval=5m&{as_of(0)}", "Works with daily bars only: send `interval=D`"),
        ("/api/prices/AAPL?as_of=2126-01-01T00:00:00Z", "Must be a moment from 1970 to now"),
    ],
)
async def test_what_was_not_known_is_an_error(client: httpx.AsyncClient, path: str, message: str) -> None:
    response = await client.get(path)
    assert response.status_code == 422
    assert response.json()["errors"] == [{"field": "as_of", "message": message}]


async def test_of_several_prices_the_unknown_one_has_the_reason(client: httpx.AsyncClient) -> None:
    found = await answer(client, f"/api/prices?symbols=AAPL,MSFT&{as_of(0)}")
    assert (found["AAPL"]["price"], found["MSFT"]["price"]) == (3, None)
    assert "were first read" in found["MSFT"]["problem"]


async def test_of_several_raw_prices_that_of_unread_actions_has_the_reason(
    parts: Services, known: KnownBars, client: httpx.AsyncClient
) -> None:
    await parts.known_actions.record("test", "AAPL", [], FIRST)
    await known.record(APPLE._replace(symbol="MSFT"), days(7, 8, 9), FIRST)
    found = await answer(client, f"/api/prices?symbols=AAPL,MSFT&adjusted=raw&{as_of(0)}")
    assert (found["AAPL"]["price"], found["MSFT"]["price"]) == (3, None)
    assert found["MSFT"]["problem"] == "Must not be before the actions of MSFT were first read"


async def test_a_plan_s_past_counts_from_the_present(parts: Services) -> None:
    """Otherwise each question about a moment would open the days before it."""
    async with client_of(replace(parts, reach=Reach("free", 8))) as client:
        assert (await answer(client, f"/api/prices/AAPL?date=2026-11-18&{as_of(0)}"))["price"] == 3
        bars = await answer(client, f"{BARS}?interval=D&limit=10&{as_of(0)}")
        assert [each["close"] for each in bars] == [3]
        codes = [
            (await client.get(f"/api/prices/AAPL?{query}")).json()["code"]
            for query in (f"date=2026-11-17&{as_of(0)}", "as_of=2026-11-17T20:00:00Z")
        ]
    assert codes == ["plan_history"] * 2
