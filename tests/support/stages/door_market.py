"""The prices that a client of any door must show, and the death of the workers behind it."""

import json
import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest
import websockets.sync.client
from websockets.exceptions import WebSocketException

from support.clients.merging_client import MergingClient
from support.servers.running_up import Up

FEEDS = {"market": "ticker", "crypto": "ticker", "doviz": "symbol"}
#: The symbols that clients of doors follow over the death of workers.
FOLLOWED = {"market": "AAPL,MSFT", "crypto": "BTC/USDT", "doviz": "gram-altin"}
#: Connections that follow these. One alone misses the prices between its death and its return, which a
#: client on the other worker shows; and each worker sends the last price of its own tick only.
WITNESSES = 5
PATIENCE_SECONDS = 60.0
#: Between two looks at a door: twelve seconds of them stay below the limits of requests.
POLL_SECONDS = 0.1

#: Copies by the name of their feed.
Copies = Mapping[str, MergingClient]


def kill_workers(up: Up) -> None:
    """Kills each worker once, the second one after the first has started again."""
    for part in ("api 1", "api 2"):
        os.kill(up.pids[part], signal.SIGKILL)
        up.wait_for_restart(part)


class Market:
    """The prices of the feeds, followed on WebSockets that resume by cursors, most likely on both workers."""

    def __init__(self, up: Up) -> None:
        self._url = f"ws://127.0.0.1:{up.port}/api/ws"
        self._copies = _new_copies()
        self._seen: dict[str, set[float]] = defaultdict(set)
        self._lock = threading.Lock()
        self._ending = threading.Event()
        asked = [(self._copies, dict.fromkeys(FEEDS, "all"))]
        asked += [(_new_copies(), FOLLOWED) for _ in range(WITNESSES)]
        self._threads = [threading.Thread(target=self._follow, args=each, daemon=True) for each in asked]
        for each in self._threads:
            each.start()

    def end(self) -> None:
        self._ending.set()
        for each in self._threads:
            each.join()

    def wait_until_full(self) -> None:
        self._wait(lambda: all(copy.quotes for copy in self._copies.values()), "a feed has no quotes")

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

        self._wait(have_moved, f"{symbols} did not move")

    def wait_until_shown(self, shown: Callable[[], Mapping[str, float]], symbols: Sequence[str]) -> None:
        """Waits until a door shows the newest price of each symbol."""
        self._wait(
            lambda: {symbol: shown().get(symbol) for symbol in symbols} == self.newest(symbols),
            f"the door did not show the newest prices of {symbols}",
        )

    def require_known(self, shown: Iterable[tuple[str, float]]) -> None:
        """Fails for a price that the feeds did not have: it was wrong."""
        prices = set(shown)

        def unknown() -> set[tuple[str, float]]:
            with self._lock:
                return {(symbol, price) for symbol, price in prices if price not in self._seen[symbol]}

        self._wait(lambda: not unknown(), f"wrong prices: {unknown()}")

    def _wait(self, is_so: Callable[[], bool], problem: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            time.sleep(POLL_SECONDS)
            if time.monotonic() > deadline:
                pytest.fail(problem)

    def _follow(self, copies: Copies, symbols: Mapping[str, str]) -> None:
        while not self._ending.is_set():
            try:
                self._follow_once(copies, symbols)
            except (OSError, WebSocketException):
                self._ending.wait(0.05)

    def _follow_once(self, copies: Copies, symbols: Mapping[str, str]) -> None:
        cursors = ",".join(f"{name}:{copy.since}" for name, copy in copies.items())
        names = "&".join(f"{name}={listed}" for name, listed in symbols.items())
        url = f"{self._url}?{names}&interval=100&since={cursors}"
        with websockets.sync.client.connect(url, max_size=None) as connection:
            while not self._ending.is_set():
                try:
                    frame = json.loads(connection.recv(timeout=0.5))
                except TimeoutError:
                    continue
                if "feed" in frame:
                    self._take(copies[frame["feed"]], frame)

    def _take(self, copy: MergingClient, frame: dict[str, Any]) -> None:
        with self._lock:
            copy.merge(frame)
            copy.frames.clear()
            if frame["type"] in {"snapshot", "update"}:
                for item in copy.items(frame):
                    if "price" in item:
                        self._seen[item[FEEDS[frame["feed"]]]].add(item["price"])


def _new_copies() -> Copies:
    return {name: MergingClient(key) for name, key in FEEDS.items()}
