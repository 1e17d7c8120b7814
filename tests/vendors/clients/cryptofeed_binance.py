"""cryptofeed: tickers, trades, candles and the book of a Binance at given addresses."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

from cryptofeed import FeedHandler
from cryptofeed.connection import RestEndpoint, Routes, WebsocketEndpoint
from cryptofeed.defines import CANDLES, L2_BOOK, TICKER, TRADES
from cryptofeed.exchanges import Binance

REST, STREAM = sys.argv[1:]
#: Messages of each channel, after which the script ends.
ENOUGH = 3


class LocalBinance(Binance):
    """The library's Binance at the given addresses."""

    # The library takes no ws:// address but from the hook for logins.
    websocket_endpoints: ClassVar[list[Any]] = [WebsocketEndpoint("wss://local", authentication=True)]
    rest_endpoints: ClassVar[list[Any]] = [
        RestEndpoint(REST, routes=Routes("/api/v3/exchangeInfo", l2book="/api/v3/depth?symbol={}&limit={}"))
    ]

    async def _ws_authentication(self, address: str, options: Any) -> tuple[str, Any]:
        return address.replace("wss://local", STREAM), options


received: dict[str, list[Any]] = {channel: [] for channel in (TICKER, TRADES, CANDLES, L2_BOOK)}
handler = FeedHandler(config={"log": {"disabled": True}})


def note(channel: str, describe: Callable[[Any], Any]) -> Callable[[Any, float], Awaitable[None]]:
    """Returns a callback that notes rows and ends the script once each channel has enough."""

    async def take(row: Any, _receipt: float) -> None:
        received[channel].append(describe(row))
        if all(len(rows) >= ENOUGH for rows in received.values()):
            asyncio.get_running_loop().stop()

    return take


def describe_book(book: Any) -> list[Any]:
    """Returns the best bid and ask."""
    bid, ask = book.book.bids.index(0)[0], book.book.asks.index(0)[0]
    return [book.symbol, float(bid), float(ask), len(book.book.bids)]


def describe_candle(row: Any) -> list[Any]:
    """Returns the values of a candle."""
    values = [float(value) for value in (row.open, row.high, row.low, row.volume)]
    return [row.symbol, row.start, values]


callbacks = {
    TICKER: note(TICKER, lambda row: [row.symbol, float(row.bid), float(row.ask)]),
    TRADES: note(TRADES, lambda row: [row.symbol, float(row.price), float(row.amount), row.timestamp]),
    CANDLES: note(CANDLES, describe_candle),
    L2_BOOK: note(L2_BOOK, describe_book),
}
handler.add_feed(
    LocalBinance(
        symbols=["BTC-USDT", "ETH-USDT"],
        channels=[*callbacks],
        callbacks=callbacks,
        candle_closed_only=False,
        max_depth=10,
    )
)
handler.run(install_signal_handlers=False)
sys.stdout.write(json.dumps(received))
