"""Tables of CSV by script, from a running service, over the death of both workers."""

import csv
import io
import urllib.request
from typing import Any

import pytest

from docs.pages import blocks, page
from support.runs.deadlines import scaled
from support.servers.running_up import Up
from support.stages.door_market import Market, kill_workers

PATHS = {
    "AAPL": "/api/market/quotes?symbols=AAPL&format=csv",
    "BTC/USDT": "/api/crypto/quotes?format=csv",
    "gram-altin": "/api/doviz/quotes/gram-altin?format=csv",
}

pytestmark = pytest.mark.slow


def rows_of(up: Up, path: str) -> list[dict[str, str]]:
    # What Google Sheets and Power Query send: no header of ours.
    with urllib.request.urlopen(f"http://127.0.0.1:{up.port}{path}", timeout=scaled(10)) as answer:
        assert answer.headers["content-type"].startswith("text/csv; charset=utf-8")
        return [*csv.DictReader(io.StringIO(answer.read().decode("utf-8"), newline=""))]


def shown(up: Up) -> dict[str, float]:
    """Returns the prices that the tables have now."""
    rows = [row for path in PATHS.values() for row in rows_of(up, path)]
    prices = {row.get("ticker") or row["symbol"]: float(row["price"]) for row in rows}
    return {symbol: prices[symbol] for symbol in PATHS}


def test_tables_show_the_market_after_both_workers_died(up: Up, market: Market) -> None:
    """No price is wrong or missing before, and none after."""
    symbols = [*PATHS]
    before = shown(up)
    kill_workers(up)
    market.wait_for_moves(symbols)
    after = shown(up)
    market.require_known([*before.items(), *after.items()])
    market.wait_until_shown(lambda: shown(up), symbols)


def test_pandas_reads_the_tables_of_the_page(up: Up, market: Market) -> None:
    """Runs the page's program."""
    (program,) = blocks(page("spreadsheets"), "python")
    names: dict[str, Any] = {}
    exec(program.replace("127.0.0.1:8000", f"127.0.0.1:{up.port}"), names)  # noqa: S102 - our own page
    market.require_known([("AAPL", float(names["quotes"].loc["AAPL", "price"]))])
    assert names["bars"].index.is_monotonic_increasing
    assert len(names["bars"]) == 1000
