"""A worker's bars of one feed: those in progress, and the newest final ones.

Final bars are in columns, which take a fifth of the memory of structs: a worker holds those of an hour.
An hour of one-minute bars of 12,000 symbols is 270 MB as structs and 45 MB here.
"""

from array import array
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import chain
from math import isnan, nan
from typing import Final, NamedTuple

from msgspec.structs import replace

from quotecast.bus.base import RECENT_CLOSINGS, FeedInfo, Snapshot
from quotecast.feed.bar_styles import BarStyle
from quotecast.market.bar_making import slot_of
from quotecast.market.calendars import Calendar
from quotecast.market.feeds import Feed, calendar_of
from quotecast.market.own_bars import (
    MINUTE,
    Closing,
    LiveInterval,
    OwnBar,
    Parts,
    Progress,
    close_parts,
    extend,
)

_WIDTH: Final = len(OwnBar.__struct_fields__)


class PackedBars(Mapping[str, OwnBar]):
    """Bars by symbol; equal to a mapping of the same bars. `like` has the bars of the closing before."""

    __slots__ = ("_values", "places")

    def __init__(self, bars: Mapping[str, OwnBar], like: "PackedBars | None" = None) -> None:
        #: The place of each symbol's bar; mappings of the same symbols share it.
        self.places: Mapping[str, int] = like.places if like is not None else {}
        if [*self.places] != [*bars]:
            self.places = {key: place for place, key in enumerate(bars)}
        # Times and counts are exact as numbers of 64 bits.
        self._values = array("d", chain.from_iterable(map(_numbers, bars.values())))

    def __getitem__(self, key: str) -> OwnBar:
        first = self.places[key] * _WIDTH
        opened, opening, high, low, close, volume, updates = self._values[first : first + _WIDTH]
        known = None if isnan(volume) else volume
        return OwnBar(int(opened), opening, high, low, close, known, int(updates))

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def packed(closing: Closing, like: Closing | None = None) -> Closing:
    """Returns an equal closing with packed bars; `like` is the one before it."""
    bars: dict[LiveInterval, PackedBars] = {}
    for interval, final in closing.bars.items():
        earlier = like.bars.get(interval) if like is not None else None
        bars[interval] = PackedBars(final, earlier if isinstance(earlier, PackedBars) else None)
    return replace(closing, bars=bars)


def _numbers(bar: OwnBar) -> tuple[float, ...]:
    volume = nan if bar.volume is None else bar.volume
    return bar.opened, bar.open, bar.high, bar.low, bar.close, volume, bar.updates


#: Closings that a worker remembers: those of an hour in which something changes every minute.
REMEMBERED_CLOSINGS: Final = 60


class KnownClosing(NamedTuple):
    """A closing, the mirror's revision of it, and its seq; 0 for one of an earlier epoch."""

    revision: int
    seq: int
    closing: Closing


