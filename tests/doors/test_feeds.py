"""The feeds' own socket, over the death of both workers: what every door is measured by."""

import pytest

from support.servers.running_up import Up
from support.stages.door_market import Market, kill_workers

SYMBOLS = ("AAPL", "BTC/USDT", "gram-altin")

pytestmark = pytest.mark.slow


def test_the_feeds_go_on_after_their_workers_died(up: Up, market: Market) -> None:
    kill_workers(up)
    market.wait_for_moves(SYMBOLS)
    rest = up.get("/api/market/quotes?symbols=AAPL")["AAPL"]["price"]
    market.require_known([("AAPL", rest)])
