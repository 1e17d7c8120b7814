"""A page of a world that replays past moments: it holds each frame to what was published then."""

import asyncio
import contextlib
import random
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
from websockets.exceptions import InvalidHandshake

from quotecast.market.feeds import Feed
from support.clients.merging_client import READERS
from world.bar_truth import Break
from world.client import SILENCE_SECONDS, FeedCopy, Socket
from world.clock import WALL, wall_time
from world.truth import FeedTruth

_SPEEDS: Final = (1, 3, 10, 100)
#: Seconds of the past that it asks for at most.
_LONGEST: Final = 20.0
#: Seconds between two replays.
_PAUSE: Final = (0.5, 3.0)
#: Seconds for which the last record of a segment still holds, and the turns of a recorder.
_COVERED_SECONDS: Final = 17.0
#: Seconds between two steps of a replay, and the sending of what they bring.
_STEP_SECONDS: Final = 0.5
#: Heartbeats with one moment.
_MAX_REPEATS: Final = 2


class Refusal(NamedTuple):
    """A moment that a worker did not replay, both in Unix time."""

    moment: float
    at: float


class Late(NamedTuple):
    """A shown position, and the Unix time up to which a later one would have to be shown."""

    epoch: str
    seq: int
    until: float
    what: str


class Replayer:
    """One page that replays moments of a feed, at any worker; `delay_seconds` is that of its key's plan."""

    def __init__(
        self,
        truth: FeedTruth,
        servers: Sequence[str],
        *,
        notation: str,
        chance: random.Random,
        broken: Break,
        name: str,
        key: str,
        delay_seconds: int,
    ) -> None:
        self.name = name
        self.frames = 0
        #: Unix time of the last frame that was no error.
        self.heard_at = 0.0
        self._refusals: list[Refusal] = []
        self._late: list[Late] = []
        #: The moment of the last heartbeat, and how many before it had the same.
        self._beat, self._repeats = "", 0
        #: Whether a worker did not know its key.
        self._is_denied = False
        self._truth = truth
        self._servers = servers
        self._notation = notation
        self._read = READERS.get(notation, msgspec.json.decode)
        self._chance = chance
        self._broken = broken
        self._key = key
        self._delay_seconds = delay_seconds
        #: When the newest position of the present replay was published, and the moment that it has reached.
        self._reached = self._moment = 0.0
        self._speed = 1

    async def run(self) -> None:
        """Replays one moment after another without end."""
        while True:
            await asyncio.sleep(self._chance.uniform(*_PAUSE))
            present = wall_time() - self._delay_seconds
            moment = present - self._chance.uniform(0.0, min(_LONGEST, wall_time() - WALL))
            server = self._chance.choice(self._servers)
            with contextlib.suppress(OSError, TimeoutError, InvalidHandshake):
                await self._play(server, round(moment, 3))

    async def _play(self, server: str, moment: float) -> None:
        copy = FeedCopy(self._truth, {"symbols": "all", "bars": "1m"}, self.name, self._broken)
        copy.copy.connect()
        self._reached, self._moment = 0.0, moment
        self._beat, self._repeats = "", 0
        path = f"/api/ws/{self._truth.feed.spec.name}?symbols=all&bars=1m&interval=100&at={moment}"
        self._speed = self._chance.choice(_SPEEDS)
        path += f"&speed={self._speed}"
        async with asyncio.timeout(SILENCE_SECONDS):
            transport, connection = await asyncio.get_running_loop().create_connection(
                partial(Socket, f"ws://{server}{path}", self._notation, self._key), server, 8000
            )
        try:
            while True:
                async with asyncio.timeout(SILENCE_SECONDS):
                    message = await connection.messages.get()
                if message is None or not self._take(copy, self._read(message), moment):
                    return
        finally:
            transport.abort()

    def _take(self, copy: FeedCopy, frame: dict[str, Any], moment: float) -> bool:
        """Takes a frame. Returns whether the page goes on with this replay."""
        self.frames += 1
        if frame["type"] == "error":
            if frame["code"] == 422:
                self._refusals.append(Refusal(moment, wall_time()))
            elif frame["code"] == 401 and self._key:
                self._is_denied = True
            elif frame["code"] != 503:
                self._broken("no errors", f"{self.name} got {frame}")
            return False
        self.heard_at = wall_time()
        copy.take(frame, copy.state)
        if "at" in frame:
            self._moment = datetime.fromisoformat(frame["at"]).timestamp()
        if frame["type"] == "heartbeat":
            self._check_progress(frame["at"])
        if frame["type"] in {"welcome", "snapshot", "update", "heartbeat"}:
            self._check(frame)
        return True

    def _check(self, frame: dict[str, Any]) -> None:
        """Checks that a replay begins with its moment, and goes forward from there."""
        position = frame["epoch"].partition(".")[0], frame["seq"]
        published = self._truth.times.get(position)
        if published is None or not self._truth.clocks_are_right:
            return
        what = f"{self.name} has {position} of {published:.3f} in a replay at {self._moment:.3f}"
        if wall_time() - published < self._delay_seconds:
            self._broken("delayed quotes are never early", f"{what}, at {wall_time():.3f}")
        if "at" in frame and published > self._moment:
            self._broken("a replay shows its moment", what)
        if "at" in frame:
            following = self._truth.times.get((position[0], position[1] + 1), self._moment)
            until = self._moment - _COVERED_SECONDS - self._speed * _STEP_SECONDS
            if following < until:
                self._late.append(Late(*position, until, what))
        if published < self._reached:
            self._broken("a replay goes forward", f"{what}, after one of {self._reached:.3f}")
        self._reached = published

    def _check_progress(self, at: str) -> None:
        """Checks the moment of a heartbeat. A worker that thaws repeats one before it plays on."""
        self._repeats = self._repeats + 1 if at == self._beat else 0
        self._beat = at
        if self._repeats > _MAX_REPEATS:
            self._broken("a replay goes forward", f"{self.name} stays at {at}")

    def check_moments(self, positions: Mapping[Feed, Mapping[tuple[str, int], float]]) -> None:
        """Checks that a replay which seemed late showed the newest one of the recorded positions."""
        recorded, times = positions[self._truth.feed], self._truth.times
        for late in self._late:
            number = late.seq + 1
            while times.get((late.epoch, number), late.until) < late.until:
                if recorded.get((late.epoch, number), late.until) < late.until:
                    self._broken("a replay shows its moment", f"{late.what}, after the recorded {number}")
                    return
                number += 1

    def check_refusals(self, healed: float, *, is_revoked: bool) -> None:
        """Checks that moments after a Unix time are recorded, and that only a revoked key is denied."""
        if self._is_denied and not is_revoked:
            self._broken("no errors", f"{self.name} was denied with a key that is good")
        late = [each for each in self._refusals if each.moment > healed and each.at - each.moment > 3.0]
        if late and self._truth.clocks_are_right:
            self._broken("a moment is recorded", f"{self.name} got no replay of {late}")
