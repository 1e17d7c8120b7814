"""What each MCP tool asks of the service."""

from typing import Any

import httpx
import pytest

from quotecast.mcp.asking import Asking
from quotecast.mcp.calls import ToolCalls
from quotecast.mcp.resources import read_resource
from quotecast.mcp.results import summary


class Service:
    """Answers every read with one body, and records the paths."""

    def __init__(self, body: Any, **headers: str) -> None:
        self.asked: list[str] = []
        self._body = body
        self._headers = headers
        #: The bodies of answers with status 404, by path.
        self.refused: dict[str, Any] = {}
        client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer), base_url="http://quotecast")
        self.asking = Asking(client)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.raw_path.decode())
        if self.asked[-1] in self.refused:
            return httpx.Response(404, json=self.refused[self.asked[-1]])
        return httpx.Response(200, json=self._body, headers=self._headers)

    async def call(self, tool: str, **given: Any) -> Any:
        return await ToolCalls().run(tool, given, self.asking)


@pytest.mark.parametrize(
    ("tool", "given", "path"),
    [
        ("search", {"query": "gram altin", "limit": 3}, "/api/search?q=gram+altin&limit=3"),
        ("bars", {"symbol": "AAPL"}, "/api/market/bars/AAPL?limit=100&order=desc&interval=D&range=5Y"),
        (
            "bars",
            {"symbol": "AAPL", "interval": "1h", "start": "2026-01-02"},
            "/api/market/bars/AAPL?start=2026-01-02&limit=100&order=asc&interval=1h",
        ),
        (
            "bars",
            {"symbol": "BTC/USDT", "feed": "crypto", "interval": "1m", "limit": 9},
            "/api/crypto/bars/BTC%2FUSDT?limit=9&order=desc&timeframe=1m",
        ),
        ("news", {"symbols": ["AAPL", "MSFT"]}, "/api/market/news?symbols=AAPL%2CMSFT&limit=10"),
        ("news", {"symbols": ["ALL"]}, "/api/market/news?symbols=ALL%2CALL&limit=10"),
        ("quotes", {"symbols": ["AAPL"]}, "/api/market/quotes?symbols=AAPL"),
        ("quotes", {"symbols": ["ALL"]}, "/api/market/quotes?symbols=ALL%2CALL"),
        ("portfolio", {"currency": "TRY"}, "/api/portfolio/holdings?include=quote&currency=TRY"),
        ("watchlist", {}, "/api/watchlist?include=quote&list=default"),
        ("watchlists", {}, "/api/watchlists"),
    ],
)
async def test_a_tool_reads_its_route(tool: str, given: dict[str, Any], path: str) -> None:
    service = Service({} if tool == "quotes" else [])
    await service.call(tool, **given)
    assert service.asked == [path]


async def test_quotes_of_unknown_symbols_alone_ask_what_the_first_may_mean() -> None:
    """The answer to one symbol says so; that to a list only counts them."""
    service = Service({}, **{"x-missing-symbols": "BTC%2FUSDT,NOPE"})
    await service.call("quotes", symbols=["BTC/USDT", "NOPE"])
    assert service.asked[1:] == ["/api/market/quotes/BTC%2FUSDT"]


async def test_unknown_symbols_beside_known_ones_say_what_they_may_mean() -> None:
    """Of three at most, each by a request of its own; the answer has the others."""
    errors = [{"field": "symbol", "message": "Did you mean BTC/USDT?"}]
    problem = {"detail": "Symbol not found", "code": "symbol_not_found", "errors": errors}
    service = Service({"AAPL": {"price": 1}}, **{"x-missing-symbols": "BTCUSDT,A,B,C"})
    service.refused["/api/market/quotes/BTCUSDT"] = problem
    service.refused |= {f"/api/market/quotes/{name}": {**problem, "errors": []} for name in "AB"}
    found = await service.call("quotes", symbols=["AAPL", "BTCUSDT", "A", "B", "C"])
    assert (found.rows, found.missing) == ([{"price": 1}], ["BTCUSDT", "A", "B", "C"])
    assert found.proposals == {"BTCUSDT": "Did you mean BTC/USDT?"}
    assert len(service.asked) == 4
    assert summary(found) == "1 row; unknown: BTCUSDT (Did you mean BTC/USDT?), A, B, C."


