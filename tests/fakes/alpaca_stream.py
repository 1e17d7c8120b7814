"""A fake of Alpaca's stream, version 2, which fails as a test asks."""

import argparse
import asyncio
import contextlib
import itertools
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from fakes.alpaca_rows import price_at
from fakes.http import Answer, FakeHttp, HttpRequest, Row, running

MEANINGS: Final = {
    400: "invalid syntax",
    401: "not authenticated",
    402: "auth failed",
    403: "already authenticated",
    404: "auth timeout",
    405: "symbol limit exceeded",
    406: "connection limit exceeded",
    407: "slow client",
    408: "v2 not enabled",
    409: "insufficient subscription",
    410: "invalid subscribe action for this feed",
    411: "insufficient scope",
    500: "internal error",
}
#: Channel of a subscription, and the type of its messages.
KINDS: Final = {
    "trades": "t",
    "quotes": "q",
    "bars": "b",
    "updatedBars": "u",
    "dailyBars": "d",
    "statuses": "s",
    "lulds": "l",
}
COUNTED: Final = ("trades", "quotes")


@dataclass(eq=False)
class Client:
    """A connection and its subscriptions."""

    connection: ServerConnection
    sets: dict[str, set[str]] = field(default_factory=lambda: {kind: set() for kind in KINDS})

    def wants(self, message: Row) -> bool:
        """Returns whether the client receives a message; messages without a channel go to every client."""
        wanted = next((self.sets[name] for name, kind in KINDS.items() if kind == message.get("T")), {"*"})
        return "*" in wanted or message.get("S") in wanted

    def subscription(self) -> Row:
        sets = {kind: sorted(symbols) for kind, symbols in self.sets.items()}
        return {
            "T": "subscription",
            **sets,
            "corrections": sets["trades"],
            "cancelErrors": sets["trades"],
        }


class FakeAlpacaStream(FakeHttp):
    """A fake stream, which serves inside `async with`; tests may change every attribute while it serves.

    `say` sends messages to the clients that subscribed to them.
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.keys = ("key", "secret")
        #: Feeds that the plan includes.
        self.feeds = {"iex", "test"}
        self.symbol_limit = 30
        self.connection_limit = 1
        self.auth_seconds = 10.0
        #: What every login gets: this error, or no answer at all.
        self.refuses: int | Literal["silently"] | None = None
        #: Whether the server confirms subscriptions.
        self.acknowledges = True
        #: What clients sent.
        self.commands: list[Row] = []
        self.clients: set[Client] = set()
        self.most_at_once = 0
        self.subscriptions = 0
        self._changed = asyncio.Condition()

    def respond(self, wanted: HttpRequest) -> Answer:
        return Answer.of({"message": f"{wanted.path} not found"}, 404)

    async def say(self, *messages: Row) -> None:
        """Sends one frame to every client, with the messages that it subscribed to."""
        for client in [*self.clients]:
            if wanted := [message for message in messages if client.wants(message)]:
                await _send(client.connection, *wanted)

    async def say_raw(self, text: str) -> None:
        for client in [*self.clients]:
            await client.connection.send(text)

    async def fail(self, code: int) -> None:
        """Sends the error to every client and closes their connections."""
        for client in [*self.clients]:
            await _fail(client.connection, code)

    def abort(self) -> None:
        """Aborts every connection without a close frame."""
        for client in [*self.clients]:
            client.connection.transport.abort()

    async def until_subscribed(self, times: int = 1) -> None:
        """Waits until the server has confirmed that many subscriptions since its start."""
        async with asyncio.timeout(10), self._changed:
            await self._changed.wait_for(lambda: self.subscriptions >= times)

    async def until_left(self) -> None:
        """Waits until every client has disconnected."""
        async with asyncio.timeout(10), self._changed:
            await self._changed.wait_for(lambda: not self.clients)

    async def talk(self, connection: ServerConnection) -> None:
        client = Client(connection)
        with contextlib.suppress(ConnectionClosed):
            await _send(connection, {"T": "success", "msg": "connected"})
            if not await self._log_in(client):
                return
            await _send(connection, {"T": "success", "msg": "authenticated"})
            self.clients.add(client)
            self.most_at_once = max(self.most_at_once, len(self.clients))
            async for command in connection:
                await self._handle_command(client, command)
        async with self._changed:
            self.clients.discard(client)
            self._changed.notify_all()

    async def _log_in(self, client: Client) -> bool:
        if self.refuses == "silently":
            await client.connection.wait_closed()
            return False
        problem = self.refuses or await self._authenticate(client.connection) or self._no_room(client)
        if problem:
            await _fail(client.connection, problem)
        return not problem

    async def _authenticate(self, connection: ServerConnection) -> int | None:
        """Returns the error for the client's keys, from the handshake or its first message."""
        assert connection.request
        headers = connection.request.headers
        if "APCA-API-KEY-ID" in headers:
            given = headers["APCA-API-KEY-ID"], headers.get("APCA-API-SECRET-KEY")
            return None if given == self.keys else 402
        try:
            async with asyncio.timeout(self.auth_seconds):
                command = _read(await connection.recv())
        except TimeoutError:
            return 404
        if command.get("action") != "auth":
            return 401 if command else 400
        return None if (command.get("key"), command.get("secret")) == self.keys else 402

    def _no_room(self, client: Client) -> int | None:
        assert client.connection.request
        if client.connection.request.path.removeprefix("/v2/") not in self.feeds:
            return 409
        return 406 if len(self.clients) >= self.connection_limit else None

    async def _handle_command(self, client: Client, text: str | bytes) -> None:
        command = _read(text)
        self.commands.append(command)
        action = command.get("action")
        if action == "auth":
            await _complain(client.connection, 403)
        elif action not in {"subscribe", "unsubscribe"}:
            await _complain(client.connection, 400)
        else:
            await self._change(client, command, adds=action == "subscribe")

    async def _change(self, client: Client, command: Row, *, adds: bool) -> None:
        wanted = {kind: set(command.get(kind, ())) for kind in KINDS}
        sets = {
            kind: client.sets[kind] | wanted[kind] if adds else client.sets[kind] - wanted[kind]
            for kind in KINDS
        }
        counted = [symbol for kind in COUNTED for symbol in sets[kind]]
        if len(counted) > self.symbol_limit or "*" in counted:
            await _complain(client.connection, 405)
            return
        client.sets = sets
        if not self.acknowledges:
            return
        await _send(client.connection, client.subscription())
        async with self._changed:
            self.subscriptions += 1
            self._changed.notify_all()


