"""A simulated Kraken with the tickers and faults that a test gives."""

import asyncio
import contextlib
from collections.abc import Collection
from typing import Any, Final, Literal

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from fakes.http import FakeHttp, Row, running
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.kraken import version2
from quotecast.simulation.vendors.kraken.data import MINUTE, MOST_CANDLES, KrakenData
from quotecast.simulation.vendors.kraken.rest import TOO_MANY_CALLS
from quotecast.simulation.vendors.kraken.rows import moment_text, ohlc_row, ticker_row
from quotecast.simulation.vendors.kraken.server import KrakenServer
from quotecast.simulation.vendors.market import Candle, Market, Price
from quotecast.simulation.vendors.server import Client

__all__ = ["TOO_MANY_CALLS", "FakeKraken", "candle", "ticker"]

MARKET: Final = Market(0)


def ticker(symbol: str, last: float = 92_000.1, **changes: Any) -> Row:
    """Returns a row of the `ticker` channel without a time; its price rose by 120.1."""
    price = Price(
        symbol=symbol,
        time=0,
        number=0,
        price=last,
        size=0.1,
        bid=round(last * 0.999, 8),
        ask=round(last * 1.001, 8),
        open=last,
        high=round(last * 1.02, 8),
        low=round(last * 0.98, 8),
        previous=last,
        volume=2100.5,
    )
    row = ticker_row(price) | {"change": 120.1, "change_pct": 0.13} | changes
    return {name: value for name, value in row.items() if name != "timestamp"}


def candle(opened: int) -> list[Any]:
    """Returns the row of a candle that opened at that Unix time."""
    return ohlc_row(given_candle(opened * 1000), 1)


def given_candle(start: int) -> Candle:
    """Returns the candle that opened at that moment; its prices follow from the minute."""
    price = 1000.0 + start // MINUTE % 1000
    return Candle(start, start, price, price + 3, price - 2, price + 1.5, 12.5, 9)


class GivenData(KrakenData):
    """Given tickers, and candles since `listed_since` (Unix seconds)."""

    def __init__(self, market: Market, clock: MarketClock) -> None:
        super().__init__(market, clock)
        self.tickers: dict[str, Row] = {}
        self.listed_since = 1_500_000_000

    def symbols(self) -> Collection[str]:
        return self.tickers

    def has(self, symbol: str) -> bool:
        return symbol in self.tickers

    def decimals(self, symbol: str) -> int:  # noqa: ARG002 - all alike
        return 1

    def ticker(self, symbol: str) -> Row:
        return self.tickers[symbol]

    def candles(self, symbol: str, minutes: int, count: int = MOST_CANDLES) -> list[Candle]:  # noqa: ARG002
        length = minutes * MINUTE
        newest = self.clock.moment() // length * length
        openings = (newest - number * length for number in reversed(range(count)))
        return [given_candle(opened) for opened in openings if opened >= self.listed_since * 1000]


class FakeKraken(FakeHttp, KrakenServer):
    """A fake Kraken, which serves inside `async with`; tests may change every attribute while it serves.

    A new subscriber gets `tickers` at once, and again every `beat_seconds` with the present time; `say` sends
    more rows. Candles begin at `listed_since`.
    """

    def __init__(self, port: int = 0) -> None:
        clock = MarketClock()
        self.given = GivenData(MARKET, clock)
        super().__init__(MARKET, clock, port=port, data=self.given, calls=1_000_000)
        self.beat_seconds = 0.02
        #: Faults after a subscription, and whether the server confirms it.
        self.ending: Literal["beats", "heartbeats", "silence", "abort"] = "beats"
        self.acknowledges = True
        #: What clients sent.
        self.commands: list[Row] = []
        self.closed = asyncio.Event()

    @property
    def tickers(self) -> dict[str, Row]:
        return self.given.tickers

    @tickers.setter
    def tickers(self, rows: dict[str, Row]) -> None:
        self.given.tickers = rows

    def stop_clock(self, clock: MarketClock) -> None:
        """Lets that clock give the time."""
        self.clock = self.given.clock = clock

    async def say(self, *rows: Row, kind: str = "update") -> None:
        """Sends rows of the `ticker` channel to the clients that subscribed to them."""
        for client in [*self.clients]:
            message = [row for row in rows if row["symbol"] in client.topics.values()]
            if message:
                await client.connection.send(version2.message("ticker", kind, message), text=True)

    async def say_raw(self, text: str) -> None:
        for client in [*self.clients]:
            await client.connection.send(text)

    async def close_for_maintenance(self) -> None:
        """Announces maintenance to every client."""
        self.announce("maintenance")

    async def obey(self, client: Client, command: str | bytes) -> None:
        self.commands.append(msgspec.json.decode(command))
        if self.acknowledges:
            await super().obey(client, command)

    async def talk(self, connection: ServerConnection) -> None:
        async with running(self._beat(connection)):
            await super().talk(connection)
        self.closed.set()

    async def _beat(self, connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            while self.ending != "silence":
                await asyncio.sleep(self.beat_seconds)
                symbols = sorted({*self._client(connection).topics.values()})
                if self.ending == "abort" and symbols:
                    connection.transport.abort()
                if self.ending == "heartbeats":
                    await connection.send(version2.HEARTBEAT, text=True)
                    continue
                now = moment_text(self.clock.moment())
                for row in [self.tickers[symbol] | {"timestamp": now} for symbol in symbols]:
                    await connection.send(version2.message("ticker", "update", [row]), text=True)

    def _client(self, connection: ServerConnection) -> Client:
        return next(client for client in self.clients if client.connection is connection)
