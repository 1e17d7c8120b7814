"""Bars over HTTP: parameters, and the calls to the history."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from quotecast.errors import SymbolNotFound, UpstreamError
from support.stages.bar_service import APPLE, BITCOIN, FRIDAY, BarService, new_service

RANGES = "1D, 5D, 1M, 3M, 6M, YTD, 1Y, 5Y"
STOCK_INTERVALS = "1m, 5m, 15m, 1h, 4h, D, W, M"
TIMEFRAMES = "1m, 5m, 15m, 30m, 1h, 4h, D, W, M"


@pytest.fixture
def service() -> BarService:
    return new_service()


async def test_a_bar_has_the_specified_fields(service: BarService) -> None:
    answer = await service.get(APPLE)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()[0] == {
        "time": "2026-11-20T15:15:00Z",
        "open": 100.0,
        "high": 101.0,
        "low": 99.0,
        "close": 100.0,
        "volume": 5000.0,
    }
    assert [each["time"] for each in answer.json()] == [each.time for each in service.history.answer]


@pytest.mark.parametrize(
    ("query", "interval", "start"),
    [
        ("", "5m", "2026-11-20T14:30"),
        ("?range=5D", "15m", "2026-11-16T14:30"),
        ("?range=1M", "1h", "2026-10-20T13:30"),
        ("?range=3m", "D", "2026-08-20T13:30"),
        ("?range=6M", "D", "2026-05-20T13:30"),
        ("?range=ytd", "D", "2026-01-02T14:30"),
        ("?range=1y", "D", "2025-11-20T14:30"),
        ("?range=5Y", "W", "2021-11-22T14:30"),
        ("?interval=1m", "1m", "2026-11-20T14:30"),
        ("?range=1M&interval=1M", "M", "2026-10-20T13:30"),
        ("?range=1M&interval=1m", "1m", "2026-10-20T13:30"),
        ("?range=5y&interval=1Hour", "1h", "2021-11-22T14:30"),
    ],
)
async def test_a_range_is_asked_of_the_history(
    service: BarService, query: str, interval: str, start: str
) -> None:
    """A range begins with a session's opening and ends now, at the given or the default interval."""
    assert (await service.get(f"/api/market/bars/aapl{query}")).status_code == 200
    begin = datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert service.history.calls == [("AAPL", interval, begin, FRIDAY + timedelta(milliseconds=1))]


@pytest.mark.parametrize(
    ("query", "interval", "length", "count"),
    [
        ("", "1h", timedelta(hours=1), 500),
        ("?timeframe=30m&limit=1", "30m", timedelta(minutes=30), 100),
        ("?timeframe=1Min&limit=101", "1m", timedelta(minutes=1), 500),
        ("?timeframe=4H&limit=1000", "4h", timedelta(hours=4), 1000),
        ("?timeframe=1d&limit=501", "D", timedelta(days=1), 1000),
        ("?timeframe=W&limit=100", "W", timedelta(weeks=1), 100),
    ],
)
async def test_the_newest_bars_are_asked_of_the_history(
    service: BarService, query: str, interval: str, length: timedelta, count: int
) -> None:
    """The history is asked for a rounded-up number of bars, so that requests share the cache."""
    assert (await service.get(f"{BITCOIN}{query}")).status_code == 200
    (symbol, asked, start, end), *_ = service.history.calls
    assert (symbol, asked, end) == ("BTC/USDT", interval, FRIDAY + timedelta(milliseconds=1))
    assert start == FRIDAY - (count - 1) * length


@pytest.mark.parametrize("spelling", ["BTC%2FUSDT", "btc%2fusdt", "BTC/USDT", "btc-usdt"])
async def test_a_pair_may_be_spelled_in_many_ways(service: BarService, spelling: str) -> None:
    assert (await service.get(f"/api/crypto/bars/{spelling}")).status_code == 200
    assert service.history.calls[0][0] == "BTC/USDT"


