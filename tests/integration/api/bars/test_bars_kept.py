"""Bars over HTTP: the cached history, closed with the current price."""

import gzip
from datetime import UTC, datetime, timedelta

import pytest

from quotecast.api.answers.answers import cached_for
from quotecast.errors import UpstreamError
from support.stages.bar_service import APPLE, BITCOIN, FRIDAY, BarService, bar, new_service


@pytest.fixture
def service() -> BarService:
    return new_service()


async def test_a_history_is_kept_for_all_workers_while_it_is_fresh(service: BarService) -> None:
    """All workers share a history while it is fresh; `X-Cache` says so."""
    first = await service.get(f"{APPLE}?interval=1m")
    service.now += 4
    second = await service.get(f"{APPLE}?interval=1m")
    service.now += 2
    third = await service.get(f"{APPLE}?interval=1m")
    assert len(service.history.calls) == 2
    assert [each.headers["x-cache"] for each in (first, second, third)] == ["MISS", "HIT", "MISS"]
    assert len(service.cache.keys) == 1


@pytest.mark.parametrize("interval", ["1m", "1h", "D"])
async def test_bars_are_fresh_when_they_arrive(service: BarService, interval: str) -> None:
    """Bars close with the current price, so `Age` is 0 and `max-age` five seconds."""
    for later in (0, 4, 10, 600):
        service.now += later
        answer = await service.get(f"{APPLE}?range=1M&interval={interval}")
        assert (answer.headers["cache-control"], answer.headers["age"]) == (cached_for(5).decode(), "0")


async def test_requests_for_similar_numbers_of_bars_share_what_is_kept(service: BarService) -> None:
    service.history.answer = [bar(FRIDAY - timedelta(hours=n)) for n in range(499, -1, -1)]
    counts = [len((await service.get(f"{BITCOIN}?limit={limit}")).json()) for limit in (500, 101, 365)]
    assert counts == [500, 101, 365]
    assert len(service.history.calls) == 1


async def test_an_old_history_is_better_than_none(service: BarService) -> None:
    """A failing upstream leaves the stale history, closed with the current price."""
    await service.get(f"{APPLE}?interval=5m")
    service.history.error = UpstreamError("refused")
    service.now += 600
    service.quote("AAPL", 103.0, FRIDAY + timedelta(minutes=10))
    answer = await service.get(f"{APPLE}?interval=5m")
    assert answer.headers["x-cache"] == "STALE"
    times = [each["time"] for each in answer.json()]
    assert times[-2:] == ["2026-11-20T15:30:00Z", "2026-11-20T15:40:00Z"]
    assert answer.json()[-1]["close"] == 103.0


async def test_the_bar_in_progress_follows_the_price_between_two_questions(service: BarService) -> None:
    """The price updates close, high and low of the last bar; open and volume are the history's."""
    await service.get(APPLE)
    service.quote("AAPL", 104.5, FRIDAY + timedelta(seconds=2))
    higher = (await service.get(APPLE)).json()
    service.quote("AAPL", 95.0, FRIDAY + timedelta(seconds=3))
    lower = (await service.get(APPLE)).json()
    assert len(service.history.calls) == 1
    assert higher[:-1] == lower[:-1]
    last = {"time": "2026-11-20T15:30:00Z", "open": 100.0, "volume": 5000.0}
    assert higher[-1] == last | {"high": 104.5, "low": 99.0, "close": 104.5}
    assert lower[-1] == last | {"high": 101.0, "low": 95.0, "close": 95.0}


async def test_a_price_of_the_next_interval_begins_a_bar(service: BarService) -> None:
    """A price in the next interval appends a bar without a call; the oldest bar leaves."""
    await service.get(f"{BITCOIN}?timeframe=5m&limit=4")
    service.quote("BTC/USDT", 107.0, FRIDAY + timedelta(minutes=5))
    found = (await service.get(f"{BITCOIN}?timeframe=5m&limit=4")).json()
    assert [each["time"][11:16] for each in found] == ["15:20", "15:25", "15:30", "15:35"]
    begun = dict.fromkeys(("open", "high", "low", "close"), 107.0)
    assert found[-1] == {"time": "2026-11-20T15:35:00Z", **begun, "volume": 0.0}
    assert len(service.history.calls) == 1


@pytest.mark.parametrize(
    "at",
    [
        datetime(2026, 11, 20, 21, 0, tzinfo=UTC),  # the closing second is outside the session
        datetime(2026, 11, 21, 15, 30, tzinfo=UTC),
        datetime(2026, 11, 19, 15, 30, tzinfo=UTC),  # the session before: not traded yet today
    ],
)
async def test_a_price_outside_the_range_or_the_session_moves_nothing(
    service: BarService, at: datetime
) -> None:
    service.quote("AAPL", 500.0, at)
    assert max(each["high"] for each in (await service.get(APPLE)).json()) == 101.0


async def test_a_stock_without_bars_yet_has_its_first_one(service: BarService) -> None:
    """A stock without bars has one from the current price, if that is in the range."""
    service.history.answer = []
    service.quote("AAPL", 42.0, FRIDAY)
    assert [each["close"] for each in (await service.get(APPLE)).json()] == [42.0]
    service.quote("AAPL", 42.0, FRIDAY - timedelta(days=1))
    assert (await service.get(APPLE)).json() == []


async def test_while_the_market_rests_bars_are_kept_longer(service: BarService) -> None:
    """Clients cache bars longer on a weekend, except within a minute of the session."""
    policies = {}
    for moment in (
        "2026-11-22T12:00:00",
        "2026-11-23T14:29:30",
        "2026-11-20T21:00:30",
        "2026-11-20T21:01:00",
    ):
        service.now = datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
        policies[moment] = (await service.get(APPLE)).headers["cache-control"]
    assert list(policies.values()) == [
        cached_for(60).decode(),
        cached_for(5).decode(),
        cached_for(5).decode(),
        cached_for(60).decode(),
    ]
    service.now = datetime(2026, 11, 22, 12, tzinfo=UTC).timestamp()
    await service.get(APPLE)
    service.now += 59
    assert (await service.get(APPLE)).headers["x-cache"] == "HIT"
    assert (await service.get(BITCOIN)).headers["cache-control"].startswith("public, max-age=5,")


@pytest.mark.parametrize("path", [APPLE, f"{BITCOIN}?timeframe=5m"])
async def test_what_the_client_has_is_not_sent_again(service: BarService, path: str) -> None:
    """A client with the current tag gets 304 until the price changes."""
    tag = (await service.get(path)).headers["etag"]
    assert tag.startswith('W/"')
    same = await service.get(path, **{"if-none-match": tag})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    assert same.headers["x-cache"] == "HIT"
    service.quote("AAPL", 100.5, FRIDAY)
    service.quote("BTC/USDT", 100.5, FRIDAY)
    assert (await service.get(path, **{"if-none-match": tag})).status_code == 200


@pytest.mark.parametrize("limit", [1000, 400])
async def test_bars_are_sent_compressed(service: BarService, limit: int) -> None:
    """Bars are compressed, the whole history or a part."""
    service.history.answer = [bar(FRIDAY - timedelta(hours=n)) for n in range(999, -1, -1)]
    plain = await service.get(f"{BITCOIN}?limit={limit}", **{"accept-encoding": "identity"})
    headers, packed = await service.raw(f"{BITCOIN}?limit={limit}", **{"accept-encoding": "gzip"})
    assert headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed) == plain.content
    assert len(packed) < len(plain.content) / 3
    assert len(plain.json()) == limit
