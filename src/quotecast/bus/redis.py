"""The bus on Redis: a hash of last values and a channel per feed, which scripts write atomically.

The keys of one feed share a hash tag, so that they lie on one node of a cluster.
"""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any, Final, TypeVar

from redis.commands.core import AsyncScript

from quotecast.bus import wire
from quotecast.bus.answers import (
    messages_of,
    readable,
    snapshot_of,
    stored_values,
    users_of,
)
from quotecast.bus.base import (
    NO_MEMORY,
    NO_PARTS,
    RECENT_CLOSINGS,
    REPORT_SECONDS,
    STORED_CLOSINGS,
    Batch,
    Beat,
    Document,
    DocumentChanged,
    Memory,
    Message,
    NumberedClosing,
    Snapshot,
    StoredQuote,
)
from quotecast.bus.calls import within_deadline
from quotecast.bus.subscription import PUBLISH, SHARDED_PUBLISH, subscribe
from quotecast.errors import BusError
from quotecast.market.crossings import NO_CROSSING, Crossing, CrossingId
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing, Parts
from quotecast.redis.client import check_writable, connect, script
from quotecast.redis.counts import CODES, Part, error_kind
from quotecast.redis.lua import lua
from quotecast.redis.urls import is_cluster

#: The keys of a feed that change with its state, in the order of the scripts.
_STATE_KEYS: Final = ("lease", "state", "quotes", "bars", "closings", "crossings")

T = TypeVar("T")


