"""Splits, filings and peers of the simulated vendors."""

from typing import Any, Final

import msgspec
import pytest
from websockets.datastructures import Headers

from quotecast.simulation.market.scenarios.prices import Split
from quotecast.simulation.market.scenarios.schedule import Planned, Schedule
from quotecast.simulation.vendors.alpaca.server import AlpacaServer
from quotecast.simulation.vendors.clock import ManualClock
from quotecast.simulation.vendors.finnhub.server import VERSION, FinnhubServer
from quotecast.simulation.vendors.http import HttpRequest
from quotecast.simulation.vendors.market import Market

#: Thursday, 2026-11-19, 15:00 in New York.
START: Final = 1_795_118_400_000
HEADERS: Final = Headers({"APCA-API-KEY-ID": "k", "APCA-API-SECRET-KEY": "s", "X-Finnhub-Token": "k"})
SPLITS: Final = (
    Planned(Split(symbols=("AAPL",), ratio=4.0), START),
    Planned(Split(symbols=("MSFT",), ratio=0.1), START),
)


def ask(server: AlpacaServer | FinnhubServer, path: str, **query: str) -> tuple[int, Any]:
    answer = server.respond(HttpRequest(path, query, HEADERS, path))
    return answer.status, msgspec.json.decode(answer.body)


def alpaca() -> AlpacaServer:
    return AlpacaServer(Market(7, Schedule(SPLITS)), ManualClock(START))


def finnhub(*, free: bool = False) -> FinnhubServer:
    return FinnhubServer(Market(7, Schedule(SPLITS)), ManualClock(START), free=free)


def test_alpaca_has_the_splits_of_a_span() -> None:
    """Today's by default; those of the next midnight are tomorrow's."""
    server = alpaca()
    assert ask(server, "/v1/corporate-actions")[1]["corporate_actions"] == {}
    found = ask(server, "/v1/corporate-actions", start="2026-11-20", end="2026-11-30")[1]["corporate_actions"]
    (forward,), (reverse,) = found["forward_splits"], found["reverse_splits"]
    assert (forward["symbol"], forward["ex_date"], forward["new_rate"], forward["old_rate"]) == (
        "AAPL",
        "2026-11-20",
        4.0,
        1,
    )
    assert (reverse["symbol"], reverse["new_rate"], reverse["old_rate"]) == ("MSFT", 1, 10.0)
    span = {"start": "2026-11-20", "end": "2026-11-30"}
    assert [*ask(server, "/v1/corporate-actions", **span, symbols="MSFT")[1]["corporate_actions"]] == [
        "reverse_splits"
    ]
    assert ask(server, "/v1/corporate-actions", **span, types="cash_dividend")[1]["corporate_actions"] == {}
    assert ask(server, "/v1/corporate-actions", **span, types="party")[0] == 400


def test_finnhub_has_peers_and_filings_on_every_plan() -> None:
    server = finnhub(free=True)
    peers = ask(server, f"{VERSION}/stock/peers", symbol="MSFT")[1]
    assert peers[0] == "MSFT"
    assert 1 < len(peers) <= 10
    assert ask(server, f"{VERSION}/stock/peers", symbol="NONE") == (200, [])
    filings = ask(server, f"{VERSION}/stock/filings", symbol="MSFT")[1]
    dates = [each["filedDate"] for each in filings]
    assert dates == sorted(dates, reverse=True)
    assert {each["form"] for each in filings} == {"10-K", "10-Q"}
    later = ask(server, f"{VERSION}/stock/filings", symbol="MSFT", **{"from": dates[1][:10]})[1]
    assert later == filings[:2]


@pytest.mark.parametrize("path", ["/stock/split", "/stock/dividend"])
def test_finnhub_has_splits_on_the_paid_plan(path: str) -> None:
    span = {"symbol": "AAPL", "from": "2026-11-20", "to": "2026-11-30"}
    assert ask(finnhub(free=True), f"{VERSION}{path}", **span)[0] == 403
    found = ask(finnhub(), f"{VERSION}{path}", **span)[1]
    split = {"symbol": "AAPL", "date": "2026-11-20", "fromFactor": 1, "toFactor": 4.0}
    assert found == ([split] if path == "/stock/split" else [])
    assert ask(finnhub(), f"{VERSION}{path}", symbol="AAPL")[0] == 422
