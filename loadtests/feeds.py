"""A WebSocket feed over minutes: merging, watchdog, and resuming after a close."""

import json
import random
import struct
import time
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import gevent
import websocket
from answers import ask
from held import KEYS, BrokenPromise, FeedState
from locust import HttpUser, constant, task

FEED_SECONDS = 180.0
LONGEST_BACKOFF_SECONDS = 30.0
#: Seconds within which a server has to send `welcome`.
OPENING_SECONDS = 30.0
#: Heartbeats of silence after which the connection counts as dead.
SILENT_HEARTBEATS = 2.5
EVERYTHING_SHARE = 0.3
AMONG_FEEDS_SHARE = 0.5
BARS_SHARE = 0.3
BAR_INTERVALS = ("1m", "1m", "5m", "1h", "D")
OWN_SYMBOLS = 20
QUOTES = {
    "market": "/api/market/quotes?symbols=all",
    "crypto": "/api/crypto/quotes",
    "doviz": "/api/doviz/quotes",
}


class Closed(Exception):
    """The server closed the feed; `final` says that reconnecting will not help."""

    def __init__(self, code: int) -> None:
        super().__init__(f"closed {code}")
        self.final = 4400 <= code < 4450


class FeedReader(HttpUser):
    """A client of one feed at a time: of everything, or of twenty symbols of its own.

    It has the feed's own socket and reads objects, or that of all feeds and reads rows.

    A frame's response time is the age of its newest quote, or of the heartbeat; a snapshot's is the time
    since
    the connection began. Every quote of an update is an event as well, with its own age.
    """

    weight = 3
    wait_time = constant(1)
    failures = 0
    #: The beginning of the feeds' paths, as events name them.
    door = "/api/ws"

    @task
    def listen(self) -> None:
        """Follows one feed, over as many connections as it takes."""
        state = self.choose_feed(random.choice(list(KEYS)))
        ends = time.monotonic() + FEED_SECONDS
        while time.monotonic() < ends:
            try:
                gevent.sleep(self.run_connection(state, ends))
            except (websocket.WebSocketException, OSError, BrokenPromise, Closed) as error:
                self.fire_event(state.feed, "connection", 0, error=error)
                if isinstance(error, Closed) and error.final:
                    return
                if isinstance(error, BrokenPromise):
                    state.clear()
                self.failures += 1
                gevent.sleep(backoff(self.failures))

    def choose_feed(self, feed: str) -> FeedState:
        """Returns a random feed's empty state, with its symbols."""
        among_feeds = random.random() < AMONG_FEEDS_SHARE
        bars = random.choice(BAR_INTERVALS) if random.random() < BARS_SHARE else None
        if random.random() < EVERYTHING_SHARE:
            return FeedState(feed, among_feeds=among_feeds, bars=bars)
        response = ask(self.client, "GET", QUOTES[feed], name=QUOTES[feed])
        symbols = sorted(response.json()) if response.status_code == 200 else []
        own = random.sample(symbols, min(OWN_SYMBOLS, len(symbols)))
        return FeedState(feed, own or None, among_feeds=among_feeds, bars=bars)

    def run_connection(self, state: FeedState, ends: float) -> float:
        """Runs one connection; returns the seconds that the server asks to stay away after it."""
        began = time.monotonic()
        connection = websocket.create_connection(
            address(self.host, state),
            timeout=OPENING_SECONDS,
            subprotocols=["quotecast.v1.rows" if state.among_feeds else "quotecast.v1.json"],
        )
        try:
            while time.monotonic() < ends:
                data = receive(connection)
                frame = json.loads(data)
                if state.among_feeds and frame.get("feed", state.feed) != state.feed:
                    continue
                if frame["type"] == "welcome":
                    connection.settimeout(frame["heartbeatMs"] / 1000 * SILENT_HEARTBEATS)
                if frame["type"] == "shutdown":
                    return float(frame["retryAfterMs"]) / 1000
                self.take(state, frame, len(data), began)
        finally:
            connection.close(timeout=1)
        return 0.0

    def take(self, state: FeedState, frame: dict[str, Any], size: int, began: float) -> None:
        """Merges a frame of a connection that began then, and fires its events."""
        match frame["type"]:
            case "welcome":
                self.fire_event(state.feed, "welcome", (time.monotonic() - began) * 1000, size)
            case "snapshot":
                state.merge(frame)
                self.failures = 0
                name = f"snapshot ({frame['reason']})"
                self.fire_event(state.feed, name, (time.monotonic() - began) * 1000, size)
            case "update":
                state.merge(frame)
                self.fire_update(state, frame, size)
            case "bars":
                state.merge_bars(frame)
                self.fire_bars(state, frame, size)
            case "heartbeat":
                state.merge(frame)
                self.fire_event(state.feed, "heartbeat", age(frame["timestamp"]), size)
            case "error":
                raise BrokenPromise(frame["detail"])

    def fire_update(self, state: FeedState, frame: dict[str, Any], size: int) -> None:
        """Fires an event for the frame, and one for each quote."""
        ages = [age(item["timestamp"]) for item in state.items(frame) if item["timestamp"]]
        self.fire_event(state.feed, "update", min(ages, default=0.0), size)
        for milliseconds in ages:
            self.fire_event(state.feed, "quote", milliseconds, kind="QUOTE")

    def fire_bars(self, state: FeedState, frame: dict[str, Any], size: int) -> None:
        """Fires an event for the frame; its age is that of the interval's end, if it has final bars."""
        if "closed" in frame and "reason" not in frame:
            self.fire_event(state.feed, "bars (final)", age(frame["closed"]["time"]), size)
        else:
            self.fire_event(state.feed, "bars", 0, size)

    def fire_event(
        self,
        feed: str,
        what: str,
        milliseconds: float,
        size: int = 0,
        *,
        kind: str = "FEED",
        error: Exception | None = None,
    ) -> None:
        """Fires one event of locust's table."""
        self.environment.events.request.fire(
            request_type=kind,
            name=f"{self.door}/{feed} {what}",
            response_time=milliseconds,
            response_length=size,
            exception=error,
            context={},
        )