def _read(text: str | bytes) -> Row:
    try:
        command = msgspec.json.decode(text)
    except ValueError:
        return {}
    return command if isinstance(command, dict) else {}


async def _send(connection: ServerConnection, *messages: Row) -> None:
    await connection.send(msgspec.json.encode(messages), text=True)


async def _complain(connection: ServerConnection, code: int) -> None:
    await _send(connection, {"T": "error", "code": code, "msg": MEANINGS.get(code, "unknown")})


async def _fail(connection: ServerConnection, code: int) -> None:
    await _complain(connection, code)
    await connection.close()


def trade(symbol: str, price: float, time: str, *conditions: str, **more: Any) -> Row:
    return {
        "T": "t", "S": symbol, "i": 1, "x": "V", "p": price, "s": 100,
        "c": list(conditions) or ["@"], "z": "C", "t": time, **more,
    }  # fmt: skip


def bar(symbol: str, time: str, prices: tuple[float, float, float, float], volume: int, **more: Any) -> Row:
    opened, high, low, close = prices
    return {
        "T": "b", "S": symbol, "o": opened, "h": high, "l": low, "c": close, "v": volume,
        "t": time, "n": 3, "vw": close, **more,
    }  # fmt: skip


async def _send_trades(fake: FakeAlpacaStream) -> None:
    """Sends trades of all subscribed symbols every second, and their bars every minute."""
    prices: dict[str, float] = {}
    for second in itertools.count(1):
        await asyncio.sleep(1)
        now = datetime.now(UTC)
        for symbol in sorted({symbol for client in fake.clients for symbol in client.sets["trades"]}):
            prices[symbol] = price_at(symbol, now)
            await fake.say(trade(symbol, prices[symbol], _text(now)))
        if second % 60 == 0:
            start = _text(now.replace(second=0, microsecond=0) - timedelta(minutes=1))
            await fake.say(*(bar(symbol, start, (price,) * 4, 100) for symbol, price in prices.items()))


def _text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


async def _serve(keys: tuple[str, str], port: int) -> None:
    fake = FakeAlpacaStream(port)
    fake.keys = keys
    async with fake, running(_send_trades(fake)):
        sys.stdout.write(f"{fake.websocket_url}/v2/iex\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="Streams invented trades as Alpaca does, on a local port.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default="key")
    parser.add_argument("--secret", default="secret")
    arguments = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve((arguments.key, arguments.secret), arguments.port))


if __name__ == "__main__":
    main()
