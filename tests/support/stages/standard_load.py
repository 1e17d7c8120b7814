"""The load of the fault tests: 200 clients of three feeds, and HTTP reads; less on a slow machine.

Every client merges its frames and notes each broken promise of the feeds. All clients run on one event loop
in a thread, so that a test can disturb the service meanwhile.
"""

import asyncio
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

import httpx
import uvloop
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.typing import Subprotocol

from quotecast.market.codec import iso_utc
from support.clients.merging_client import MergingClient
from support.clients.plain_http import NO_TLS
from support.oracles.believable import unbelievable
from support.runs.deadlines import scaled, slowness

CLIENTS: Final = 200
#: Two clients of each feed and kind at each of two workers.
LEAST_CLIENTS: Final = 24
FEEDS: Final = ("market", "crypto", "doviz")
#: Route of each feed's whole state.
STATES: Final = {
    "market": "/api/market/quotes?symbols=all",
    "crypto": "/api/crypto/quotes",
    "doviz": "/api/doviz/quotes",
}
READS: Final = (
    "/api/market/quotes?symbols=AAPL,MSFT",
    "/api/crypto/quotes",
    "/api/doviz/quotes/USD",
    "/api/market/movers",
)
#: Seconds between two reads of one reader, on a fast machine.
READ_PAUSE_SECONDS: Final = 0.05
#: Seconds between two connection attempts of a client.
RETRY_SECONDS: Final = 0.2
START_SECONDS: Final = 60.0
#: What half of the clients speak, and what the other half does on the socket of all feeds.
PROTOCOL: Final = Subprotocol("quotecast.v1.msgpack")
ROWS: Final = Subprotocol("quotecast.v1.rows.msgpack")

#: Simulated stocks fall by less, and no split may look like a fall.
GREATEST_FALL_PERCENT: Final = -20.0


class Read(NamedTuple):
    """A request; a status of 0 means no answer.

    As browsers do, the reader repeats a request once whose connection closed before an answer began.
    """

    at: float
    seconds: float
    status: int
    #: The client's error, that of the first try included.
    trouble: str = ""


