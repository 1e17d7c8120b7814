"""Trading bots on the usual clients, end to end: they buy, wait for a limit, and sell on a paper account."""

import pytest

from support.servers.simulated_vendor import run_python, simulated_vendor

pytestmark = pytest.mark.vendors


def test_alpaca_py_trades() -> None:
    with simulated_vendor("alpaca", "--rate", "10") as vendor:
        answer = run_python("paper_alpaca.py", vendor.url)
    assert answer["statuses"] == ["filled", "filled", "new"]
    assert (answer["waiting"], answer["canceled"]) == (["far"], "canceled")
    assert answer["positions"].keys() == {"AAPL", "BTCUSD"}
    assert (answer["closed"], answer["left"], answer["orders"]) == (["AAPL"], 0, 5)
    begun, ended = map(float, answer["cash"])
    assert begun == 100_000
    assert 0.99 * begun < ended < 1.01 * begun


@pytest.mark.parametrize(
    ("name", "symbol", "base"), [("binance", "BTC/USDT", 0.00999), ("kraken", "BTC/USD", 0.01)]
)
def test_ccxt_trades(name: str, symbol: str, base: float) -> None:
    """With keys it also loads the currencies."""
    with simulated_vendor(name, "--rate", "10") as vendor:
        answer = run_python("paper_ccxt.py", name, vendor.url, symbol, "c2VjcmV0")
    assert answer["currencies"] > 50
    assert (answer["base"], answer["found"][:2], answer["waiting"]) == (base, ["closed", 0.01], [True])
    assert 10 <= answer["used"] < 10.1
    assert [side for side, _, _ in answer["trades"]] == ["buy", "sell"]
    assert answer["refused"] == "InsufficientFunds"
    begun, _, ended = answer["quote"]
    assert 0.99 * begun < ended < begun
