"""Every quote of some stocks, as one client of the feed sees them."""

import contextlib
import threading
from typing import Any, Self

import websockets.sync.client
from websockets.exceptions import WebSocketException

from support.clients.merging_client import MergingClient
from support.runs.waits import wait_until

Quote = dict[str, Any]


class QuoteLog:
    """A client of all stocks inside `with`, which connects until the feed has data.

    `quotes` are the whole quotes of each followed stock in the order of their arrival.
    """

    def __init__(self, port: int, symbols: tuple[str, ...]) -> None:
        self.quotes: dict[str, list[Quote]] = {symbol: [] for symbol in symbols}
        #: All symbols of the first snapshot, and those that the feed removed.
        self.first: set[str] = set()
        self.removed: set[str] = set()
        #: The newest timestamp of any stock.
        self.newest = ""
        self._url = f"ws://127.0.0.1:{port}/api/ws/market?symbols=all&interval=100"
        self._state = MergingClient()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()

    def wait_until(self, timestamp: str, seconds: float) -> None:
        """Waits until the market has reached a time."""
        wait_until(
            lambda: self.newest >= timestamp,
            lambda: f"the market is at {self.newest}, not at {timestamp}",
            seconds=seconds,
        )

    def _run(self) -> None:
        while not self._ending.wait(0.1):
            with (
                contextlib.suppress(WebSocketException, OSError, EOFError),
                websockets.sync.client.connect(self._url, max_size=None) as connection,
            ):
                while not self._ending.is_set():
                    with contextlib.suppress(TimeoutError):
                        self._take(connection.recv(timeout=1.0))

    def _take(self, message: str | bytes) -> None:
        frame = self._state.take(message)
        if frame["type"] not in {"snapshot", "update"}:
            return
        self.first = self.first or {item["ticker"] for item in frame["data"]}
        self.removed.update(frame.get("removed", []))
        for item in frame["data"]:
            symbol = item["ticker"]
            self.newest = max(self.newest, item["timestamp"])
            if symbol in self.quotes:
                self.quotes[symbol].append(dict(self._state.quotes[symbol]))
        self._state.frames.clear()
