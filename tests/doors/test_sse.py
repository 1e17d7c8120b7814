"""Event streams, over the death of both workers: the client resumes by the last id, as EventSource does."""

import threading
import time

import pytest

from support.clients.event_stream import EventStream
from support.clients.merging_client import MergingClient
from support.servers.running_up import Up
from support.stages.door_market import Market, kill_workers

SYMBOLS = {"market": "AAPL", "crypto": "BTC/USDT", "doviz": "gram-altin"}

pytestmark = pytest.mark.slow


class Follower:
    """A copy of one feed by its event stream, which reconnects after `retry` with the last id."""

    def __init__(self, port: int, feed: str, symbol: str) -> None:
        self.copy = MergingClient("symbol" if feed == "doviz" else "ticker")
        self.prices: list[tuple[str, float]] = []
        self.connections = 0
        self._port = port
        self._path = f"/api/sse/{feed}?symbols={symbol}&interval=100"
        self._symbol = symbol
        self._last_id = ""
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def price(self) -> float | None:
        quote = self.copy.quotes.get(self._symbol)
        return quote["price"] if quote else None

    def end(self) -> None:
        self._ending.set()
        self._thread.join()

    def _follow(self) -> None:
        delay = 0.1
        while not self._ending.is_set():
            try:
                headers = {"Last-Event-ID": self._last_id} if self._last_id else {}
                with EventStream(self._port, self._path, headers) as stream:
                    stream.last_id = self._last_id
                    self._read(stream)
                    delay = (stream.retry_ms or 100) / 1000
            except OSError:
                pass
            time.sleep(delay)

    def _read(self, stream: EventStream) -> None:
        self.connections += stream.status == 200
        for frame in stream.frames() if stream.status == 200 else ():
            self.copy.merge(frame)
            self._last_id = stream.last_id
            price = self.price()
            if price is not None:
                self.prices.append((self._symbol, price))
            if self._ending.is_set():
                return


def test_streams_go_on_after_their_workers_died(up: Up, market: Market) -> None:
    followers = {symbol: Follower(up.port, feed, symbol) for feed, symbol in SYMBOLS.items()}
    symbols = [*followers]

    def shown() -> dict[str, float]:
        return {symbol: price for symbol, each in followers.items() if (price := each.price()) is not None}

    market.wait_until_shown(shown, symbols)
    kill_workers(up)
    market.wait_for_moves(symbols)
    market.wait_until_shown(shown, symbols)
    for each in followers.values():
        each.end()
    assert max(each.connections for each in followers.values()) > 1
    market.require_known([price for each in followers.values() for price in each.prices])
