"""A fake Binance spot exchange: the simulated one with rows that a test gives, which fails as a test asks."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, Literal

import msgspec

from fakes.binance_rows import event, klines, statistics
from fakes.http import FakeHttp, Row
from quotecast.simulation.vendors.binance.book import Book
from quotecast.simulation.vendors.binance.errors import ELSEWHERE, banned, weight_used
from quotecast.simulation.vendors.binance.events import server_shutdown
from quotecast.simulation.vendors.binance.limits import MAX_WEIGHT, Weights
from quotecast.simulation.vendors.binance.server import BinanceServer
from quotecast.simulation.vendors.binance.sessions import COMBINED
from quotecast.simulation.vendors.binance.source import MarketSource
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.market import Market, Price
from quotecast.simulation.vendors.server import Client

__all__ = ["BANNED", "ELSEWHERE", "TOO_MUCH", "FakeBinance"]

BANNED: Final = banned(130, 1_795_118_530_000)
TOO_MUCH: Final = weight_used(7, MAX_WEIGHT)


class _FakeClock(MarketClock):
    """The time of `now`, in Unix seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.now: Callable[[], float] = time.time

    def moment(self) -> int:
        return int(self.now() * 1000)


class FakeBinance(FakeHttp, BinanceServer):
    """A fake Binance, which serves inside `async with`; tests may change every attribute while it serves.

    REST and streams both report `statistics`. Each subscribed client gets an event per symbol every
    `beat_seconds`; `say` sends more events. Candles begin at `listed_since`.
    """

    clock: _FakeClock

    def __init__(self, listing: Sequence[Row] = (), port: int = 0) -> None:
        super().__init__(_market(), _FakeClock(), source=_GivenRows(self), port=port)
        self.listing = listing
        self.statistics: dict[str, Row] = {}
        self.beat_seconds = 0.02
        #: Faults after a subscription, and whether the server confirms it; a frozen server answers no ping.
        self.ending: Literal["beats", "silence", "frozen", "abort"] = "beats"
        self.acknowledges = True
        #: What clients sent.
        self.commands: list[Row] = []
        self.closed = asyncio.Event()
        self._beats: dict[Client, asyncio.Task[None]] = {}

    @property
    def listed_since(self) -> int:
        return self.source.opened

    @listed_since.setter
    def listed_since(self, moment: int) -> None:
        self.source.opened = moment

    @property
    def weight(self) -> int:
        """The request weight that the address has used in this minute."""
        return self.weights.used

    @weight.setter
    def weight(self, used: int) -> None:
        self.weights = Weights(self.clock.moment(), used)

    async def say(self, *rows: Row) -> None:
        """Sends rows of statistics as events to the clients that subscribed to them."""
        for row in rows:
            self._send_event(f"{row['symbol'].lower()}@ticker", event(row))

    async def say_raw(self, text: str) -> None:
        for client in [*self.clients]:
            client.answer(text.encode())

    async def shut_down(self) -> None:
        """Announces the shutdown of the server to every client."""
        message = {"stream": "!serverShutdown", "data": server_shutdown(self.clock.moment())}
        await self.say_raw(msgspec.json.encode(message).decode())

    def abort(self) -> None:
        """Aborts every connection without a close frame."""
        self.abort_all()

    def now_row(self, symbol: str) -> Row:
        """Returns the current statistics of a symbol."""
        row = self.statistics.get(symbol) or statistics(symbol)
        return row | ({} if row["closeTime"] else {"closeTime": self.clock.moment()})

    def greet(self, client: Client) -> None:
        """See BinanceServer; the client's beats begin."""
        super().greet(client)
        self._beats[client] = asyncio.create_task(self._beat(client))

    def forget(self, client: Client) -> None:
        """See BinanceServer; the client's beats end."""
        self._beats.pop(client).cancel()
        super().forget(client)
        self.closed.set()

    async def obey(self, client: Client, command: str | bytes) -> None:
        """See BinanceServer; a command may stay without an answer."""
        with contextlib.suppress(msgspec.DecodeError):
            self.commands.append(msgspec.json.decode(command))
        if self.acknowledges:
            await super().obey(client, command)

    async def _beat(self, client: Client) -> None:
        transport = client.connection.transport
        while self.ending != "silence":
            await asyncio.sleep(self.beat_seconds)
            if self.ending == "frozen":
                if client.topics:
                    transport.pause_reading()
                continue
            if self.ending == "abort" and client.topics:
                transport.abort()
            for symbol in sorted({*client.topics.values()} & self.statistics.keys()):
                await self.say(self.now_row(symbol))

    def _send_event(self, stream: str, data: Row) -> None:
        for client in self.topics.get(COMBINED + stream, ()):
            client.answer(msgspec.json.encode({"stream": stream, "data": data}))
        for client in self.topics.get(stream, ()):
            client.answer(msgspec.json.encode(data))


class _GivenRows(MarketSource):
    """The rows of a fake. A symbol is its own name."""

    opened = 1_700_000_000_000

    def __init__(self, fake: FakeBinance) -> None:
        super().__init__(_market())
        self._fake = fake

    def name_of(self, symbol: str) -> str:
        return symbol

    def is_listed(self, symbol: str, _moment: int) -> bool:
        return any(row["symbol"] == symbol for row in self._fake.listing)

    def listing(self, _moment: int) -> Sequence[Row]:
        return self._fake.listing

    def symbols(self, _moment: int) -> Sequence[str]:
        return [*self._fake.statistics]

    def day_row(self, symbol: str, _moment: int) -> Row:
        return self._fake.now_row(symbol)

    def klines(self, _symbol: str, interval: str, opens: tuple[int, int], moment: int) -> list[list[Any]]:
        return [*klines(interval, max(opens[0], self.opened), min(opens[1], moment))]

    def trades(self, _symbol: str, _last: int, _count: int) -> list[Price]:
        return []

    def book(self, _symbol: str, _moment: int) -> Book:
        raise NotImplementedError


@cache
def _market() -> Market:
    """Returns the market whose empty schedule all fakes share."""
    return Market(0)