@pytest.mark.parametrize("others", [["BTC/USDT"], []])
async def test_a_former_symbol_says_what_it_is_now(others: list[str]) -> None:
    """The list of all pairs does not have it, its own route does."""
    service = Service({"BTC/USDT": {"price": 1}, "ticker": "POL/USDT"})
    found = await service.call("quotes", feed="crypto", symbols=["MATIC/USDT", *others])
    assert (found.missing, found.proposals) == (["MATIC/USDT"], {"MATIC/USDT": "It is POL/USDT now."})


async def test_a_symbol_cannot_leave_its_place_in_a_path() -> None:
    service = Service([])
    await service.call("bars", symbol="../../auth/profile?x#y")
    assert service.asked[0].startswith("/api/market/bars/..%2F..%2Fauth%2Fprofile%3Fx%23y?")


async def test_the_newest_bars_come_in_ascending_order() -> None:
    service = Service([{"time": 2}, {"time": 1}], **{"x-next-page": "abc"})
    found = await service.call("bars", symbol="AAPL")
    assert (found.rows, found.cut) == ([{"time": 1}, {"time": 2}], True)


async def test_quotes_of_pairs_come_in_the_order_of_the_request() -> None:
    """In any spelling; what the feed lacks is named as it was written."""
    service = Service({"BTC/USDT": {"price": 1}, "ETH/USDT": {"price": 2}})
    found = await service.call("quotes", feed="crypto", symbols=["eth-usdt", "BTC/USDT", "no/pe"])
    assert found.rows == [{"price": 2}, {"price": 1}]
    assert found.missing == ["no/pe"]


async def test_unknown_stocks_are_named() -> None:
    service = Service({"AAPL": {"price": 1}}, **{"x-missing-symbols": "ZZZZ,BRK%20B"})
    found = await service.call("quotes", symbols=["AAPL", "ZZZZ", "BRK B"])
    assert (found.rows, found.missing) == ([{"price": 1}], ["ZZZZ", "BRK B"])


async def test_the_heatmap_has_the_largest_stocks_of_each_sector() -> None:
    stocks = [
        {"ticker": name, "weight": weight, "industry": "x"} for name, weight in (("A", 0.1), ("B", 0.3))
    ]
    service = Service(
        {"sectors": [{"sector": "Energy", "stocks": [*stocks, {"ticker": "C", "weight": None}]}]}
    )
    found = await service.call("heatmap", stocks=1)
    assert found.rows == [{"sector": "Energy", "stocks": [{"ticker": "B", "weight": 0.3}]}]


async def test_an_overview_has_the_newest_of_each_part() -> None:
    body = {
        "symbol": "AAPL",
        "metrics": {"metric": {"beta": 1.1}, "series": {"annual": [1] * 99}},
        "earnings": [1, 2, 3],
        "epsEstimates": None,
    }
    found = await Service(body).call("company", symbol="AAPL")
    assert found.record == {
        "symbol": "AAPL",
        "metrics": {"metric": {"beta": 1.1}},
        "earnings": [1, 2],
        "epsEstimates": None,
    }


async def test_the_earnings_calendar_filters_by_symbol() -> None:
    service = Service({"earningsCalendar": [{"symbol": "AAPL"}, {"symbol": "MSFT"}]})
    found = await service.call("earnings_calendar", start="2026-01-02", symbols=["msft"])
    assert service.asked == ["/api/financials/earnings-calendar?from=2026-01-02"]
    assert found.rows == [{"symbol": "MSFT"}]


async def test_a_resource_is_the_service_s_answer() -> None:
    service = Service({"price": 1})
    for address in ("BTC-USDT", "BTC%2FUSDT", "BTC/USDT"):
        assert await read_resource(service.asking, f"quotecast://quotes/crypto/{address}") == '{"price":1}'
    assert service.asked == ["/api/crypto/quotes/BTC-USDT", *["/api/crypto/quotes/BTC%2FUSDT"] * 2]
