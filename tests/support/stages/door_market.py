"""The prices that a client of any door must show, and the death of the workers behind it."""

import asyncio
import json
import os
import re
import signal
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import websockets.sync.client
from websockets.exceptions import WebSocketException

from quotecast.bus.base import Batch, Snapshot
from quotecast.bus.redis import RedisBus
from quotecast.bus.wire import decode_progress, decode_quote
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Progress
from quotecast.settings.model import Settings
from support.clients.merging_client import MergingClient
from support.runs.waits import wait_until
from support.servers.running_up import Up

#: Between two looks at a door: twelve seconds of them stay below the limits of requests.
POLL_SECONDS = 0.1
FEEDS = {"market": "ticker", "crypto": "ticker", "doviz": "symbol"}


def kill_workers(up: Up) -> None:
    """Kills each worker once, the second one after the first has started again."""
    for part in ("api 1", "api 2"):
        os.kill(up.pids[part], signal.SIGKILL)
        up.wait_for_restart(part)


class Market:
    """The prices of the feeds: the newest from a WebSocket that resumes by cursors, and all from the bus.

    A client's frames are no witness of all prices: each worker sends the last price of its own tick only, and
    none while it is dead.
    """

    def __init__(self, up: Up) -> None:
        self._url = f"ws://127.0.0.1:{up.port}/api/ws"
        self._bus = valkey_url(up)
        self._copies = {name: MergingClient(key) for name, key in FEEDS.items()}
        self._seen: dict[str, set[float]] = defaultdict(set)
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._threads = [
            threading.Thread(target=each, daemon=True)
            for each in (self._follow, lambda: asyncio.run(self._follow_bus()))
        ]
        for each in self._threads:
            each.start()

    def end(self) -> None:
        self._ending.set()
        for each in self._threads:
            each.join()

    def wait_until_full(self) -> None:
        wait_until(lambda: all(copy.quotes for copy in self._copies.values()), "a feed has no quotes")
        wait_until(lambda: self._seen, "the bus has no prices")

    def newest(self, symbols: Sequence[str]) -> dict[str, float]:
        """Returns the newest prices, by symbol of any feed."""
        with self._lock:
            quotes = {key: quote for copy in self._copies.values() for key, quote in copy.quotes.items()}
            return {symbol: quotes[symbol]["price"] for symbol in symbols}

    def wait_for_moves(self, symbols: Sequence[str]) -> None:
        """Waits until each price differs from the present one."""
        before = self.newest(symbols)

        def have_moved() -> bool:
            now = self.newest(symbols)
            return all(now[symbol] != before[symbol] for symbol in symbols)

        wait_until(have_moved, f"{symbols} did not move")

    def wait_until_shown(self, shown: Callable[[], Mapping[str, float]], symbols: Sequence[str]) -> None:
        """Waits until a door shows the newest price of each symbol."""
        wait_until(
            lambda: {symbol: shown().get(symbol) for symbol in symbols} == self.newest(symbols),
            f"the door did not show the newest prices of {symbols}",
            pause=POLL_SECONDS,
        )

    def require_known(self, shown: Iterable[tuple[str, float]]) -> None:
        """Fails for a price that the feeds did not have: it was wrong."""
        prices = set(shown)

        def unknown() -> set[tuple[str, float]]:
            with self._lock:
                return {(symbol, price) for symbol, price in prices if price not in self._seen[symbol]}

        wait_until(lambda: not unknown(), lambda: f"wrong prices: {unknown()}")

    async def _follow_bus(self) -> None:
        """Notes the prices of the state and of every batch after it, in quotes and in bars."""
        bus = RedisBus(self._bus, Settings().redis_prefix)
        async with bus.listen([*Feed]) as messages:
            for feed in Feed:
                if snapshot := await bus.load(feed):
                    self._note(prices_of_state(snapshot))
            async for message in messages:
                if self._ending.is_set():
                    break
                if isinstance(message, Batch):
                    self._note(prices_of_batch(message))
        await bus.close()

    def _note(self, prices: Iterable[tuple[str, float]]) -> None:
        with self._lock:
            for symbol, price in prices:
                self._seen[symbol].add(price)

    def _follow(self) -> None:
        while not self._ending.is_set():
            try:
                self._follow_once()
            except (OSError, WebSocketException):
                self._ending.wait(0.05)

    def _follow_once(self) -> None:
        cursors = ",".join(f"{name}:{copy.since}" for name, copy in self._copies.items())
        names = "&".join(f"{name}=all" for name in FEEDS)
        url = f"{self._url}?{names}&interval=100&since={cursors}"
        with websockets.sync.client.connect(url, max_size=None) as connection:
            while not self._ending.is_set():
                try:
                    frame = json.loads(connection.recv(timeout=0.5))
                except TimeoutError:
                    continue
                if "feed" in frame:
                    self._take(self._copies[frame["feed"]], frame)

    def _take(self, copy: MergingClient, frame: dict[str, Any]) -> None:
        with self._lock:
            copy.merge(frame)
            copy.frames.clear()


def valkey_url(up: Up) -> str:
    """Returns the address of the Valkey that `up` has started, from the line that says where it listens."""
    found = re.search(r"Valkey \S+ on (\S+\.sock):", "".join(up.output))
    assert found, up.output
    return f"unix://{quote(found[1])}"


def prices_of_batch(batch: Batch) -> Iterator[tuple[str, float]]:
    """Yields the prices of the quotes, and the closes of the bars: a minute may end amid a batch."""
    for change in batch.changes:
        yield change.key, decode_quote(change.quote).price
        if change.bars:
            yield from closes_of(change.key, decode_progress(change.bars))
    for closing in batch.closings:
        for bars in closing.bars.values():
            yield from ((symbol, bar.close) for symbol, bar in bars.items())


def prices_of_state(snapshot: Snapshot) -> Iterator[tuple[str, float]]:
    """Yields the prices of the quotes and the closes of the bars of a feed's state."""
    for key, entry in snapshot.entries.items():
        if entry.quote is not None:
            yield key, entry.quote.price
        if entry.bars is not None:
            yield from closes_of(key, entry.bars)
    for numbered in snapshot.closings:
        for bars in numbered.closing.bars.values():
            yield from ((symbol, bar.close) for symbol, bar in bars.items())


def closes_of(symbol: str, progress: Progress) -> Iterator[tuple[str, float]]:
    yield from ((symbol, bar.close) for bar in (progress.minute, progress.ended) if bar is not None)