@pytest.mark.parametrize(
    ("path", "field", "message"),
    [
        (f"{APPLE}?range=2D", "range", f"Must be one of {RANGES}"),
        (f"{APPLE}?range=", "range", f"Must be one of {RANGES}"),
        (f"{APPLE}?range=1D,5D", "range", f"Must be one of {RANGES}"),
        (f"{APPLE}?interval=", "interval", f"Must be one of {STOCK_INTERVALS}"),
        (f"{APPLE}?interval=2h", "interval", f"Must be one of {STOCK_INTERVALS}"),
        (f"{APPLE}?interval=30m", "interval", f"Must be one of {STOCK_INTERVALS}"),
        (f"{APPLE}?interval=5M", "interval", f"Must be one of {STOCK_INTERVALS}"),
        (
            f"{APPLE}?range=3M&interval=1m",
            "interval",
            "Is too fine for 3M; must be one of 5m, 15m, 1h, 4h, D, W, M",
        ),
        (
            f"{APPLE}?range=1Y&interval=5m",
            "interval",
            "Is too fine for 1Y; must be one of 15m, 1h, 4h, D, W, M",
        ),
        (
            f"{APPLE}?range=ytd&interval=5m",
            "interval",
            "Is too fine for YTD; must be one of 15m, 1h, 4h, D, W, M",
        ),
        (f"{APPLE}?range=5Y&interval=15m", "interval", "Is too fine for 5Y; must be one of 1h, 4h, D, W, M"),
        (f"{BITCOIN}?timeframe=", "timeframe", f"Must be one of {TIMEFRAMES}"),
        (f"{BITCOIN}?timeframe=2h", "timeframe", f"Must be one of {TIMEFRAMES}"),
        (f"{BITCOIN}?timeframe=15M", "timeframe", f"Must be one of {TIMEFRAMES}"),
        *(
            (f"{BITCOIN}?limit={text}", "limit", "Must be a whole number from 1 to 1000")
            for text in ("0", "-1", "1001", "1e9", "1e2", "10.0", "%2B5", "007", "many", "", "%205", "%D9%A3")
        ),
    ],
)
async def test_a_bad_value_is_told_what_is_allowed(
    service: BarService, path: str, field: str, message: str
) -> None:
    """A bad value is 422 that lists the allowed ones, without a call to the history."""
    answer = await service.get(path)
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"field": field, "message": message}]
    assert service.history.calls == []


@pytest.mark.parametrize(
    "path", ["/api/market/bars/NOPE", "/api/crypto/bars/NO-PE", "/api/crypto/bars/a/b/c"]
)
async def test_an_unknown_symbol_reaches_no_upstream(service: BarService, path: str) -> None:
    answer = await service.get(path)
    assert (answer.status_code, answer.json()["detail"]) == (404, "Symbol not found")
    assert service.history.calls == []


async def test_a_symbol_that_only_the_history_does_not_know_is_not_found(service: BarService) -> None:
    service.history.error = SymbolNotFound()
    assert (await service.get(APPLE)).status_code == 404


@pytest.mark.parametrize("path", [APPLE, BITCOIN])
async def test_without_history_quotes_are_there_but_no_bars(service: BarService, path: str) -> None:
    service.histories.clear()
    answer = await service.get(path)
    assert (answer.status_code, answer.json()["code"]) == (503, "no_provider")


async def test_an_upstream_that_fails_at_first_is_unavailable(service: BarService) -> None:
    service.history.error = UpstreamError("refused", retry_after=7)
    answer = await service.get(APPLE)
    assert (answer.status_code, answer.json()["detail"]) == (503, "Upstream unavailable")
    assert answer.headers["retry-after"] == "7"


@pytest.mark.parametrize(
    ("path", "name", "schema"),
    [
        ("/api/market/bars/{symbol}", "range", {"enum": RANGES.split(", "), "default": "1D"}),
        ("/api/market/bars/{symbol}", "interval", {"enum": STOCK_INTERVALS.split(", ")}),
        ("/api/crypto/bars/{symbol}", "timeframe", {"enum": TIMEFRAMES.split(", "), "default": "1h"}),
        (
            "/api/crypto/bars/{symbol}",
            "limit",
            {"type": "integer", "minimum": 1, "maximum": 1000, "default": 500},
        ),
    ],
)
async def test_what_may_be_asked_for_is_described(
    service: BarService, path: str, name: str, schema: dict[str, Any]
) -> None:
    """The OpenAPI document lists the values and bounds of the parameters."""
    document = (await service.get("/api/openapi.json")).json()
    parameters = {each["name"]: each for each in document["paths"][path]["get"]["parameters"]}
    assert not parameters[name]["required"]
    assert parameters[name]["schema"].items() >= schema.items()
