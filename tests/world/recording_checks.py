"""The checks of what a world recorded: all that was published, but for what a failing disk or a kill took."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from quotecast.bus.base import Batch, Beat, Snapshot
from quotecast.bus.wire import decode_message
from quotecast.feed.mirror import Mirror
from quotecast.feed.past import apply_message
from quotecast.history.blocks import Damaged, GroupDecoder, Kind, Record, blocks_of
from quotecast.history.folder import Folder
from quotecast.history.playback import NotRecorded, Playback
from quotecast.history.recorder import FLUSH_SECONDS, RETRY_SECONDS
from quotecast.market.feeds import Feed
from world.bar_truth import Break
from world.clock import WALL, wall_time
from world.faults import DISK_KINDS, Fault
from world.recordings import NotedRecorder, TurnRecorder
from world.truth import FeedTruth

#: Seconds for which a batch may have waited when its disk failed: those of a frozen ingest, and a turn.
_WAITED_SECONDS: Final = 9.0
#: Seconds from the end of a disk's fault in which its ingest records again: its next try, the first change
#: or sign of life after that, and the clock of a host.
_AGAIN_SECONDS: Final = RETRY_SECONDS + FLUSH_SECONDS + 2.0

_snapshots: Final = msgspec.msgpack.Decoder(Snapshot)


class Found(NamedTuple):
    """A keyframe or a batch in a segment, its position, and the time of its record.

    `until` is the time of the last beat after it, or of the record itself.
    """

    epoch: str
    seq: int
    is_batch: bool
    at: float
    is_after_loss: bool
    until: float


class Recordings:
    """What the ingests of a world recorded below a folder, and the promises about it."""

    def __init__(self, folder: str, truths: Mapping[Feed, FeedTruth], broken: Break) -> None:
        self._folder = Folder(Path(folder))
        self._truths = truths
        self._broken = broken
        self._recorders: list[TurnRecorder] = []
        #: The recorded positions of each feed, and the time of the first record of each.
        self.positions: dict[Feed, dict[tuple[str, int], float]] = {feed: {} for feed in truths}

    def make(self, folder: Path, **options: Any) -> TurnRecorder:
        """Returns the recorder of an ingest that starts."""
        recorder = TurnRecorder(folder, **options)
        self._recorders.append(recorder)
        return recorder

    def check(self, faults: Sequence[Fault]) -> None:
        """Checks every segment, and what is missing in them; nothing is published any more."""
        failures = [each for each in faults if each.kind in DISK_KINDS]
        broken_hosts = {each.target for each in failures if each.kind == "broken disk"}
        for feed, truth in self._truths.items():
            by_writer: dict[str, list[Found]] = {each.token: [] for each in self._recorders}
            hosts = {each.token: each.host for each in self._recorders}
            for name in self._folder.names(feed):
                token = name.rpartition("-")[2]
                may_be_torn = hosts[token] in broken_hosts
                by_writer[token] += self._read(feed, name, truth, may_be_torn=may_be_torn)
            for found in by_writer.values():
                for each in found:
                    self.positions[feed].setdefault((each.epoch, each.seq), each.at)
            for recorder in self._recorders:
                own = [each for each in failures if each.target == recorder.host]
                self._check_writer(recorder, feed, by_writer, own)

    def _check_writer(
        self,
        recorder: TurnRecorder,
        feed: Feed,
        by_writer: Mapping[str, list[Found]],
        failures: Sequence[Fault],
    ) -> None:
        """Checks what one recorder wrote of a feed against what it was given."""
        side, found = recorder.noted[feed], by_writer[recorder.token]
        recorded = {(each.epoch, each.seq) for each in found if each.is_batch}
        lost = [each for each in side.given if each.is_batch and (each.epoch, each.seq) not in recorded]
        held = recorder.held(feed)
        what = f"{recorder.host} was given {len(side.given)} changes of {feed}; {len(lost)} are not recorded"
        if recorded - {(each.epoch, each.seq) for each in side.given}:
            self._broken("a recording has what was published", what)
        if len(lost) != side.lost + held:
            self._broken("lost batches are counted", f"{what}, {side.lost} counted, {held} never written")
        if self._truths[feed].clocks_are_right:
            counted = lost[: len(lost) - held]
            late = [each for each in counted if not any(_explains(fault, each.at) for fault in failures)]
            # The first change after a quiet time is the one with which recording goes on.
            if len(late) > len(failures):
                self._broken("what is published is recorded", f"{what}: {late}, by {failures}")
        self._check_gaps(side, feed, found, by_writer)

    def _check_gaps(
        self, side: NotedRecorder, feed: Feed, found: Sequence[Found], by_writer: Mapping[str, list[Found]]
    ) -> None:
        """Checks that a keyframe ends each gap and says so, and that moments in it have no state."""
        places = {(each.epoch, each.seq): place for place, each in enumerate(side.given)}
        recorded = {(each.epoch, each.seq) for each in found if each.is_batch}
        for before, after in pairwise(found):
            first, last = (places[each.epoch, each.seq] for each in (before, after))
            between = side.given[first + 1 : last + 1]
            lost = [each for each in between if each.is_batch and (each.epoch, each.seq) not in recorded]
            if not lost:
                continue
            what = f"{len(lost)} batches of {feed} before {after}"
            if not after.is_after_loss:
                self._broken("a gap is marked", f"{what} are lost")
            elif self._truths[feed].clocks_are_right:
                self._check_moment(feed, before.until, after.at, by_writer.values())

    def _check_moment(self, feed: Feed, begin: float, end: float, found: Iterable[list[Found]]) -> None:
        """Checks that nothing is recorded of two moments in a gap."""
        if any(begin < each.at < end for some in found for each in some):
            return  # another ingest led meanwhile
        for part in (0.1, 0.5):
            moment = begin + part * (end - begin)
            try:
                playback = Playback(self._folder, feed, moment, clock=wall_time)
            except NotRecorded:
                continue
            playback.close()
            what = f"{feed} at {moment:.3f}, from {begin:.3f} to {end:.3f}"
            self._broken("no moment of a gap has a state", what)

    def _read(self, feed: Feed, name: str, truth: FeedTruth, *, may_be_torn: bool) -> list[Found]:
        """Returns what a segment has, and holds its states to what was published."""
        found: list[Found] = []
        mirror, decoder, end = Mirror(feed), GroupDecoder(), 0
        with closing(self._folder.open(feed, name)) as file:
            for block in blocks_of(file, 0):
                if block.offset != end:
                    self._broken("what is recorded is readable", f"{name} has bytes before {block.offset}")
                end = block.end
                decoder = GroupDecoder() if block.begins_group else decoder
                try:
                    records = decoder.records(file, block)
                except Damaged as damage:
                    self._broken("what is recorded is readable", f"{name}: {damage}")
                    return found
                for place, record in enumerate(records):
                    message = _message(record, is_keyframe=place == 0 and block.begins_group)
                    apply_message(mirror, message)
                    if isinstance(message, Beat):
                        found[-1] = found[-1]._replace(until=record.time)
                    else:
                        is_after_loss = block.kind is Kind.KEYFRAME_AFTER_LOSS and place == 0
                        position = message.epoch, message.seq
                        is_batch = isinstance(message, Batch)
                        found.append(Found(*position, is_batch, record.time, is_after_loss, record.time))
                self._check_state(name, mirror, truth)
            if file.seek(0, 2) != end and not may_be_torn:
                self._broken("what is recorded is readable", f"{name} ends with half a block")
        return found

    def _check_state(self, name: str, mirror: Mirror, truth: FeedTruth) -> None:
        expected = truth.states.get((mirror.epoch, mirror.mark.seq))
        state = msgspec.json.decode(msgspec.json.encode(mirror.quotes()))
        if state != expected:
            self._broken(
                "a recording has what was published",
                f"{name} at {mirror.epoch}-{mirror.mark.seq}: {state} instead of {expected}",
            )


def _message(record: Record, *, is_keyframe: bool) -> Any:
    return _snapshots.decode(record.message) if is_keyframe else decode_message(record.message)


def _explains(fault: Fault, at: float) -> bool:
    """Returns whether a fault of its disk may be why a batch of a Unix time was lost."""
    begin = WALL + fault.at
    return begin - _WAITED_SECONDS < at < begin + fault.seconds + _AGAIN_SECONDS
