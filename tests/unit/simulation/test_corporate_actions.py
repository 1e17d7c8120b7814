"""Splits, dividends, filings and peers of the simulated vendors."""

from datetime import date, timedelta
from typing import Any, Final

import msgspec
import pytest
from websockets.datastructures import Headers

from quotecast.simulation.market.scenarios.schedule import Planned, Schedule
from quotecast.simulation.market.scenarios.trading import Split
from quotecast.simulation.vendors.alpaca.server import AlpacaServer
from quotecast.simulation.vendors.finnhub.server import VERSION, FinnhubServer
from quotecast.simulation.vendors.http import HttpRequest
from quotecast.simulation.vendors.market import Market
from support.runs.manual_clock import ManualClock

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


def test_a_split_of_less_than_a_quarter_is_a_stock_dividend() -> None:
    plan = [
        Planned(Split(symbols=(name,), ratio=ratio), START) for name, ratio in (("KO", 1.05), ("F", 1.25))
    ]
    server = AlpacaServer(Market(7, Schedule(plan)), ManualClock(START))
    span = {"start": "2026-11-20", "end": "2026-11-20", "types": "stock_dividend,forward_split"}
    found = ask(server, "/v1/corporate-actions", **span)[1]["corporate_actions"]
    ((dividend,), (split,)) = found["stock_dividends"], found["forward_splits"]
    assert (dividend["symbol"], dividend["rate"]) == ("KO", 0.05)
    assert (split["symbol"], split["new_rate"]) == ("F", 1.25)


@pytest.mark.slow
def test_alpaca_has_well_known_renames() -> None:
    """By the former or the present symbol, of a span of days."""
    server = alpaca()
    query = {"types": "name_change", "start": "2022-06-01", "end": "2026-11-19"}

    def renames(**more: str) -> list[tuple[str, str, str]]:
        found = ask(server, "/v1/corporate-actions", **{**query, **more})[1]["corporate_actions"]
        rows = found.get("name_changes", [])
        return [(each["old_symbol"], each["new_symbol"], each["process_date"]) for each in rows]

    everything = renames()
    assert everything[0] == ("FB", "META", "2022-06-09")
    assert [day for *_, day in everything] == sorted(day for *_, day in everything)
    assert renames(symbols="FB") == renames(symbols="META,MSFT") == [("FB", "META", "2022-06-09")]
    assert renames(start="2022-06-10", symbols="FB") == renames(types="forward_split") == []


def test_alpaca_has_the_splits_of_a_span() -> None:
    """Today's by default; those of the next midnight are tomorrow's."""
    server = alpaca()
    splits = {"types": "forward_split,reverse_split"}
    assert ask(server, "/v1/corporate-actions", **splits)[1]["corporate_actions"] == {}
    span = {"start": "2026-11-20", "end": "2026-11-30"}
    found = ask(server, "/v1/corporate-actions", **span, **splits)[1]["corporate_actions"]
    (forward,), (reverse,) = found["forward_splits"], found["reverse_splits"]
    assert (forward["symbol"], forward["ex_date"], forward["new_rate"], forward["old_rate"]) == (
        "AAPL",
        "2026-11-20",
        4.0,
        1,
    )
    assert (reverse["symbol"], reverse["new_rate"], reverse["old_rate"]) == ("MSFT", 1, 10.0)
    one = ask(server, "/v1/corporate-actions", **span, **splits, symbols="MSFT")[1]["corporate_actions"]
    assert [*one] == ["reverse_splits"]
    query = {"symbols": "AAPL", "types": "cash_dividend"}
    assert ask(server, "/v1/corporate-actions", **span, **query)[1]["corporate_actions"] == {}
    assert ask(server, "/v1/corporate-actions", **span, types="party")[0] == 400


def test_both_vendors_have_the_same_dividends() -> None:
    """Those that are declared: the market pays them once a quarter."""
    server = alpaca()
    span = {"start": "2026-01-01", "end": "2026-12-31"}
    query = {**span, "symbols": "KO", "types": "cash_dividend"}
    found = ask(server, "/v1/corporate-actions", **query)[1]["corporate_actions"]["cash_dividends"]
    assert len(found) == 4
    assert [each["ex_date"] for each in found] == sorted(each["ex_date"] for each in found)
    rows = ask(
        finnhub(), f"{VERSION}/stock/dividend", symbol="KO", **{"from": "2026-01-01", "to": "2026-12-31"}
    )[1]
    assert {(each["date"], each["amount"], each["payDate"]) for each in rows} == {
        (each["ex_date"], each["rate"], each["payable_date"]) for each in found
    }


def test_alpaca_adjusts_bars_for_dividends() -> None:
    """A bar before the dividend is less by its part of the close before it; one of the ex-day is not."""
    server = alpaca()
    query = {"start": "2026-01-01", "end": "2026-12-31", "types": "cash_dividend", "symbols": "KO"}
    paid = ask(server, "/v1/corporate-actions", **query)[1]["corporate_actions"]["cash_dividends"][-1]
    day = date.fromisoformat(paid["ex_date"])
    span = {"timeframe": "1Day", "start": f"{day - timedelta(days=1)}T00:00:00Z", "end": f"{day}T12:00:00Z"}
    raw, less = (
        ask(server, "/v2/stocks/KO/bars", **span, adjustment=each)[1]["bars"] for each in ("raw", "all")
    )
    before, after = raw
    assert less[0]["c"] == pytest.approx(before["c"] - paid["rate"], abs=0.001)
    assert less[0]["o"] == pytest.approx(before["o"] * (1 - paid["rate"] / before["c"]), abs=0.001)
    assert less[1] == after


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