def address(host: str, state: FeedState) -> str:
    """Returns the URL of a feed with the symbols, and the cursor if there is one."""
    query = {
        state.feed if state.among_feeds else "symbols": "all"
        if state.wanted is None
        else ",".join(state.wanted),
        "interval": random.choice([250, 500, 1000]),
    }
    if state.since:
        query["since"] = f"{state.feed}:{state.since}" if state.among_feeds else state.since
    if state.bars:
        query["bars"] = state.bars
    if state.bars_since:
        query["bars_since"] = f"{state.feed}:{state.bars_since}" if state.among_feeds else state.bars_since
    path = "/api/ws" if state.among_feeds else f"/api/ws/{state.feed}"
    return f"{host.replace('http', 'ws', 1)}{path}?{urlencode(query)}"


def receive(connection: websocket.WebSocket) -> bytes:
    """Returns the next message. Raises Closed at the end of the connection, and a time-out after silence."""
    opcode, data = connection.recv_data()
    if opcode == websocket.ABNF.OPCODE_CLOSE:
        # A close frame without a code counts as 1005 (RFC 6455, 7.1.5).
        raise Closed(struct.unpack("!H", data[:2])[0] if len(data) >= 2 else 1005)
    return bytes(data)


def backoff(failures: int) -> float:
    """Returns seconds, doubled by each failure in a row; jitter spreads the clients' reconnections."""
    return random.uniform(0.5, 1) * min(LONGEST_BACKOFF_SECONDS, 0.5 * 2 ** min(failures, 10))


def age(timestamp: str) -> float:
    """Returns the milliseconds since then, by this machine's clock."""
    return max(0.0, (time.time() - datetime.fromisoformat(timestamp).timestamp()) * 1000)
