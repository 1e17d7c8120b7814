"""An event stream over minutes: merging, watchdog, and resuming by the last id."""

import json
import random
import time
from collections.abc import Iterator
from typing import Any

import requests
from feeds import SILENT_HEARTBEATS, Closed, FeedReader
from held import BrokenPromise, FeedState

#: Seconds of silence after which a stream counts as dead: heartbeats come every 15 s by default.
SILENCE_SECONDS = 15.0 * SILENT_HEARTBEATS


class EventReader(FeedReader):
    """A client of one feed at a time by its event stream, compressed, as `EventSource` reads it."""

    weight = 1
    door = "/api/sse"

    def choose_feed(self, feed: str) -> FeedState:
        """Returns a random feed's empty state, with its symbols; streams have objects only."""
        state = super().choose_feed(feed)
        return FeedState(feed, state.wanted, bars=state.bars)

    def run_connection(self, state: FeedState, ends: float) -> float:
        """Runs one connection; returns the seconds that the server asks to stay away after it."""
        began, retry = time.monotonic(), 0.0
        query = {
            "symbols": "all" if state.wanted is None else ",".join(state.wanted),
            "interval": str(random.choice([250, 500, 1000])),
            **({"bars": state.bars} if state.bars else {}),
        }
        headers = {"Accept-Encoding": "gzip", **({"Last-Event-ID": state.since} if state.since else {})}
        with requests.get(
            f"{self.host}{self.door}/{state.feed}",
            params=query,
            headers=headers,
            stream=True,
            timeout=SILENCE_SECONDS,
        ) as answer:
            if answer.status_code != 200:
                raise BrokenPromise(answer.text) if answer.status_code < 500 else Closed(4451)
            for frame, size in frames_of(answer.iter_lines(chunk_size=None)):
                retry = frame.get("retryAfterMs", retry)
                if time.monotonic() > ends or frame["type"] == "shutdown":
                    break
                self.take(state, frame, size, began)
        return float(retry) / 1000


def frames_of(lines: Iterator[bytes]) -> Iterator[tuple[dict[str, Any], int]]:
    """Yields the frames of a stream with their length; heartbeats are comments."""
    for line in lines:
        field, _, value = line.partition(b": ")
        if field in {b"", b"data"} and value:
            yield json.loads(value), len(value)