class RedisBus:
    """A BusReader and BusWriter on one Redis; those protocols say what each call guarantees."""

    def __init__(self, url: str, prefix: str) -> None:
        self._redis = connect(url, "bus")
        self._prefix = prefix
        self._clustered = is_cluster(url)
        self._verb = SHARDED_PUBLISH if self._clustered else PUBLISH
        self._hold = self._script("hold")
        self._release = self._script("release")
        self._begin = self._script("begin")
        self._publish = script(self._redis, lua("bus", "publish"))
        self._beat = self._script("beat")
        self._load = self._script("load")
        self._store = self._script("store")
        self._report = self._script("report")
        self._forget = self._script("forget")
        self._trim = self._script("trim")

    async def close(self) -> None:
        """Closes every connection."""
        await self._redis.aclose()

    async def check(self) -> str:
        """Returns `ok` if every feed can be written, else Redis's error code. Raises BusError."""
        try:
            for feed in Feed:
                await self._deadline(check_writable(self._redis, self._key(feed, "state")))
        except BusError as error:
            if (kind := error_kind(error.__cause__ or error)) in CODES:
                return kind
            raise
        return "ok"

    async def hold(self, feed: Feed, owner: str, milliseconds: int) -> bool:
        """See BusWriter."""
        return await self._ask_for_lease(feed, owner, milliseconds, "") > 0

    async def take_over(self, feed: Feed, owner: str, milliseconds: int) -> bool | None:
        """See BusWriter."""
        answer = await self._ask_for_lease(feed, owner, milliseconds, "heir")
        return None if answer < 0 else answer > 0

    async def _ask_for_lease(self, feed: Feed, owner: str, milliseconds: int, role: str) -> int:
        keys = [self._key(feed, "lease"), self._key(feed, "state")]
        return int(await self._deadline(self._hold(keys=keys, args=[owner, milliseconds, role]), "lease"))

    async def release(self, feed: Feed, owner: str) -> None:
        """See BusWriter."""
        await self._deadline(self._release(keys=[self._key(feed, "lease")], args=[owner]), "lease")

    async def load(self, feed: Feed, *, closings_after: int = 0) -> Snapshot | None:
        """See BusReader."""
        answer = await self.stored(feed, closings_after=closings_after)
        return await snapshot_of(feed, answer) if answer else None

    async def stored(self, feed: Feed, *, closings_after: int = 0) -> Sequence[Any]:
        """See StateSource."""
        keys = [self._key(feed, name) for name in ("state", "quotes", "bars", "closings")]
        args = [RECENT_CLOSINGS, closings_after]
        answer: list[Any] = await self._deadline(self._load(keys=keys, args=args))
        return answer

    async def report(self, feed: Feed) -> None:
        """See BusReader."""
        await self._deadline(self._report(keys=[self._key(feed, "report")], args=[REPORT_SECONDS]))

    async def begin(self, owner: str, snapshot: Snapshot, memory: Memory = NO_MEMORY) -> bool:
        """See BusWriter."""
        feed = snapshot.feed
        beat = Beat(feed=feed, epoch=snapshot.epoch, seq=snapshot.seq, info=snapshot.info)
        keys = [self._key(feed, name) for name in _STATE_KEYS]
        head: list[str | bytes | int] = [
            owner,
            snapshot.epoch,
            snapshot.seq,
            wire.encode(snapshot.info),
            self._verb,
            self._channel(feed),
        ]
        earlier = [NumberedClosing(snapshot.epoch, snapshot.seq, each) for each in memory.closings]
        closings = [*earlier, *snapshot.closings]
        args = [
            *head,
            wire.encode(beat),
            snapshot.info.market,
            *stored_values(snapshot.entries, snapshot.parts, closings, memory.crossings),
        ]
        return bool(await self._deadline(self._begin(keys=keys, args=args)))

    async def publish(
        self,
        owner: str,
        batch: Batch,
        entries: Mapping[str, StoredQuote],
        parts: Mapping[str, Parts] = NO_PARTS,
        crossings: Sequence[Crossing] = (),
    ) -> bool:
        """See BusWriter."""
        keys = [self._key(batch.feed, name) for name in _STATE_KEYS]
        head: list[str | bytes | int] = [
            owner,
            batch.epoch,
            batch.seq - 1,
            batch.seq,
            self._verb,
            self._channel(batch.feed),
            wire.encode(batch),
        ]
        closings = [NumberedClosing(batch.epoch, batch.seq, each) for each in batch.closings]
        stored = stored_values(entries, parts, closings, crossings)
        return bool(await self._deadline(self._publish(keys, [*head, *stored])))

    async def closings_after(self, feed: Feed, through: int, count: int) -> Sequence[Closing]:
        """See BusWriter."""
        stored: Any = await self._deadline(
            self._redis.xrange(self._key(feed, "closings"), f"({through}-0", "+", count)
        )
        return list(readable(stored, b"closing", wire.decode_closing))

    async def newest_closings(self, feed: Feed, count: int) -> Sequence[Closing]:
        """See BusWriter."""
        stored: Any = await self._deadline(self._redis.xrevrange(self._key(feed, "closings"), count=count))
        return list(readable(reversed(stored), b"closing", wire.decode_closing))

    async def trim_closings(self, feed: Feed, through: int) -> None:
        """See BusWriter."""
        await self._deadline(self._trim(keys=[self._key(feed, "closings")], args=[through, STORED_CLOSINGS]))

    async def last_crossing(self, feed: Feed) -> CrossingId:
        """See BusWriter."""
        stored: Any = await self._deadline(self._redis.xrevrange(self._key(feed, "crossings"), count=1))
        return CrossingId(*map(int, stored[0][0].split(b"-"))) if stored else NO_CROSSING

    async def crossings_after(self, feed: Feed, last: CrossingId, count: int) -> Sequence[Crossing]:
        """See BusWriter."""
        stored: Any = await self._deadline(
            self._redis.xrange(self._key(feed, "crossings"), f"({last}", "+", count)
        )
        return list(readable(stored, b"crossing", wire.decode_crossing))

    async def count_crossings(self, feed: Feed) -> int:
        """See BusWriter."""
        return int(await self._deadline(self._redis.xlen(self._key(feed, "crossings"))))

    async def trim_crossings(self, feed: Feed, last: CrossingId) -> None:
        """See BusWriter."""
        newest = min(last, await self.last_crossing(feed))
        await self._deadline(
            self._redis.xtrim(self._key(feed, "crossings"), minid=str(newest), approximate=False)
        )

    async def store_levels(self, feed: Feed, levels: bytes) -> None:
        """See BusWriter."""
        await self._deadline(self._redis.set(self._key(feed, "levels"), levels))

    async def levels(self, feed: Feed) -> bytes | None:
        """See BusWriter."""
        stored: Any = await self._deadline(self._redis.get(self._key(feed, "levels")))
        return bytes(stored) if stored else None

    async def announce(self, users: Sequence[str]) -> None:
        """See BusWriter."""
        await self._deadline(self._redis.execute_command(self._verb, self._alert_channel, ",".join(users)))

    @contextlib.asynccontextmanager
    async def announcements(self) -> AsyncIterator[AsyncIterator[Sequence[str] | None]]:
        """See BusReader."""
        async with contextlib.AsyncExitStack() as stack:
            subscription = subscribe(self._redis, [self._alert_channel])
            payloads = await self._deadline(stack.enter_async_context(subscription))
            yield await stack.enter_async_context(contextlib.aclosing(users_of(payloads)))

    async def beat(self, beat: Beat) -> bool:
        """See BusWriter."""
        args: list[str | bytes] = [
            beat.epoch,
            wire.encode(beat.info),
            self._verb,
            self._channel(beat.feed),
            wire.encode(beat),
        ]
        keys = [self._key(beat.feed, name) for name in ("state", "report")]
        return bool(await self._deadline(self._beat(keys=keys, args=args)))

    async def digest(self, feed: Feed, name: str) -> str | None:
        """See BusReader."""
        digest: Any = await self._deadline(self._redis.hget(self._document_key(feed, name), "digest"))
        return digest.decode(errors="replace") if digest else None

    async def document(self, feed: Feed, name: str) -> Document | None:
        """See BusReader."""
        key = self._document_key(feed, name)
        fields: list[Any] = await self._deadline(self._redis.hmget(key, ["digest", "content"]))
        digest, content = fields
        return Document(feed, name, digest.decode(errors="replace"), content or b"") if digest else None

    async def report_document(self, document: Document) -> None:
        """See Reader."""
        key = self._document_key(document.feed, document.name)
        await self._deadline(self._forget(keys=[key], args=[document.digest]))

    async def store(self, owner: str, document: Document) -> bool:
        """See BusWriter."""
        feed, name, digest = document.feed, document.name, document.digest
        keys = [self._key(feed, "lease"), self._document_key(feed, name)]
        change = wire.encode(DocumentChanged(feed=feed, name=name, digest=digest))
        args: list[str | bytes] = [owner, digest, document.content, self._verb, self._channel(feed), change]
        return bool(await self._deadline(self._store(keys=keys, args=args)))

    @contextlib.asynccontextmanager
    async def listen(self, feeds: Sequence[Feed]) -> AsyncIterator[AsyncIterator[Message | None]]:
        """See BusReader."""
        async with contextlib.AsyncExitStack() as stack:
            channels = [self._channel(feed) for feed in feeds]
            payloads = await self._deadline(stack.enter_async_context(subscribe(self._redis, channels)))
            yield await stack.enter_async_context(contextlib.aclosing(messages_of(payloads)))

    def _deadline(self, call: Awaitable[T], part: Part = "bus") -> Awaitable[T]:
        return within_deadline(self._redis, part, call)

    def _script(self, name: str) -> AsyncScript:
        return self._redis.register_script(lua("bus", name))

    def _key(self, feed: Feed, name: str) -> str:
        return f"{self._prefix}:{{{feed}}}:{name}"

    def _document_key(self, feed: Feed, name: str) -> str:
        return self._key(feed, f"document:{name}")

    @property
    def _alert_channel(self) -> str:
        return f"{self._prefix}:alerts"

    def _channel(self, feed: Feed) -> str:
        return self._key(feed, "batches")