class BarBook:
    """The bars of one feed at the mirror's mark."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._market: str | None = None
        self._calendar: Calendar = feed.spec.calendar
        self._parts: dict[str, Parts] = {}
        #: The newest closings, the oldest first.
        self.closings: deque[KnownClosing] = deque(maxlen=REMEMBERED_CLOSINGS)
        #: Unix time: the bars that end by it are final; the closings have those that end after `known_from`.
        self.through = 0
        self.known_from = 0
        #: The mirror's revision up to which a closing may be missing here.
        self.lost_at = 0
        #: The seq of the present epoch up to which a closing may be missing here.
        self.lost_seq = 0
        self._epoch = ""
        #: Encoded final bars by style and closing, then by symbol.
        self.encoded: dict[tuple[BarStyle, int], dict[str, bytes]] = {}

    @property
    def market(self) -> str | None:
        """The market of the bars; None before the first load."""
        return self._market

    def use(self, info: FeedInfo | None) -> None:
        """Takes the hours of the feed's venue."""
        if info is None:
            return
        self._calendar = calendar_of(self._feed, always_open=info.always_open, unscheduled=info.unscheduled)

    def load(self, snapshot: Snapshot, revision: int) -> int:
        """Replaces the parts, and takes the closings that are new here; returns the number of revisions."""
        changes_market = self._market not in {None, snapshot.info.market}
        if changes_market:
            # Forgets the bars of another market, whose time may have been ahead.
            self.closings.clear()
            self.encoded.clear()
            self.through = self.known_from = 0
            self.lost_at = revision + 1
        self._market = snapshot.info.market
        self._parts = {key: dict(own) for key, own in snapshot.parts.items()}
        if snapshot.epoch != self._epoch:
            # The closings of an earlier epoch have the number 0.
            self._epoch = snapshot.epoch
            self.lost_seq = 0
            for place, known in enumerate(self.closings):
                self.closings[place] = known._replace(seq=0)
        new = [each for each in snapshot.closings if each.closing.through > self.through]
        if len(new) == len(snapshot.closings) == RECENT_CLOSINGS:  # there may have been others before them
            self.closings.clear()
            self.lost_at = revision + 1
            self.lost_seq = new[0].seq if new[0].epoch == snapshot.epoch else 0
        for number, each in enumerate(new, 1):
            seq = each.seq if each.epoch == snapshot.epoch else 0
            self._remember(KnownClosing(revision + number, seq, each.closing))
        return max(len(new), int(changes_market))

    def close(self, known: KnownClosing) -> None:
        """Takes a closing of a batch; ignores one that is known."""
        if known.closing.through <= self.through:
            return
        close_parts(self._parts, known.closing)
        self._remember(known)

    def in_progress(self, key: str, progress: Progress | None, interval: LiveInterval) -> OwnBar | None:
        """Returns a symbol's bar that is not final; None if there is none."""
        if progress is None:
            return None
        pieces = [
            bar
            for bar in (progress.ended, progress.minute)
            if bar is not None and bar.opened + MINUTE > self.through
        ]
        if interval == "1m":
            return pieces[-1] if pieces else None
        part = self._parts.get(key, {}).get(interval)
        bar = part.bar if part is not None else None
        for piece in pieces:
            slot = slot_of(self._calendar, piece.opened)
            if slot is not None:
                opened = slot[interval][0]
                bar = extend(bar if bar is not None and bar.opened == opened else None, piece, opened)
        return bar

    def after(self, revision: int) -> list[KnownClosing]:
        """Returns the closings after a revision of the mirror, the oldest first."""
        newer = []
        for known in reversed(self.closings):
            if known.revision <= revision:
                break
            newer.append(known)
        return newer[::-1]

    def past(self, moment: int | None, seq: int | None) -> list[KnownClosing] | None:
        """Returns the closings after a client's position; None if any may be missing here.

        The position is a Unix time, a seq of the present epoch, or both.
        """
        if moment is not None and moment > self.through:
            return None
        if moment is not None and moment >= self.known_from:
            return [known for known in self.closings if known.closing.through > moment]
        if seq is None or seq < self.lost_seq:
            return None
        return [known for known in self.closings if known.seq > seq and known.closing.through > (moment or 0)]

    def final(self, key: str, interval: LiveInterval, after: int) -> Iterator[OwnBar]:
        """Yields a symbol's final bars that ended after a Unix time of at least `known_from`."""
        for known in self.closings:
            if known.closing.through > after:
                bar = known.closing.bars.get(interval, {}).get(key)
                if bar is not None:
                    yield bar

    def _remember(self, known: KnownClosing) -> None:
        """Takes a closing whose bars the parts include already."""
        full = len(self.closings) == REMEMBERED_CLOSINGS
        if full:
            self.lost_at = max(self.lost_at, self.closings[0].revision)
            self.lost_seq = max(self.lost_seq, self.closings[0].seq)
        if full or not self.closings:
            self.known_from = self.closings[0].closing.through if full else known.closing.through - MINUTE
        before = self.closings[-1].closing if self.closings else None
        self.closings.append(known._replace(closing=packed(known.closing, before)))
        self.through = known.closing.through
