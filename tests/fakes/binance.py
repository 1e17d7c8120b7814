"""A fake Binance spot exchange: REST and streams on one local port, which fails as a test asks.

By hand: `PYTHONPATH=tests python -m fakes.binance --port 8700`.
"""

import argparse
import asyncio
import contextlib
import itertools
import random
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from fakes.binance_rows import INTERVALS, event, kline, listing_row, openings, statistics
from fakes.http import Answer, FakeHttp, HttpRequest, Row, running
from quotecast.providers.reference import pairs

BANNED: Final = Answer(
    b'{"code":-1003,"msg":"Way too much request weight used; IP banned."}',
    418,
    headers={"Retry-After": "130"},
)
TOO_MUCH: Final = Answer(
    b'{"code":-1003,"msg":"Too much request weight used."}', 429, headers={"Retry-After": "7"}
)
ELSEWHERE: Final = Answer(
    b'{"code":0,"msg":"Service unavailable from a restricted location according to \'b. Eligibility\'."}', 451
)

_SYMBOL: Final = re.compile(r"[A-Z0-9\-_.]{1,20}")


class FakeBinance(FakeHttp):
    """A fake Binance, which serves inside `async with`; tests may change every attribute while it serves.

    REST and streams both report `statistics`. Each subscribed client gets an event per symbol every
    `beat_seconds`; `say` sends more events. Candles begin at `listed_since`.
    """

    def __init__(self, listing: Sequence[Row] = (), port: int = 0) -> None:
        super().__init__(port)
        self.listing = listing
        self.statistics: dict[str, Row] = {}
        self.listed_since = 1_700_000_000_000
        self.rows_per_call = 1000
        self.clock: Callable[[], float] = time.time
        self.beat_seconds = 0.02
        self.messages_per_second = 5
        self.streams_per_connection = 1024
        #: Parameters that `exchangeInfo` accepts; Binance.US accepts fewer.
        self.listing_parameters = {"symbol", "symbols", "permissions", "showPermissionSets", "symbolStatus"}
        #: Faults after a subscription, and whether the server confirms it; a frozen server answers no ping.
        self.ending: Literal["beats", "silence", "frozen", "abort"] = "beats"
        self.acknowledges = True
        #: Request weight that the address has used in this minute.
        self.weight = 0
        #: What clients sent.
        self.commands: list[Row] = []
        self.clients: dict[ServerConnection, set[str]] = {}
        self.closed = asyncio.Event()

    def respond(self, request: HttpRequest) -> Answer:
        paths: dict[str, Callable[[HttpRequest], Answer]] = {
            "/api/v3/exchangeInfo": self._exchange_info,
            "/api/v3/ticker/24hr": self._day,
            "/api/v3/klines": self._klines,
        }
        if request.path not in paths:
            return Answer(b"<html>404</html>", 404, "text/html")
        answer = paths[request.path](request)
        return Answer(answer.body, answer.status, headers={"X-MBX-USED-WEIGHT-1M": str(self.weight)})

    async def say(self, *rows: Row) -> None:
        """Sends rows of statistics as events to the clients that subscribed to them."""
        for row in rows:
            await self._publish(f"{row['symbol'].lower()}@ticker", event(row))

    async def say_raw(self, text: str) -> None:
        for connection in [*self.clients]:
            await connection.send(text)

    async def shut_down(self) -> None:
        """Announces the shutdown of the server to every client."""
        event = {"e": "serverShutdown", "E": self._now()}
        await self.say_raw(msgspec.json.encode({"stream": "!serverShutdown", "data": event}).decode())

    def abort(self) -> None:
        """Aborts every connection without a close frame."""
        for connection in [*self.clients]:
            connection.transport.abort()

    def now_row(self, symbol: str) -> Row:
        """Returns the current statistics of a symbol."""
        row = self.statistics.get(symbol) or statistics(symbol)
        return row | ({} if row["closeTime"] else {"closeTime": self._now()})

    async def talk(self, connection: ServerConnection) -> None:
        streams: set[str] = set()
        self.clients[connection] = streams
        times: deque[float] = deque(maxlen=self.messages_per_second)
        with contextlib.suppress(ConnectionClosed):
            async with running(self._beat(connection, streams)):
                async for command in connection:
                    if len(times) == times.maxlen and time.monotonic() - times[0] < 1:
                        await connection.close(1008, "Too many requests")
                        break
                    times.append(time.monotonic())
                    await self._handle_command(connection, streams, command)
        del self.clients[connection]
        self.closed.set()

    async def _handle_command(
        self, connection: ServerConnection, streams: set[str], command: str | bytes
    ) -> None:
        try:
            request = msgspec.json.decode(command, type=dict[str, Any])
        except ValueError as error:
            await _send(connection, {"code": 3, "msg": f"Invalid JSON: {error}"})
            return
        self.commands.append(request)
        number, wanted = request.get("id"), request.get("params")
        if request.get("method") not in ("SUBSCRIBE", "UNSUBSCRIBE") or not isinstance(wanted, list):
            await _send(connection, {"code": 2, "msg": "Invalid request: unknown variant", "id": number})
        elif len(streams | set(wanted)) > self.streams_per_connection:
            await _send(connection, {"error": {"code": 4, "msg": "Too many subscriptions"}, "id": number})
        else:
            change = streams.update if request["method"] == "SUBSCRIBE" else streams.difference_update
            change(wanted)
            if self.acknowledges:
                await _send(connection, {"result": None, "id": number})

    async def _beat(self, connection: ServerConnection, streams: set[str]) -> None:
        with contextlib.suppress(ConnectionClosed):
            while self.ending != "silence":
                await asyncio.sleep(self.beat_seconds)
                if self.ending == "frozen":
                    if streams:
                        connection.transport.pause_reading()
                    continue
                if self.ending == "abort" and streams:
                    connection.transport.abort()
                for symbol in [name.removesuffix("@ticker").upper() for name in sorted(streams)]:
                    if symbol in self.statistics:
                        await self.say(self.now_row(symbol))

    async def _publish(self, stream: str, event: Row) -> None:
        for connection, streams in [*self.clients.items()]:
            if stream in streams:
                assert connection.request
                combined = connection.request.path.startswith("/stream")
                await _send(connection, {"stream": stream, "data": event} if combined else event)

    def _exchange_info(self, request: HttpRequest) -> Answer:
        self.weight += 20
        if unread := request.query.keys() - self.listing_parameters:
            known = len(request.query) - len(unread)
            return _problem(
                -1104,
                f"Not all sent parameters were read; read '{known}' parameter(s) "
                f"but was sent '{len(request.query)}'.",
            )
        status = request.query.get("symbolStatus")
        rows = [row for row in self.listing if status in (None, row["status"])]
        return Answer.of({"timezone": "UTC", "serverTime": self._now(), "symbols": rows})

    def _day(self, request: HttpRequest) -> Answer:
        self.weight += 80
        if "symbol" in request.query:
            symbol = request.query["symbol"]
            return _bad_symbol(self.listing, symbol) or Answer.of(self.now_row(symbol))
        return Answer.of([self.now_row(symbol) for symbol in self.statistics])

    def _klines(self, request: HttpRequest) -> Answer:
        self.weight += 2
        for name in ("symbol", "interval"):
            if name not in request.query:
                return _problem(-1102, f"Mandatory parameter '{name}' was not sent, was empty/null")
        interval = request.query["interval"]
        if interval not in INTERVALS:
            return _problem(-1120, "Invalid interval.")
        if bad := _bad_symbol(self.listing, request.query["symbol"]):
            return bad
        return Answer.of(self._candles(interval, request.query))

    def _candles(self, interval: str, query: Any) -> list[list[Any]]:
        limit = min(int(query.get("limit", 500)), self.rows_per_call)
        start = max(int(query.get("startTime", 0)), self.listed_since)
        end = min(int(query.get("endTime", self._now())), self._now())
        spans = itertools.pairwise(openings(interval, start))
        inside = itertools.takewhile(lambda span: span[0] <= end, spans)
        return [kline(*span) for span in itertools.islice(inside, limit)]

    def _now(self) -> int:
        return int(self.clock() * 1000)


