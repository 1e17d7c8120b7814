"""A listener on the bus that remembers every closing, as an oracle for the bars in PostgreSQL.

The feeds are simulated.
"""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import TracebackType
from typing import Final, Self

import uvloop

from quotecast.bus.redis import RedisBus
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.mirror import Mirror
from quotecast.history.partitions import TABLES
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import (
    COARSE,
    LIVE_INTERVALS,
    MINUTE,
    Closing,
    LiveInterval,
    OwnBar,
    extend,
    series_name,
)
from support.made.closings import rows_of, stored_rows
from support.oracles.transactions import query_server
from support.runs.deadlines import scaled

#: Seconds between two looks at the mirrors, which remember an hour.
LOOK_SECONDS: Final = 0.2


class BarListener:
    """Follows the bus as a worker does, in a thread of its own."""

    def __init__(self, redis_url: str, prefix: str = "quotecast") -> None:
        self.closings: dict[Feed, dict[int, Closing]] = {feed: {} for feed in Feed}
        #: Closings of a minute that differ from the first one of it.
        self.changed: list[tuple[Feed, int]] = []
        self._url = redis_url
        self._prefix = prefix
        self._loop = uvloop.new_event_loop()
        self._over = asyncio.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(scaled(10))

    def newest(self, feed: Feed) -> int:
        """Returns the end of the newest minute that closed."""
        return max(self.closings[feed], default=0)

    @property
    def count(self) -> int:
        """Returns the number of final bars."""
        closings = [closing for each in self._copy().values() for closing in each.values()]
        return sum(len(bars) for closing in closings for bars in closing.bars.values())

    def _copy(self) -> dict[Feed, dict[int, Closing]]:
        """Returns the closings until now: the thread adds others."""
        return {feed: each.copy() for feed, each in self.closings.items()}

    def differences(self, url: str) -> list[str]:
        """Returns how PostgreSQL differs from the closings, and the minutes that have no closing."""
        return asyncio.run(self._differences(url))

    async def _differences(self, url: str) -> list[str]:
        found = [f"{feed}: the closing of {through} changed" for feed, through in self.changed]
        known = self._copy()
        for feed, closings in known.items():
            ends = sorted(closings)
            gaps = set(range(ends[0], ends[-1], MINUTE)) - set(ends)
            found += [f"{feed}: no closing of {each}" for each in sorted(gaps)]
        found += _wrong_folds(known)
        for interval in LIVE_INTERVALS:
            expected = {
                row[:3]: row
                for feed, closings in known.items()
                for row in rows_of(closings.values(), interval, series_name(feed, "simulator"))
            }
            # A list, because a bar may be there twice.
            stored = await stored_rows(url, interval)
            found += [f"{TABLES[interval]} has twice: {row}" for row in _repeated(stored)]
            found += [
                f"{TABLES[interval]} has {row}, not {expected.get(row[:3])}"
                for row in stored
                if expected.pop(row[:3], None) != row
            ]
            found += [f"{TABLES[interval]} lacks {row}" for row in expected.values()]
        return found

    def is_stored(self, url: str) -> bool:
        """Returns whether PostgreSQL has all closings that were seen until now."""
        query = "SELECT feed, extract(epoch FROM through)::bigint AS through FROM bars_written"
        written = {row["feed"]: row["through"] for row in asyncio.run(query_server(url, query))}
        return all(written.get(series_name(feed, "simulator"), 0) >= self.newest(feed) for feed in Feed)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._follow())

    async def _follow(self) -> None:
        bus = RedisBus(self._url, self._prefix)
        mirrors = {feed: Mirror(feed) for feed in Feed}
        relay = asyncio.create_task(BusListener(bus, mirrors).run())
        while not self._over.is_set():
            for feed, mirror in mirrors.items():
                for known in mirror.bars.closings:
                    self._note(feed, known.closing)
            await asyncio.sleep(LOOK_SECONDS)
        relay.cancel()
        await asyncio.gather(relay, return_exceptions=True)
        await bus.close()

    def _note(self, feed: Feed, closing: Closing) -> None:
        if self.closings[feed].setdefault(closing.through, closing) != closing:
            self.changed.append((feed, closing.through))


def _wrong_folds(known: Mapping[Feed, Mapping[int, Closing]]) -> Iterator[str]:
    """Yields the coarser bars that are not the fold of their one-minute bars."""
    for feed, closings in known.items():
        folds: dict[tuple[LiveInterval, str, int], OwnBar] = {}
        for _, closing in sorted(closings.items()):
            for interval, (opened, _) in closing.slot.items():
                for symbol, bar in closing.bars["1m"].items():
                    key = interval, symbol, opened
                    folds[key] = extend(folds.get(key), bar, opened)
            for interval in COARSE:
                for symbol, bar in closing.bars.get(interval, {}).items():
                    if folds.get((interval, symbol, bar.opened)) != bar:
                        yield f"{feed}: {interval} of {symbol} is no fold of its minutes: {bar}"


def _repeated(
    rows: list[tuple[str, str, int, float, float, float, float, float | None, int]],
) -> list[object]:
    return [row for row, following in pairwise(rows) if row[:3] == following[:3]]
