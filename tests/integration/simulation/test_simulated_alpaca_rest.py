"""The REST APIs of a simulated Alpaca."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from quotecast.simulation.market.hours import milliseconds
from quotecast.simulation.market.scenarios.base import Alteration, Listed, Scenario, Split
from quotecast.simulation.market.scenarios.connections import Maintenance, RateLimited
from quotecast.simulation.market.scenarios.schedule import Planned
from quotecast.simulation.vendors.market import utc
from support.servers.alpaca_simulated import KEYS, START, SimulatedAlpaca, simulated_alpaca

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Row = dict[str, Any]

BARS = "/v2/stocks/bars?symbols=AAPL,MSFT"
#: More symbols than a request may have.
TOO_MANY = ",".join(f"{first}{second}{third}" for first in "AB" for second in LETTERS for third in LETTERS)
#: Midnight in New York, and in UTC.
MIDNIGHT = datetime(2026, 11, 20, 5, tzinfo=UTC)
MIDNIGHT_UTC = datetime(2026, 11, 20, tzinfo=UTC)


@pytest.fixture
async def alpaca() -> AsyncIterator[SimulatedAlpaca]:
    async with simulated_alpaca() as alpaca:
        yield alpaca


async def answer(alpaca: SimulatedAlpaca, path: str, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=alpaca.server.url, headers=headers or KEYS) as client:
        return await client.get(path)


async def get(alpaca: SimulatedAlpaca, path: str) -> Any:
    return (await answer(alpaca, path)).raise_for_status().json()


@pytest.mark.parametrize("path", ["/v2/stocks/snapshots?symbols=AAPL", "/v2/assets", "/v1beta1/news", "/x"])
async def test_request_without_keys_is_forbidden(alpaca: SimulatedAlpaca, path: str) -> None:
    for headers in ({"Accept": "*/*"}, {"APCA-API-KEY-ID": "key"}):
        refused = await answer(alpaca, path, **headers)
        assert (refused.status_code, refused.json()) == (403, {"message": "forbidden."})


async def test_pairs_need_no_keys(alpaca: SimulatedAlpaca) -> None:
    found = await answer(alpaca, "/v1beta3/crypto/us/latest/trades?symbols=BTC/USD", Accept="*/*")
    price = alpaca.market.price("BTC/USD", START)
    assert found.json()["trades"]["BTC/USD"]["p"] == price.price


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v2/stocks/bars?timeframe=1Min", "symbols is required"),
        ("/v2/stocks/bars?symbols=aapl&timeframe=1Min", "invalid symbol: aapl"),
        ("/v2/stocks/AA-PL/snapshot", "invalid symbol: AA-PL"),
        ("/v1beta3/crypto/us/bars?symbols=BTCUSD&timeframe=1Min", "invalid symbol: BTCUSD"),
        (f"{BARS}&timeframe=7Foo", "invalid timeframe: 7Foo"),
        (BARS, "invalid timeframe: "),
        (f"{BARS}&timeframe=1Min&start=yesterday", "invalid start"),
        (f"{BARS}&timeframe=1Min&start=0001-01-01T00:00:00%2B14:00", "invalid start"),
        (f"{BARS}&timeframe=1Min&start=2026-11-20&end=2026-11-19", "end should not be before start"),
        (f"{BARS}&timeframe=1Min&limit=0", "invalid limit"),
        (f"{BARS}&timeframe=1Min&limit=10001", "invalid limit"),
        (f"{BARS}&timeframe=1Min&limit=%C2%B2", "invalid limit"),
        (f"{BARS}&timeframe=1Min&page_token=null", "invalid page_token"),
        (f"{BARS}&timeframe=1Min&page_token=%F0%9F%98%80", "invalid page_token"),
        (f"{BARS}&timeframe=1Min&adjustment=some", "invalid adjustment: some"),
        (f"{BARS}&timeframe=1Min&feed=cnn", "invalid feed: cnn"),
        (f"{BARS}&timeframe=1Min&sort=up", "invalid sort: up"),
        ("/v1beta1/news?limit=51", "invalid limit"),
        ("/v2/calendar?start=2026-13-01", "invalid start"),
        ("/v2/calendar?start=2026-12-01&end=2026-11-01", "end date should be after start date"),
(f"/v2/stocks/snapshots?symbols={TOO_MANY}", "too many symbols"),
    ],
)  # fmt: skip
async def test_bad_parameter_is_named(alpaca: SimulatedAlpaca, path: str, message: str) -> None:
    refused = await answer(alpaca, path)
    assert (refused.status_code, refused.json()) == (400, {"message": message})


@pytest.mark.parametrize(
    "path", ["/", "/v2/stocks", "/v2/stocks/AAPL", "/v2/assets/NONE", "/v2/stocks/NONE/snapshot"]
)
async def test_unknown_path_is_not_found(alpaca: SimulatedAlpaca, path: str) -> None:
    refused = await answer(alpaca, path)
    assert (refused.status_code, refused.json()["code"]) == (404, 40410000)


async def test_snapshot_is_the_markets(alpaca: SimulatedAlpaca) -> None:
    """The newest trade and quote, the minute and day in progress, and the day before."""
    found = await get(alpaca, "/v2/stocks/snapshots?symbols=AAPL,NONE")
    price, snapshot = alpaca.market.price("AAPL", START), found["AAPL"]
    assert found["NONE"] is None
    assert (snapshot["latestTrade"]["p"], snapshot["latestQuote"]["ap"]) == (price.price, price.ask)
    day, before = snapshot["dailyBar"], snapshot["prevDailyBar"]
    assert (day["o"], day["h"], day["l"], day["c"], day["v"]) == (
        *(price.open, price.high, price.low, price.price, price.volume),
    )
    assert (day["t"], before["c"]) == ("2026-11-20T05:00:00Z", price.previous)
    assert snapshot["minuteBar"]["t"] == "2026-11-20T14:29:00Z"
    assert snapshot["minuteBar"]["c"] == price.price
    single = await get(alpaca, "/v2/stocks/AAPL/snapshot")
    assert single == {"symbol": "AAPL", **snapshot}


async def test_latest_rows_are_those_of_the_snapshot(alpaca: SimulatedAlpaca) -> None:
    snapshot = (await get(alpaca, "/v2/stocks/snapshots?symbols=AAPL"))["AAPL"]
    for what, part in {"trades": "latestTrade", "quotes": "latestQuote", "bars": "minuteBar"}.items():
        assert await get(alpaca, f"/v2/stocks/{what}/latest?symbols=AAPL,NONE") == {
            what: {"AAPL": snapshot[part]}
        }
        assert await get(alpaca, f"/v2/stocks/AAPL/{what}/latest") == {
            what[:-1]: snapshot[part],
            "symbol": "AAPL",
        }


async def all_pages(alpaca: SimulatedAlpaca, path: str, what: str) -> list[dict[str, list[Row]]]:
    body = await get(alpaca, path)
    pages = [body[what]]
    while token := body["next_page_token"]:
        body = await get(alpaca, f"{path}&page_token={token}")
        pages.append(body[what])
    return pages


@pytest.mark.parametrize("sort", ["asc", "desc"])
@pytest.mark.parametrize("what", ["bars", "trades", "quotes"])
async def test_pages_go_through_symbols_and_times(alpaca: SimulatedAlpaca, what: str, sort: str) -> None:
    span = "start=2026-11-20T14:20:00Z&end=2026-11-20T14:20:20Z"
    more = (
        f"&timeframe=1Min&sort={sort}&{span.replace('20:20Z', '39:00Z')}"
        if what == "bars"
        else f"&sort={sort}&{span}"
    )
    path = f"/v2/stocks/{what}?symbols=MSFT,AAPL{more}"
    [whole] = await all_pages(alpaca, f"{path}&limit=10000", what)
    pages = await all_pages(alpaca, f"{path}&limit=7", what)
    for symbol in ("AAPL", "MSFT"):
        rows = [row for page in pages for row in page.get(symbol, ())]
        assert rows == whole[symbol]
        times = [row["t"] for row in rows]
        assert times == sorted({*times}, reverse=sort == "desc")
    assert list(pages[0]) == ["AAPL"]
    assert all(sum(map(len, page.values())) == 7 for page in pages[:-1])


@pytest.mark.parametrize("sort", ["asc", "desc"])
async def test_trades_are_in_trading_hours(sort: str) -> None:
    """Nights and weekends have none, and take no time to skip."""
    async with simulated_alpaca(always_open=False) as alpaca:
        path = f"/v2/stocks/AAPL/trades?sort={sort}"
        body = await get(alpaca, f"{path}&start=2026-11-13T20:59:58Z&end=2026-11-16T14:30:00.9Z")
        times = [row["t"][:19] for row in body["trades"]]
        wanted = [*(f"2026-11-13T20:59:{second}" for second in (58, 59)), "2026-11-16T14:30:00"]
        assert sorted({*times}) == wanted
        assert times == sorted(times, reverse=sort == "desc")
        weekend = await get(alpaca, f"{path}&start=2016-01-02T00:00:00Z&end=2016-01-03T00:00:00Z")
        assert weekend == {"trades": None, "symbol": "AAPL", "next_page_token": None}


@pytest.mark.parametrize(("text", "count"), [("7Min", 7), ("45Min", 45), ("3Hour", 180), ("1Hour", 60)])
async def test_bars_of_odd_lengths_consist_of_minutes(alpaca: SimulatedAlpaca, text: str, count: int) -> None:
    body = await get(alpaca, f"/v2/stocks/AAPL/bars?timeframe={text}&start=2026-11-20T00:00:00Z&limit=4")
    minutes = alpaca.market.bars("AAPL", "1m", milliseconds(MIDNIGHT_UTC), START)
    for number, row in enumerate(body["bars"]):
        begin = milliseconds(MIDNIGHT_UTC) + number * count * 60_000
        parts = [each for each in minutes if begin <= each.start < begin + count * 60_000]
        assert datetime.fromisoformat(row["t"]) == utc(begin)
        assert (row["o"], row["c"]) == (parts[0].open, parts[-1].close)
        assert (row["h"], row["l"]) == (max(each.high for each in parts), min(each.low for each in parts))
        assert row["v"] == sum(each.volume for each in parts)


async def test_long_bars_begin_with_their_week_and_month(alpaca: SimulatedAlpaca) -> None:
    for text, times in {
        "1Day": ["2026-11-08T05:00:00Z", "2026-11-09T05:00:00Z"],
        "1Week": ["2026-11-09T05:00:00Z", "2026-11-16T05:00:00Z"],
        "1Month": [],
        "2Month": [],
    }.items():
        body = await get(alpaca, f"/v2/stocks/AAPL/bars?timeframe={text}&start=2026-11-08&limit=2")
        assert [row["t"] for row in body["bars"] or ()] == times
    body = await get(alpaca, "/v2/stocks/AAPL/bars?timeframe=6Month&start=2025-12-01&sort=desc")
    assert [row["t"] for row in body["bars"]] == ["2026-07-01T04:00:00Z", "2026-01-01T05:00:00Z"]


async def test_years_of_minutes_begin_with_the_first(alpaca: SimulatedAlpaca) -> None:
    """A page reads no more than it has, in both directions."""
    path = "/v2/stocks/AAPL/bars?timeframe=1Min&start=1990-01-01&limit=2"
    assert [row["t"] for row in (await get(alpaca, path))["bars"]] == [
        "2016-01-01T00:00:00Z",
        "2016-01-01T00:01:00Z",
    ]
    assert [row["t"] for row in (await get(alpaca, f"{path}&sort=desc"))["bars"]] == [
        "2026-11-20T14:29:00Z",
        "2026-11-20T14:28:00Z",
    ]


class Divided(Scenario, frozen=True):
    """A 2:1 split of shares."""

    def alterations(self, start: int) -> list[Alteration]:
        return [Split(start, 2.0)]


async def test_adjustment_shows_todays_shares() -> None:
    """Raw bars before a split have the shares of their time; `split` and `all` those of now."""
    planned = Planned(Divided(symbols=("AAPL",)), milliseconds(MIDNIGHT))
    async with simulated_alpaca([planned]) as alpaca:
        alpaca.run(20)
        path = "/v2/stocks/AAPL/bars?timeframe=1Day&start=2026-11-19T00:00:00Z&end=2026-11-19T12:00:00Z"
        [raw] = (await get(alpaca, path))["bars"]
        assert (await get(alpaca, f"{path}&adjustment=dividend"))["bars"] == [raw]
        for adjustment in ("split", "all"):
            [row] = (await get(alpaca, f"{path}&adjustment={adjustment}"))["bars"]
            assert row["c"] == pytest.approx(raw["c"] / 2, abs=0.01)
        snapshot = await get(alpaca, "/v2/stocks/AAPL/snapshot")
        assert snapshot["prevDailyBar"]["c"] == raw["c"]
        assert snapshot["latestTrade"]["p"] == pytest.approx(raw["c"] / 2, rel=0.1)


class Gone(Scenario, frozen=True):
    """A delisting."""

    def alterations(self, start: int) -> list[Alteration]:
        return [Listed(end=start)]


async def test_delisted_stock_is_no_asset() -> None:
    async with simulated_alpaca([Planned(Gone(symbols=("AAPL",)), START)]) as alpaca:
        assert (await answer(alpaca, "/v2/assets/AAPL")).status_code == 404
        assert (await get(alpaca, "/v2/stocks/snapshots?symbols=AAPL,MSFT"))["AAPL"] is None
        bars = await get(alpaca, f"{BARS}&timeframe=1Day")
        assert list(bars["bars"]) == ["MSFT"]


async def test_free_plan_has_no_recent_tape() -> None:
    """The last quarter of an hour of the consolidated tape is for the paid plan; IEX is not."""
    async with simulated_alpaca(free=True) as alpaca:
        for path in (
            f"{BARS}&timeframe=1Min",
            "/v2/stocks/AAPL/trades?feed=sip",
            "/v2/stocks/snapshots?symbols=AAPL&feed=sip",
            "/v2/stocks/AAPL/quotes/latest?feed=sip",
        ):
            refused = await answer(alpaca, path)
            assert refused.status_code == 403
            assert refused.json()["message"] == "subscription does not permit querying recent SIP data"
        assert (await get(alpaca, f"{BARS}&timeframe=1Min&end=2026-11-20T14:14:00Z"))["bars"]
        assert (await get(alpaca, f"{BARS}&timeframe=1Min&feed=iex"))["bars"]
        assert (await get(alpaca, "/v2/stocks/snapshots?symbols=AAPL"))["AAPL"]


async def test_calls_of_a_minute_are_limited() -> None:
    """The headers count down; the next minute lets requests through."""
    async with (
        simulated_alpaca(free=True) as alpaca,
        httpx.AsyncClient(base_url=alpaca.server.url, headers=KEYS) as client,
    ):
        for left in range(199, -1, -1):
            found = await client.get("/v2/clock")
            assert found.headers["X-RateLimit-Remaining"] == str(left)
        assert found.headers["X-RateLimit-Limit"] == "200"
        refused = await client.get("/v2/clock")
        assert (refused.status_code, refused.json()) == (429, {"message": "too many requests."})
        assert refused.headers["X-RateLimit-Reset"] == str(START // 1000 + 60)
        alpaca.clock.advance(60_000)
        assert (await client.get("/v2/clock")).status_code == 200


@pytest.mark.parametrize(("scenario", "status"), [(Maintenance(), 503), (RateLimited(), 429)])
async def test_scenarios_refuse_as_alpaca(scenario: Scenario, status: int) -> None:
    async with simulated_alpaca([Planned(scenario, START)]) as alpaca:
        refused = await answer(alpaca, "/v2/clock")
        assert refused.status_code == status
        assert "message" in refused.json()
        assert refused.headers.get("X-RateLimit-Remaining") == ("0" if status == 429 else None)


async def test_news_have_pages_symbols_and_content(alpaca: SimulatedAlpaca) -> None:
    first = await get(alpaca, "/v1beta1/news?limit=20")
    second = await get(alpaca, f"/v1beta1/news?limit=20&page_token={first['next_page_token']}")
    stories = [*first["news"], *second["news"]]
    assert stories == (await get(alpaca, "/v1beta1/news?limit=40"))["news"]
    assert len({story["id"] for story in stories}) == 40
    assert not any(story["content"] for story in stories)
    [symbol, *_] = stories[3]["symbols"]
    found = (await get(alpaca, f"/v1beta1/news?symbols={symbol}&include_content=true"))["news"]
    assert found
    assert all(symbol in story["symbols"] and story["content"] for story in found)
    oldest = (await get(alpaca, "/v1beta1/news?limit=2&sort=asc"))["news"]
    assert oldest[0]["updated_at"] <= oldest[1]["updated_at"] < stories[0]["updated_at"]


async def test_assets_are_those_of_the_market(alpaca: SimulatedAlpaca) -> None:
    stocks = await get(alpaca, "/v2/assets?status=active&asset_class=us_equity")
    pairs = await get(alpaca, "/v2/assets?asset_class=crypto")
    assert {row["symbol"] for row in stocks} == set(alpaca.market.stocks)
    assert {row["symbol"] for row in pairs} == set(alpaca.market.pairs)
    assert len({row["id"] for row in [*stocks, *pairs]}) == len(stocks) + len(pairs)
    assert await get(alpaca, f"/v2/assets/{stocks[0]['id']}") == stocks[0]
    assert await get(alpaca, "/v2/assets/BTC/USD") == next(row for row in pairs if row["symbol"] == "BTC/USD")
    assert await get(alpaca, "/v2/assets?status=inactive") == []


async def test_exchange_that_never_closes_is_open(alpaca: SimulatedAlpaca) -> None:
    clock = await get(alpaca, "/v2/clock")
    assert clock["is_open"]
    assert clock["next_close"] == clock["next_open"] == "2026-11-21T00:00:00-05:00"


async def test_exchange_keeps_its_hours() -> None:
    """Ten seconds before the opening; Thanksgiving is closed, and the day after it half a day."""
    async with simulated_alpaca(always_open=False) as alpaca:
        clock = await get(alpaca, "/v2/clock")
        assert clock["timestamp"].startswith("2026-11-20T14:29:50.")
        assert (clock["is_open"], clock["next_open"]) == (False, "2026-11-20T09:30:00-05:00")
        days = await get(alpaca, "/v2/calendar?start=2026-11-25&end=2026-11-27")
        assert [(day["date"], day["open"], day["close"], day["session_close"]) for day in days] == [
            ("2026-11-25", "09:30", "16:00", "2000"),
            ("2026-11-27", "09:30", "13:00", "1700"),
        ]
        body = await get(alpaca, "/v2/stocks/AAPL/bars?timeframe=1Hour&start=2026-11-19T00:00:00Z")
        assert [row["t"][11:16] for row in body["bars"]] == [f"{hour}:00" for hour in range(14, 21)]
        alpaca.run(11_000, step=1_000)
        assert (await get(alpaca, "/v2/clock"))["is_open"]
