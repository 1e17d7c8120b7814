"""A recorded feed as an upstream: what ingest published once, published again."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing, closing
from pathlib import Path
from typing import Final

from quotecast.bus.base import Batch, Snapshot
from quotecast.bus.wire import decode_quote
from quotecast.errors import InvalidValue, UpstreamError
from quotecast.history.folder import Folder
from quotecast.history.playback import Playback, Played
from quotecast.history.segments import HistoryError, begin_of
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from quotecast.market.sessions import Unscheduled
from quotecast.providers.base import Update

#: Seconds between two looks for messages that are due, and messages of one look.
STEP_SECONDS: Final = 0.02
STEP_MESSAGES: Final = 500
#: Seconds between empty updates, the signs of life.
BEAT_SECONDS: Final = 1.0


class RecordedProvider:
    """Plays the segments of one feed from `at` on, Unix time; None is the first record.

    Quotes, removals and an exchange's unscheduled closing are as recorded. At the end a replay starts over,
    or only gives signs of life.
    """

    name = "history"
    simulated = True
    delay_seconds = 0.0
    silence_seconds = 5 * BEAT_SECONDS

    def __init__(
        self,
        folder: Path,
        feed: Feed,
        *,
        at: float | None,
        speed: float,
        loop: bool,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.feed = feed
        self._store = Folder(folder)
        self._at = at
        self._speed = speed
        self._loop = loop
        self._clock = clock
        self._sleep = sleep
        self.always_open = self._was_always_open()

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Yields updates to the end of the recording. Raises UpstreamError if it cannot be read."""
        while True:
            try:
                playback, begin = await asyncio.to_thread(self._open)
            except (InvalidValue, HistoryError) as error:
                raise _unplayable(self.feed, error) from error
            with closing(playback):
                async with aclosing(self._play(playback, begin)) as played:
                    async for update in played:
                        yield update

    async def _play(self, playback: Playback, begin: float) -> AsyncGenerator[Update, None]:
        """Yields updates to the end of the recording, if it starts over then. Raises UpstreamError."""
        state = RecordedState()
        started, heard_at = self._clock(), float("-inf")
        while True:
            moment = begin + (self._clock() - started) * self._speed
            try:
                messages, following = await asyncio.to_thread(_read, playback, moment)
            except HistoryError as error:
                raise _unplayable(self.feed, error) from error
            if len(messages) == STEP_MESSAGES:
                begin, started = messages[-1][0], self._clock()
            update = state.apply(message for _, message in messages)
            if update.quotes or update.removed or self._clock() - heard_at >= BEAT_SECONDS:
                heard_at = self._clock()
                yield update
            if following is None and self._loop:
                return
            await self._sleep(STEP_SECONDS)

    def _was_always_open(self) -> bool:
        """Returns whether the recorded venue never closed; true if nothing can be read."""
        try:
            playback, begin = self._open()
            with closing(playback):
                ((_, first),) = playback.read(begin, 1)
        except (InvalidValue, HistoryError):
            return True
        return isinstance(first, Snapshot) and first.info.always_open

    def _open(self) -> tuple[Playback, float]:
        names = self._store.names(self.feed)
        if self._at is None and not names:
            raise HistoryError("nothing is recorded")
        at = begin_of(names[0]) + 0.001 if self._at is None else self._at
        return Playback(self._store, self.feed, at), at


class RecordedState:
    """Makes updates of recorded messages; after a gap it waits for a keyframe."""

    def __init__(self) -> None:
        self._place = "", 0
        self._unscheduled: Unscheduled | None = None

    def apply(self, messages: Iterable[Played]) -> Update:
        """Returns one update with the newest state of each symbol."""
        newest: dict[str, Quote | None] = {}
        complete = False
        for message in messages:
            if isinstance(message, Batch):
                if self._place == (message.epoch, message.seq - 1):
                    changed = (decode_quote(change.quote) for change in message.changes)
                    newest.update((quote.key, quote) for quote in changed)
                    newest.update(dict.fromkeys(message.removed))
                    self._place = message.epoch, message.seq
                continue
            self._unscheduled = message.info.unscheduled
            if isinstance(message, Snapshot) and self._place != (message.epoch, message.seq):
                newest = {key: entry.quote for key, entry in message.entries.items()}
                complete = True
                self._place = message.epoch, message.seq
        quotes = [quote for quote in newest.values() if quote is not None]
        removed = [key for key, quote in newest.items() if quote is None]
        return Update(quotes, removed, complete=complete, unscheduled=self._unscheduled)


def _unplayable(feed: Feed, error: Exception) -> UpstreamError:
    return UpstreamError(f"the history of {feed} cannot be played: {error}")


def _read(playback: Playback, moment: float) -> tuple[list[tuple[float, Played]], float | None]:
    return playback.read(moment, STEP_MESSAGES), playback.next_time()
