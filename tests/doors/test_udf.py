"""TradingView's protocol by script, from a running service, over the death of both workers."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from support.clients.chart_requests import judge
from support.made.web_files import CLIENT, WEB
from support.oracles.printed_prices import PrintedPrices
from support.servers.running_up import Up
from support.stages.door_market import Market, kill_workers

#: Tickers of charts, and their symbols in the feeds.
TICKERS = {"AAPL": "AAPL", "BTC/USDT": "BTC/USDT", "DOVIZ:gram-altin": "gram-altin"}

pytestmark = pytest.mark.slow


def shown(up: Up) -> dict[str, float]:
    """Returns the prices of a chart's watchlist."""
    answer = up.get(f"/api/udf/quotes?symbols={quote(','.join(TICKERS))}")
    return {TICKERS[each["n"]]: each["v"]["lp"] for each in answer["d"]}


def closes(up: Up) -> dict[str, float]:
    """Returns the last closes of the charts, as the datafeed's periodic request gets them."""
    now = int(time.time())
    found = {}
    for ticker, symbol in TICKERS.items():
        path = f"/api/udf/history?symbol={quote(ticker, safe='')}&resolution=1&from={now - 600}&to={now + 60}"
        answer = up.get(f"{path}&countback=2")
        assert judge(answer)
        found[symbol] = answer["c"][-1]
    return found


def described(up: Up) -> list[tuple[str, str, str]]:
    """Returns ticker, hours and time zone of each symbol."""
    found = [up.get(f"/api/udf/symbols?symbol={quote(ticker, safe='')}") for ticker in TICKERS]
    return [(each["ticker"], each["session"], each["timezone"]) for each in found]


def test_charts_show_the_market_after_both_workers_died(up: Up, market: Market) -> None:
    """No price is wrong or missing before, and none after; the symbols are the same."""
    config = up.get("/api/udf/config")
    assert config["supports_search"]
    symbols = described(up)
    assert [each[0] for each in symbols] == [*TICKERS]
    before = [*shown(up).items(), *closes(up).items()]
    kill_workers(up)
    market.wait_for_moves([*TICKERS.values()])
    market.require_known([*before, *shown(up).items(), *closes(up).items()])
    market.wait_until_shown(lambda: shown(up), [*TICKERS.values()])
    assert described(up) == symbols


@pytest.fixture
def printed(up: Up, tmp_path: Path) -> Iterator[PrintedPrices]:
    """Runs a program on Node with the datafeed of the TypeScript client."""
    program = tmp_path / "datafeed.mjs"
    subprocess.run(
        [
            *(WEB / "node_modules/.bin/esbuild", Path(__file__).with_name(program.name), "--bundle"),
            *("--format=esm", f"--outfile={program}"),
            f"--alias:quotecast-client/tradingview={CLIENT}/src/tradingview/index.ts",
        ],
        check=True,
        capture_output=True,
    )
    # Node 20 has WebSocket behind this flag; later ones accept it.
    command = ["node", "--experimental-websocket", str(program), f"http://127.0.0.1:{up.port}", *TICKERS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        reading = PrintedPrices(process)
        yield reading
        reading.end()


def test_the_datafeed_goes_on_after_both_workers_died(up: Up, market: Market, printed: PrintedPrices) -> None:
    """Its watchlist and the last bars of its charts show the newest price of every symbol, and no other."""
    symbols = [*TICKERS.values()]
    bars = [f"bar {symbol}" for symbol in symbols]

    def shown_by_bars() -> dict[str, float]:
        return {symbol: printed.newest.get(bar, 0.0) for symbol, bar in zip(symbols, bars, strict=True)}

    market.wait_until_shown(shown_by_bars, symbols)
    kill_workers(up)
    market.wait_for_moves(symbols)
    market.wait_until_shown(lambda: printed.newest, symbols)
    market.wait_until_shown(shown_by_bars, symbols)
    market.require_known([(name.removeprefix("bar "), price) for name, price in printed.every])
