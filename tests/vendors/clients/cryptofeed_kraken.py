"""cryptofeed: every channel of a Kraken at the given addresses, as a line of JSON."""

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any, ClassVar

from cryptofeed import FeedHandler
from cryptofeed.connection import RestEndpoint, Routes, WebsocketEndpoint
from cryptofeed.defines import CANDLES, L2_BOOK, TICKER, TRADES
from cryptofeed.exchanges import Kraken

REST, STREAM = sys.argv[1:]
#: Messages of each channel, after which the script ends.
ENOUGH = 5


class LocalKraken(Kraken):
    # The library takes no ws:// address but from the hook for logins.
    websocket_endpoints: ClassVar = [WebsocketEndpoint("wss://local", authentication=True, limit=20)]
    rest_endpoints: ClassVar = [RestEndpoint(REST, routes=Routes("/0/public/AssetPairs"))]

    async def _ws_authentication(self, _address: str, options: Any) -> tuple[str, Any]:
        return STREAM, options


received: dict[str, list[Any]] = {channel: [] for channel in (TICKER, TRADES, CANDLES, L2_BOOK)}
handler = FeedHandler(config={"log": {"disabled": True}})


def note(channel: str, describe: Callable[[Any], list[Any]]) -> Callable[..., Any]:
    async def take(row: Any, _receipt: float) -> None:
        received[channel].append(describe(row))
        if all(len(rows) >= ENOUGH for rows in received.values()):
            asyncio.get_running_loop().stop()

    return take


def describe_book(book: Any) -> list[Any]:
    bid, ask = book.book.bids.index(0)[0], book.book.asks.index(0)[0]
    return [book.symbol, float(bid), float(ask), len(book.book.bids)]


callbacks = {
    TICKER: note(TICKER, lambda row: [row.symbol, float(row.bid), float(row.ask)]),
    TRADES: note(TRADES, lambda row: [row.symbol, float(row.price), float(row.amount), row.timestamp]),
    CANDLES: note(CANDLES, lambda row: [row.symbol, float(row.low), float(row.high), row.interval]),
    L2_BOOK: note(L2_BOOK, describe_book),
}
handler.add_feed(
    LocalKraken(
        symbols=["BTC-USD", "ETH-USD"],
        channels=[*callbacks],
        callbacks=callbacks,
        max_depth=10,
        checksum_validation=True,
    )
)
handler.run(install_signal_handlers=False)
sys.stdout.write(json.dumps(received))