class Listener:
    """A client of one feed that reconnects after every disconnection.

    On the socket of all feeds (`among_feeds`) it reads rows, and permessage-deflate.
    """

    def __init__(
        self, url: str, feed: str, interval: int | None = None, *, among_feeds: bool = False
    ) -> None:
        self.feed = feed
        self._among_feeds = among_feeds
        self._protocol = ROWS if among_feeds else PROTOCOL
        self.state = MergingClient("symbol" if feed == "doviz" else "ticker", self._protocol)
        #: Broken promises, as text.
        self.broken_promises: list[str] = []
        #: Close code of each connection.
        self.closes: list[int] = []
        #: Whether it may meet a server that knows less than the one before.
        self.goes_back = False
        #: The newest timestamp of any price, as text.
        self.newest = ""
        self.connected_at = self.state_at = self.told_at = 0.0
        #: The feed's state in the last heartbeats, and the times of the first and the last one with it.
        self.feed_state, self.feed_state_at, self.heartbeat_at = "", 0.0, 0.0
        self.farewell_at = 0.0
        #: Snapshots that replaced everything, in place of what changed past the cursor.
        self.resyncs = 0
        #: Seconds from each frame's newest price to its arrival.
        self.latencies: list[float] = []
        self._times: dict[str, str] = {}
        self._prices: dict[str, float] = {}
        self._key = "symbol" if feed == "doviz" else "ticker"
        #: The address of the service, which may change between two connections.
        self.url = url
        address = f"/api/ws?{feed}=all" if among_feeds else f"/api/ws/{feed}?symbols=all"
        self._path = f"{address}{f'&interval={interval}' if interval else ''}"
        self._connection: ClientConnection | None = None

    async def run(self) -> None:
        """Listens for ever."""
        while True:
            with contextlib.suppress(OSError, TimeoutError, WebSocketException):
                await self._listen()
            await asyncio.sleep(RETRY_SECONDS)

    async def disconnect(self) -> None:
        """Disconnects without a close frame, as a client does that loses its network."""
        if self._connection:
            self._connection.transport.abort()

    async def _listen(self) -> None:
        cursor = f"{self.feed}:{self.state.since}" if self._among_feeds else self.state.since
        async with connect(
            self.url + self._path + (f"&since={cursor}" if self.state.epoch else ""),
            subprotocols=[self._protocol],
            compression="deflate" if self._among_feeds else None,
            max_size=None,
            ping_interval=None,
        ) as connection:
            self._connection, self.connected_at = connection, time.time()
            try:
                while self._take(await connection.recv()):
                    pass
            except ConnectionClosed:
                self.closes.append(connection.close_code or 0)

    def _take(self, message: str | bytes) -> bool:
        """Merges a frame; returns False if the feed has no data yet, so that the client connects again."""
        before = self.state.epoch
        frame = self.state.read(message)
        if self._among_feeds and frame.get("feed", self.feed) != self.feed:
            return True
        try:
            self.state.merge(frame)
        except AssertionError as error:
            self.broken_promises.append(str(error))
            return True
        self.state.frames.clear()
        if before > self.state.epoch and not self.goes_back:
            self.broken_promises.append(f"epoch {self.state.epoch} after {before}")
        match frame["type"]:
            case "snapshot" | "update":
                self._judge(frame, fresh=before != self.state.epoch or frame.get("reason") == "resync")
            case "heartbeat":
                self._hear(frame["state" if self._among_feeds else "feed"])
            case "shutdown":
                self.farewell_at = time.time()
            case "error":
                return False
        return True

    def _hear(self, feed_state: str) -> None:
        self.heartbeat_at = time.time()
        if feed_state != self.feed_state:
            self.feed_state, self.feed_state_at = feed_state, self.heartbeat_at

    def _judge(self, frame: dict[str, Any], *, fresh: bool) -> None:
        """Notes each price that is older than the one before it in the same epoch, and each wrong one."""
        self.told_at = time.time()
        if fresh:
            self._times.clear()
        if frame["type"] == "snapshot":
            self.state_at = self.told_at
            self.resyncs += frame["reason"] == "resync"
        items = self.state.items(frame)
        for item in items:
            key, at = item[self._key], item["timestamp"] or ""
            if at < self._times.get(key, ""):
                self.broken_promises.append(f"{key}: the price of {at} after that of {self._times[key]}")
            self._times[key] = at
            self.broken_promises += unbelievable(key, item, self._prices.get(key), self.told_at)
            self._prices[key] = item["price"]
            change = item.get("changePercent") or 0.0
            if self.feed == "market" and change < GREATEST_FALL_PERCENT:
                self.broken_promises.append(f"{key}: fell by {-change} percent")
        newest = max((item["timestamp"] or "" for item in items), default="")
        if newest > self.newest:
            self.newest = newest
            self.latencies.append(self.told_at - datetime.fromisoformat(newest).timestamp())


