"""Publishes one move for each tick of a worker: `python -m benchmarks.paced` beside it.

Turns follow one another on the monotonic clock, which all processes share. In each turn one stock moves once,
between two ticks of the worker, so the turn's tick sends one frame to each socket of that stock.
"""

import asyncio
import os
import time
from typing import Final

import uvloop

from benchmarks.prepared import LEASE_MILLISECONDS, quote
from quotecast.bus.base import FeedInfo
from quotecast.bus.redis import RedisBus
from quotecast.feed.commands import INTERVALS
from quotecast.ingest.ledger import Ledger, new_epoch
from quotecast.market.feeds import Feed
from quotecast.providers.base import Update

#: Stocks in the order of their turns: there and back, so that a drift concerns all of them.
ORDER: Final = (0, 1, 2, 2, 1, 0)
STOCKS: Final = max(ORDER) + 1
TURN_SECONDS: Final = INTERVALS[0] / 1000
#: Turns after which each stock has met the same number of the worker's sweeps, which come every fifth turn.
CYCLE: Final = 5 * len(ORDER)
#: Seconds from a tick to the end of its turn, when its frames are sent, and to the next move.
END_SECONDS: Final = 0.04
MOVE_SECONDS: Final = 0.05
#: Unix time of all moves, so that no bar ends: New York trades.
OPEN_AT: Final = 1_773_154_800.0
OWNER: Final = "paced"


def stock_of(turn: int) -> int:
    """Returns the number of the stock that moves in a turn."""
    return ORDER[turn % len(ORDER)]


def turn_at(moment: float) -> int:
    """Returns the number of the next turn that begins after a moment of the monotonic clock."""
    return int((moment - END_SECONDS) / TURN_SECONDS) + 2


def end_of(turn: int) -> float:
    """Returns the moment that ends a turn and begins the next one."""
    return turn * TURN_SECONDS + END_SECONDS


def move_of(turn: int) -> float:
    """Returns the moment of a turn's move."""
    return (turn - 1) * TURN_SECONDS + MOVE_SECONDS


async def publish(url: str) -> None:
    """Publishes until killed; leaves out moves for which it comes too late."""
    bus, ledger = RedisBus(url, "quotecast"), Ledger(Feed.STOCKS)
    ledger.take(Update([quote(number, 0) for number in range(STOCKS)], complete=True), OPEN_AT)
    snapshot = ledger.begin(new_epoch(time.time()), FeedInfo(provider=OWNER, always_open=True))
    await bus.hold(Feed.STOCKS, OWNER, LEASE_MILLISECONDS)
    await bus.begin(OWNER, snapshot)
    while True:
        turn = turn_at(time.monotonic())
        await asyncio.sleep(move_of(turn) - time.monotonic())
        ledger.take(Update([quote(stock_of(turn), turn)]), OPEN_AT)
        batch, entries, _ = ledger.next_batch(time.time())
        if not await bus.publish(OWNER, batch, entries):
            raise RuntimeError("another ingest publishes")


if __name__ == "__main__":
    uvloop.run(publish(os.environ["QUOTECAST_REDIS_URL"]))
