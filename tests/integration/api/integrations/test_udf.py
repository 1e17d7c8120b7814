"""The UDF routes, asked as TradingView's UDF-compatible datafeed asks them."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import Any

import httpx
import pytest

from quotecast.api.middleware.middleware import Middleware
from quotecast.bus.base import FeedInfo
from quotecast.feed.documents import Documents
from quotecast.market.feeds import Feed
from quotecast.providers.simulator.client import SimulatorProvider
from quotecast.simulation.market.history import SimulatorHistory
from support.clients.chart_requests import ask, judge, pulse, url
from support.made.documents import article, asset, assets_of, news_of
from support.made.factories import NOW, client_of, client_to, edge_of, full_mirrors, services
from support.stages.bar_service import BarService, new_service

END = int(NOW)


@cache
def application() -> Middleware:
    """Returns the application, shared by all tests: building it is slower than most of them."""
    documents = Documents()
    documents.assets.take(assets_of(asset()))
    documents.news.take(
        news_of(
            article(1, created_at="2026-11-20T15:01:30.000Z"),
            article(2, created_at="2026-11-19T23:00:00.000Z"),
            article(3, symbols=["MSFT"]),
        )
    )
    return edge_of(services(full_mirrors(), documents=documents))


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with client_to(application()) as client:
        yield client


@pytest.fixture
async def service() -> BarService:
    """A worker with simulated stocks in sessions, and simulated pairs."""
    service = new_service()
    service.now = NOW
    for feed in (Feed.STOCKS, Feed.CRYPTO):
        always_open = feed is Feed.CRYPTO
        times = iter([NOW - 3600.0])
        provider = SimulatorProvider(
            feed,
            seed=3,
            rate=200,
            speed=1.0,
            always_open=always_open,
            clock=partial(next, times, NOW),
        )
        updates = provider.updates()
        service.info = FeedInfo(provider="simulator", simulated=True, always_open=always_open)
        service.quotes(feed, (await anext(updates)).quotes)
        service.histories[feed] = {"simulator": SimulatorHistory(feed, seed=3, always_open=always_open)}
        await updates.aclose()
    return service


async def get(client: httpx.AsyncClient, path: str, **parameters: object) -> Any:
    answer = await client.get(url(path, parameters))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_chart_never_asks_for_groups(client: httpx.AsyncClient) -> None:
    """The configuration has search and no groups, so that no chart asks for /symbol_info."""
    config = await get(client, "config")
    assert (config["supports_search"], config["supports_group_request"]) == (True, False)
    assert (config["supports_marks"], config["supports_timescale_marks"]) == (True, False)
    assert config["supports_time"]
    assert [each["value"] for each in config["exchanges"]] == ["", "DOVIZ", "NASDAQ", "Test"]
    assert {each["value"] for each in config["symbols_types"]} >= {"", "stock", "crypto"}


@pytest.mark.parametrize(
    ("name", "ticker", "zone", "kind", "currency"),
    [
        ("AAPL", "AAPL", "America/New_York", "stock", "USD"),
        ("nasdaq:aapl", "AAPL", "America/New_York", "stock", "USD"),
        ("BTC/USDT", "BTC/USDT", "Etc/UTC", "crypto", "USDT"),
        ("TEST:BTC-USDT", "BTC/USDT", "Etc/UTC", "crypto", "USDT"),
        ("GRAM-ALTIN", "DOVIZ:gram-altin", "Europe/Istanbul", "commodity", "TRY"),
        ("DOVIZ:usd", "DOVIZ:USD", "Europe/Istanbul", "forex", "TRY"),
    ],
)
async def test_a_symbol_has_its_hours(
    client: httpx.AsyncClient, name: str, *, ticker: str, zone: str, kind: str, currency: str
) -> None:
    """Any spelling resolves; the ticker resolves to itself."""
    found = await get(client, "symbols", symbol=name)
    assert found == await get(client, "symbols", symbol=found["ticker"])
    assert (found["ticker"], found["timezone"]) == (ticker, zone)
    assert found["session"] == ("0930-1600" if kind == "stock" else "24x7")
    assert (found["type"], found["currency_code"]) == (kind, currency)
    assert found["data_status"] == "streaming"
    assert found["has_intraday"]
    assert found["visible_plots_set"] == ("ohlc" if kind in {"commodity", "forex"} else "ohlcv")


async def test_a_stock_lists_only_bars_that_fit_its_session(client: httpx.AsyncClient) -> None:
    """A chart counts hours from 9:30, the service from midnight: the chart makes its own of finer bars."""
    found = await get(client, "symbols", symbol="AAPL")
    assert found["intraday_multipliers"] == ["1", "5", "15"]
    assert {"30", "60", "240"} <= set(found["supported_resolutions"])
    assert "20261126" in found["session_holidays"]
    assert "20261127" in found["corrections"]
    assert (found["minmov"], found["pricescale"]) == (1, 100)


@pytest.mark.parametrize(
    "name", ["NOPE", "NYSE:AAPL", "DOVIZ:AAPL", "NASDAQ:", ":", "x" * 81, "BTC/USDT/ETH", "AAPL:NASDAQ"]
)
async def test_an_unknown_symbol_has_a_status_in_its_body(client: httpx.AsyncClient, name: str) -> None:
    """The datafeed ignores the HTTP status: a body without `s` would be a symbol to it."""
    answer = await client.get(url("symbols", {"symbol": name}))
    assert answer.status_code in {404, 422}
    assert answer.json()["s"] == "error"
    assert answer.json()["errmsg"]
    assert answer.json()["detail"]
    assert answer.json()["request_id"]


async def test_a_feed_without_data_is_no_unknown_symbol() -> None:
    mirrors = full_mirrors()
    async with client_of(
        services({**mirrors, Feed.CRYPTO: type(mirrors[Feed.CRYPTO])(Feed.CRYPTO)})
    ) as client:
        answer = await client.get(url("symbols", {"symbol": "BTC/USDT"}))
    assert (answer.status_code, answer.json()["s"]) == (503, "error")
    assert answer.headers["retry-after"]


@pytest.mark.parametrize(
    ("text", "kind", "exchange", "first"),
    [
        ("AAPL", "", "", "AAPL"),
        ("BTC", "crypto", "", "BTC/USDT"),
        ("BTC", "", "test", "BTC/USDT"),
        ("ALTIN", "commodity", "", "DOVIZ:gram-altin"),
        ("USD", "forex", "DOVIZ", "DOVIZ:USD"),
        ("AAPL", "crypto", "", None),
        ("AAPL", "", "NYSE", None),
        ("", "", "", "DOVIZ:gram-altin"),
        ("", "stock", "", "AAPL"),
    ],
)
async def test_a_search_finds_symbols_that_resolve(
    client: httpx.AsyncClient, text: str, kind: str, exchange: str, first: str | None
) -> None:
    found = await get(client, "search", limit=30, query=text, type=kind, exchange=exchange)
    assert (found[0]["ticker"] if found else None) == first
    for each in found:
        symbol = await get(client, "symbols", symbol=each["ticker"])
        assert symbol == await get(client, "symbols", symbol=each["full_name"])
        assert (symbol["name"], symbol["exchange"], symbol["type"]) == (
            each["symbol"],
            each["exchange"],
            each["type"],
        )


async def test_quotes_keep_the_names_of_the_request(client: httpx.AsyncClient) -> None:
    """The chart looks its items up by the names that it sent; the unknown one is an error of its own."""
    found = await get(client, "quotes", symbols="nasdaq:AAPL,BTC/USDT,DOVIZ:gram-altin,NOPE")
    assert found["s"] == "ok"
    assert [(each["n"], each["s"]) for each in found["d"]] == [
        ("nasdaq:AAPL", "ok"),
        ("BTC/USDT", "ok"),
        ("DOVIZ:gram-altin", "ok"),
        ("NOPE", "error"),
    ]
    rest = (await client.get("/api/market/quotes/AAPL")).json()
    values = found["d"][0]["v"]
    assert (values["lp"], values["ch"], values["chp"]) == (
        rest["price"],
        rest["change"],
        rest["changePercent"],
    )
    assert values["volume"] == float(rest["volume"])
    assert (found["d"][2]["v"]["bid"], found["d"][2]["v"]["ask"]) == (41.0, 42.0)


async def test_news_are_marks_on_bars(client: httpx.AsyncClient) -> None:
    """A mark is on the bar of its time; an article of the evening is on the last bar of its day."""
    span = {"symbol": "AAPL", "from": 0, "to": END}
    marks = await get(client, "marks", **span, resolution="5")
    assert [datetime.fromtimestamp(each, UTC).isoformat() for each in marks["time"]] == [
        "2026-11-19T20:55:00+00:00",
        "2026-11-20T15:00:00+00:00",
    ]
    assert marks["id"] == ["2", "1"]
    assert {len(column) for column in marks.values()} == {2}
    days = await get(client, "marks", **span, resolution="1D")
    assert [each % 86_400 for each in days["time"]] == [0, 0]
    assert (await get(client, "marks", **span | {"from": END}, resolution="5"))["id"] == []
    assert (await get(client, "marks", **span | {"symbol": "BTC/USDT"}, resolution="5"))["id"] == []


async def test_the_time_is_a_bare_number(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/udf/time")
    assert answer.text == str(END)
    assert answer.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("symbol", ["AAPL", "BTC/USDT"])
async def test_every_resolution_has_its_bars(service: BarService, symbol: str) -> None:
    """The first request of a chart, and then its periodic one, which may have a fraction."""
    info = await ask(service, "symbols", symbol=symbol)
    bars = [*info["intraday_multipliers"], "1D", "1W", "1M"]
    assert set(bars) <= set(info["supported_resolutions"])
    for resolution in bars:
        first = await ask(
            service, "history", symbol=symbol, resolution=resolution, start=END, to=END + 86_400, countback=30
        )
        times = judge(first)
        assert len(times) == 30
        again = await ask(
            service, "history", symbol=symbol, resolution=resolution, **pulse(END + 1, resolution)
        )
        assert judge(again) == times[-2:]
        if not resolution.isdigit():
            assert {time % 86_400 for time in times} == {0}


async def test_bars_are_in_the_sessions_of_the_symbol(service: BarService) -> None:
    """A chart drops bars outside of the session that the symbol names, and on its holidays."""
    holidays = (await ask(service, "symbols", symbol="AAPL"))["session_holidays"].split(",")
    found = await ask(
        service, "history", symbol="AAPL", resolution="15", start=END - 7 * 86_400, to=END, countback=150
    )
    zone = timedelta(hours=-5)
    for time in judge(found):
        local = datetime.fromtimestamp(time, UTC) + zone
        minutes = local.hour * 60 + local.minute
        assert local.weekday() < 5
        assert 570 <= minutes < 960
        assert (minutes - 570) % 15 == 0
        assert f"{local:%Y%m%d}" not in holidays


async def test_the_last_bar_closes_with_the_price(service: BarService) -> None:
    """The bars are those of the market's own route."""
    found = await ask(
        service, "history", symbol="AAPL", resolution="5", start=END - 900, to=END + 60, countback=2
    )
    (quote,) = (await ask(service, "quotes", symbols="AAPL"))["d"]
    assert found["c"][-1] == quote["v"]["lp"]
    route = (await service.get("/api/market/bars/AAPL?range=1D&interval=5m")).json()[-2:]
    assert [bar["open"] for bar in route] == found["o"]
    assert [bar["volume"] for bar in route] == found["v"]


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"resolution": "7"}, "resolution"),
        ({"resolution": "60"}, "resolution"),
        ({"resolution": "1S"}, "resolution"),
        ({"to": "soon"}, "to"),
        ({"to": "1e9"}, "to"),
        ({"from": ""}, "from"),
        ({"to": "9" * 13}, "to"),
        ({"countback": "-1"}, "countback"),
        ({"countback": "1.5"}, "countback"),
        ({"countback": "1" * 8}, "countback"),
    ],
)
async def test_a_bad_value_is_an_error_to_the_chart(
    service: BarService, parameters: dict[str, str], field: str
) -> None:
    given = {"symbol": "AAPL", "resolution": "5", "from": "0", "to": str(END)} | parameters
    answer = await service.get(url("history", given))
    problem = answer.json()
    assert (answer.status_code, problem["s"]) == (422, "error")
    assert [each["field"] for each in problem["errors"]] == [field]
    assert field in problem["errmsg"]


async def test_a_span_needs_a_beginning_or_a_count(service: BarService) -> None:
    answer = await service.get(url("history", {"symbol": "AAPL", "resolution": "5", "to": END}))
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "from")