class StandardLoad:
    """Loads the service at a port inside `with`, which begins once every client has its state.

    Clients ask for an update each `interval` milliseconds, or use the default.
    """

    def __init__(
        self, port: int, *, clients: int | None = None, readers: int = 4, interval: int | None = None
    ) -> None:
        clients = clients or possible_clients(CLIENTS)
        self.url = f"http://127.0.0.1:{port}"
        #: Where the readers read.
        self.read_urls = [self.url]
        feeds = [(FEEDS[number % len(FEEDS)], number // len(FEEDS) % 2 == 1) for number in range(clients)]
        self.listeners = [
            Listener(f"ws://127.0.0.1:{port}", feed, interval, among_feeds=among_feeds)
            for feed, among_feeds in feeds
        ]
        self.reads: list[Read] = []
        self._readers = readers
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._run)
        self._main: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self.until(lambda: all(each.told_at for each in self.listeners), START_SECONDS)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    @property
    def errors(self) -> list[str]:
        """Returns the errors of reads that got no answer."""
        return [read.trouble for read in self.reads if read.trouble]

    def until(self, holds: Callable[[], bool], seconds: float) -> float:
        """Waits until the condition holds; returns the seconds. Fails after `seconds`, scaled."""
        began = time.monotonic()
        while not holds():
            assert time.monotonic() - began < scaled(seconds), "the condition never held"
            time.sleep(0.01)
        return time.monotonic() - began

    def until_newer(self, at: float, seconds: float, among: Iterable[Listener] | None = None) -> float:
        """Waits until every client holds prices newer than the Unix time `at`; returns the seconds."""
        text, listeners = iso_utc(at), list(among or self.listeners)
        self.until(lambda: all(each.newest > text for each in listeners), seconds)
        return time.time() - at

    def until_feed_state(self, feed_state: str, at: float, seconds: float) -> float:
        """Waits until each client's last heartbeat came after the Unix time `at`, with this feed state.

        Returns the seconds from `at` until the last client saw the state first.
        """
        self.until(
            lambda: all(each.feed_state == feed_state and each.heartbeat_at > at for each in self.listeners),
            seconds,
        )
        return max(each.feed_state_at for each in self.listeners) - at

    def until_equal(self, seconds: float) -> None:
        """Waits until every client holds exactly the state of REST; the feeds must rest meanwhile."""
        for feed, path in STATES.items():
            listeners = [each for each in self.listeners if each.feed == feed]
            with httpx.Client(base_url=self.url, verify=NO_TLS, timeout=scaled(5)) as http:
                self.until(lambda: _equal(http, path, listeners), seconds)  # noqa: B023 - called at once

    def disconnect_all(self) -> float:
        """Disconnects every client at once; returns the Unix time."""
        at = time.time()

        async def disconnect() -> None:
            await asyncio.gather(*(each.disconnect() for each in self.listeners))

        asyncio.run_coroutine_threadsafe(disconnect(), self._loop).result(scaled(5))
        return at

    @property
    def broken_promises(self) -> list[str]:
        """Returns the promises broken so far, each kind once."""
        return sorted({problem for each in self.listeners for problem in each.broken_promises})

    @property
    def closes(self) -> Counter[int]:
        """Returns the number of ended connections by close code."""
        return Counter(code for each in self.listeners for code in each.closes)

    def statuses(self, since: float = 0.0) -> Counter[int]:
        """Returns the number of reads by status."""
        return Counter(read.status for read in self.reads if read.at >= since)

    def check_reads(self, seconds: float) -> None:
        """Fails unless all reads were answered with 200, and as many that begin now as there are readers."""
        at = time.time()
        self.until(lambda: self.statuses(at).total() >= self._readers * len(self.read_urls), seconds)
        statuses = self.statuses()
        assert not self.errors, self.errors[:8]
        assert set(statuses) == {200}, statuses

    def read_seconds(self, share: float, since: float = 0.0, until: float = float("inf")) -> float:
        """Returns the time within which that share of the reads begun in the interval got their answers."""
        took = sorted(read.seconds for read in self.reads if since <= read.at < until)
        return took[min(len(took) - 1, int(len(took) * share))]

    def _run(self) -> None:
        with (
            asyncio.Runner(loop_factory=lambda: self._loop) as runner,
            contextlib.suppress(asyncio.CancelledError),
        ):
            runner.run(self._work())

    async def _work(self) -> None:
        self._main = asyncio.current_task()
        async with asyncio.TaskGroup() as group:
            for listener in self.listeners:
                group.create_task(listener.run())
            for url in self.read_urls:
                for number in range(self._readers):
                    group.create_task(self._read(url, READS[number % len(READS)]))

    async def _read(self, url: str, path: str) -> None:
        async with httpx.AsyncClient(base_url=url, timeout=START_SECONDS, verify=NO_TLS) as http:
            while True:
                at, began, status, trouble = time.time(), time.perf_counter(), 0, ""
                try:
                    status = (await http.get(path)).status_code
                except httpx.TransportError as error:
                    trouble = f"{path}: {error!r}"
                    if _ended_before_an_answer(error):
                        with contextlib.suppress(httpx.TransportError):
                            status = (await http.get(path)).status_code
                self.reads.append(Read(at, time.perf_counter() - began, status, trouble))
                await asyncio.sleep(READ_PAUSE_SECONDS * slowness())

    def _stop(self) -> None:
        if self._main:
            self._loop.call_soon_threadsafe(self._main.cancel)
        self._thread.join(scaled(10))


def possible_clients(wanted: int) -> int:
    """Returns how many clients this machine keeps up with, of those that a fast one does.

    Clients that are ten seconds behind would lose their connections through no fault of the service.
    """
    return max(LEAST_CLIENTS, int(wanted / slowness()))


def _equal(http: httpx.Client, path: str, listeners: list[Listener]) -> bool:
    quotes = http.get(path).json()
    return all(each.state.quotes == quotes for each in listeners)


def _ended_before_an_answer(error: httpx.TransportError) -> bool:
    """Returns whether no answer had begun, as far as the client knows: a reset may also cut an answer off."""
    closed = isinstance(error, httpx.RemoteProtocolError) and str(error).startswith("Server disconnected")
    return closed or isinstance(error, httpx.ReadError)
