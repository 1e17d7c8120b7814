"""The stream of a simulated Alpaca, which sends what a test says and fails as it asks."""

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any, Final, Literal

from fakes.http import FakeHttp, Row
from quotecast.simulation.vendors.alpaca.errors import MEANINGS
from quotecast.simulation.vendors.alpaca.rows import row_of, stock_trade
from quotecast.simulation.vendors.alpaca.server import AlpacaServer
from quotecast.simulation.vendors.alpaca.streams import CHANNELS, Session
from quotecast.simulation.vendors.market import Market
from quotecast.simulation.vendors.server import Client
from support.runs.manual_clock import ManualClock

__all__ = ["MEANINGS", "FakeAlpacaStream", "bar", "trade"]

_NAMES: Final = {kind: name for name, kind in CHANNELS["stocks"].items()}


class FakeAlpacaStream(FakeHttp, AlpacaServer):
    """A fake stream, which serves inside `async with`; tests may change every attribute while it serves.

    `say` sends messages to the clients that subscribed to them; the market sends none.
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__(_market(), ManualClock(0), port=port, free=True)
        self.keys = ("key", "secret")
        #: What every login gets: this error, or no answer at all.
        self.refuses: int | Literal["silently"] | None = None
        #: Whether the server confirms subscriptions.
        self.acknowledges = True
        #: What clients sent.
        self.commands: list[Row] = []
        self.most_at_once = 0
        self.subscriptions = 0
        self._changed = asyncio.Event()

    def accepts(self, key: str, secret: str = "") -> bool:
        return (key, secret) == self.keys

    async def say(self, *messages: Row) -> None:
        """Sends one frame to every client, with the messages that it subscribed to."""
        for client in [*self.logged_in()]:
            if wanted := [message for message in messages if _wants(client.state, message)]:
                self.reply(client, *wanted)

    async def say_raw(self, text: str) -> None:
        for client in [*self.logged_in()]:
            client.answer(text.encode())

    async def fail_all(self, code: int) -> None:
        """Sends the error to every client and closes their connections."""
        for client in [*self.logged_in()]:
            self.fail(client, code)

    def abort(self) -> None:
        """Aborts every connection without a close frame."""
        self.abort_all()

    async def until_subscribed(self, times: int = 1) -> None:
        """Waits until the server has confirmed that many subscriptions since its start."""
        await self._until(lambda: self.subscriptions >= times)

    async def until_left(self) -> None:
        """Waits until every client has disconnected."""
        await self._until(lambda: not self.clients)

    async def _until(self, is_true: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not is_true():
                await self._changed.wait()

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def forget(self, client: Client) -> None:
        super().forget(client)
        self._note_change()

    async def obey(self, client: Client, command: str | bytes) -> None:
        if self.refuses == "silently":
            return
        if client.state.key is not None:
            self.commands.append(client.state.decode(command))
        await super().obey(client, command)

    def log_in(self, client: Client, key: Any, secret: Any) -> None:
        if self.refuses != "silently":
            super().log_in(client, key, secret)
        self.most_at_once = max(self.most_at_once, sum(1 for _ in self.logged_in()))

    def login_error(self, client: Client, key: Any, secret: Any) -> int | None:
        if isinstance(self.refuses, int):
            return self.refuses
        return super().login_error(client, key, secret)

    def acknowledge(self, client: Client) -> None:
        if self.acknowledges:
            super().acknowledge(client)
            self.subscriptions += 1
            self._note_change()


def trade(symbol: str, price: float, time: str, *conditions: str, **more: Any) -> Row:
    """Returns a trade."""
    row = stock_trade(time, price, 100, number=1)
    return {"T": "t", "S": symbol} | row | {"c": list(conditions) or ["@"], **more}


def bar(symbol: str, time: str, prices: tuple[float, float, float, float], volume: float, **more: Any) -> Row:
    """Returns a minute bar."""
    return {"T": "b", "S": symbol} | row_of(time, prices, volume) | more


def _wants(session: Session, message: Row) -> bool:
    """Returns whether a client receives a message; messages without a channel go to every client."""
    name = _NAMES.get(message.get("T", ""))
    wanted = session.channels[name] if name else {"*"}
    return "*" in wanted or message.get("S") in wanted


@cache
def _market() -> Market:
    return Market(1)