def _bad_symbol(listing: Sequence[Row], symbol: str) -> Answer | None:
    if not _SYMBOL.fullmatch(symbol):
        return _problem(
            -1100, "Illegal characters found in parameter 'symbol'; legal range is '^[A-Z0-9-_.]{1,20}$'."
        )
    known = any(row["symbol"] == symbol for row in listing)
    return None if known else _problem(-1121, "Invalid symbol.")


def _problem(code: int, text: str) -> Answer:
    return Answer.of({"code": code, "msg": text}, 400)


async def _send(connection: ServerConnection, message: Row) -> None:
    await connection.send(msgspec.json.encode(message), text=True)


async def _move(fake: FakeBinance) -> None:
    """Moves every price in a random walk, for ever."""
    while True:
        await asyncio.sleep(1)
        for symbol, row in fake.statistics.items():
            price = float(row["lastPrice"]) * random.uniform(0.999, 1.001)
            fake.statistics[symbol] = statistics(symbol, f"{price:.8f}", row["openPrice"])


async def _serve(port: int) -> None:
    offered = [pair for pair in pairs() if pair.quote == "USDT"]
    async with FakeBinance([listing_row(pair.base) for pair in offered], port) as fake:
        for pair in offered:
            symbol, price = f"{pair.base}USDT", f"{pair.price:.8f}"
            fake.statistics[symbol] = statistics(symbol, price, price)
        fake.beat_seconds = 1.0
        sys.stdout.write(f"{fake.url}\n{fake.websocket_url}\n")
        sys.stdout.flush()
        await _move(fake)


def main() -> None:
    parser = argparse.ArgumentParser(description="Serves an invented Binance on a local port.")
    parser.add_argument("--port", type=int, default=0, help="any free one by default")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
