"""Bars of generated days: those of the leader, two workers, the database and a replay agree bit for bit.

One worker hears every batch, the other one loses some. The database takes closings from the bus, some of them
twice. The replay reads the blocks that a recorder writes.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import Final

import pytest
from msgspec.structs import replace

from quotecast.bus import wire
from quotecast.bus.base import Batch, NumberedClosing, Snapshot
from quotecast.feed.mirror import Mirror
from quotecast.feed.past import apply_message
from quotecast.history.blocks import GroupDecoder, GroupEncoder, Kind, blocks_of
from quotecast.history.playback import _messages_of
from quotecast.ingest.ledger import Ledger
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import COARSE, LIVE_INTERVALS, Closing
from quotecast.providers.base import Update
from support.made.bar_days import Step, steps
from support.made.market import INFO
from support.oracles.bar_oracle import Bars, Oracle

FAST: Final = 100
DAYS: Final = 100_000


class Service:
    """A leader, a Redis, a database, a recording, and two workers, the second of which loses batches."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.epochs = 0
        self.ledger = Ledger(feed)
        self.stored: Snapshot | None = None
        self.stream: list[NumberedClosing] = []
        self.database: Bars = {}
        self.workers = [Mirror(feed), Mirror(feed)]
        self.received: list[Bars] = [{}, {}]
        self.marks = [0, 0]
        self.recording = Recording()
        self.begin()

    def take(self, step: Step) -> None:
        self.ledger.close_bars(step.now)
        if step.quote is not None:
            self.ledger.take(Update([step.quote]), step.now)
        if step.event == "takeover":
            self.publish()
            assert self.stored is not None
            self.ledger = Ledger(self.feed)
            self.ledger.inherit(self.stored, same_provider=True)
            self.begin()
        elif step.event == "redis_lost":
            self.stored, self.stream = None, []
            self.begin()
        else:
            self.publish(loses=step.event == "batch_lost")

    def begin(self) -> None:
        self.epochs += 1
        snapshot = self.ledger.begin(f"e{self.epochs}", INFO)
        self._keep([each.closing for each in snapshot.closings], snapshot.epoch, 1)
        self.recording.begin(self.ledger.snapshot(INFO))
        self.stored = replace(snapshot, entries=dict(snapshot.entries), closings=self.stream[-30:])
        for number in range(2):
            self.workers[number].load(self._loaded())
            self._receive(number)

    def publish(self, *, loses: bool = False) -> None:
        if not self.ledger.waiting:
            return
        assert self.stored is not None
        batch, entries, parts = self.ledger.next_batch(0.0)
        self._keep(batch.closings, batch.epoch, batch.seq)
        self.recording.add(batch)
        self.stored = replace(
            self.stored,
            seq=batch.seq,
            entries={**self.stored.entries, **entries},
            parts={**self.stored.parts, **parts},
            closings=self.stream[-30:],
        )
        heard = wire.decode_message(wire.encode(batch))
        assert isinstance(heard, Batch)
        for number, worker in enumerate(self.workers):
            if number == 0 or not loses:
                if not worker.apply(heard):
                    worker.load(self._loaded())
                self._receive(number)

    def _loaded(self) -> Snapshot:
        assert self.stored is not None
        entries = {key: wire.decode_stored(wire.encode(each)) for key, each in self.stored.entries.items()}
        return replace(self.stored, entries=entries)

    def _keep(self, closings: Sequence[Closing], epoch: str, seq: int) -> None:
        for closing in closings:
            if not self.stream or closing.through > self.stream[-1].closing.through:
                self.stream.append(NumberedClosing(epoch, seq, closing))
            _put(self.database, closing, once=False)

    def _receive(self, number: int) -> None:
        book = self.workers[number].bars
        for known in book.after(self.marks[number]):
            _put(self.received[number], known.closing, once=True)
        self.marks[number] = self.workers[number].mark.revision


class Recording:
    """The blocks of a feed's segments, in memory."""

    def __init__(self) -> None:
        self._file = BytesIO()
        self._group: GroupEncoder | None = None

    def begin(self, state: Snapshot) -> None:
        self._group = GroupEncoder()
        self._group.add(0.0, wire.encode(state), 0)
        self._file.write(self._group.take_block(Kind.KEYFRAME))

    def add(self, batch: Batch) -> None:
        assert self._group is not None
        self._group.add(0.0, wire.encode(batch), len(batch.changes))
        self._file.write(self._group.take_block(Kind.CHANGES))

    def replay(self, feed: Feed) -> tuple[Mirror, Bars]:
        """Returns the mirror at the end, and every bar that became final on the way."""
        mirror, bars, mark = Mirror(feed), Bars(), 0
        decoder = GroupDecoder()
        for block in blocks_of(self._file, 0):
            decoder = GroupDecoder() if block.begins_group else decoder
            for _, message in _messages_of(self._file, block, decoder) or []:
                apply_message(mirror, message)
                for known in mirror.bars.after(mark):
                    _put(bars, known.closing, once=True)
                mark = mirror.mark.revision
        return mirror, bars


def _put(bars: Bars, closing: Closing, *, once: bool) -> None:
    for interval, by_symbol in closing.bars.items():
        for key, bar in by_symbol.items():
            place = interval, key, bar.opened
            assert not (once and place in bars), f"{place} is final twice"
            bars.setdefault(place, bar)


def check_day(feed: Feed, seed: int) -> None:
    service, oracle = Service(feed), Oracle(feed)
    quotes: dict[str, object] = {}
    for step in steps(feed, seed):
        oracle.pass_time(step.now)
        if step.quote is not None and quotes.get(step.quote.key) != step.quote:
            quotes[step.quote.key] = step.quote
            oracle.update(step.quote, step.now)
        service.take(step)
    # A batch that comes late tells the second worker what it lost.
    service.begin()
    final, every = oracle.final(), oracle.bars()
    assert service.database == final
    replayed, in_replay = service.recording.replay(feed)
    received = [*service.received, in_replay]
    for number, worker in enumerate([*service.workers, replayed]):
        assert received[number] == final
        book = worker.bars
        for entry in worker.live():
            for interval in LIVE_INTERVALS:
                mine = [bar for place, bar in every.items() if place[:2] == (interval, entry.key)]
                newest = max(mine, key=lambda bar: bar.opened, default=None)
                place = newest and (interval, entry.key, newest.opened)
                expected = None if newest is None or place in final else newest
                assert book.in_progress(entry.key, entry.progress, interval) == expected
    assert all(own.keys() <= set(COARSE) for own in service.ledger.bars.parts.values())


@pytest.mark.parametrize("feed", Feed)
def test_bars_of_generated_days(feed: Feed) -> None:
    for seed in range(FAST):
        check_day(feed, seed)


@pytest.mark.slow
@pytest.mark.apart
@pytest.mark.parametrize(
    "part", [part if part < 2 else pytest.param(part, marks=pytest.mark.minutes) for part in range(10)]
)
def test_bars_of_a_hundred_thousand_generated_days(part: int) -> None:
    for seed in range(part, DAYS, 10):
        check_day([*Feed][seed % 3], seed)
