"""The bus on Redis: a hash of last values and a channel per feed, which scripts write atomically.

The keys of one feed share a hash tag, so that they lie on one node of a cluster.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any, Final, TypeVar

from redis.commands.core import AsyncScript
from redis.exceptions import ResponseError

from quotecast.bus import wire
from quotecast.bus.base import (
    MAX_CLOSINGS,
    NO_PARTS,
    RECENT_CLOSINGS,
    REPORT_SECONDS,
    Batch,
    Beat,
    Document,
    DocumentChanged,
    Message,
    NumberedClosing,
    Snapshot,
    StoredQuote,
)
from quotecast.bus.subscription import PUBLISH, SHARDED_PUBLISH, Payloads, subscribe
from quotecast.errors import BusError, UnreadableState
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing, Parts
from quotecast.redis.client import check_writable, connect, drop_connections, script
from quotecast.redis.commands import MeasuredCommand
from quotecast.redis.counts import CODES, Part, error_kind
from quotecast.redis.urls import is_cluster

#: Seconds for each call; after that it fails and is not repeated, because the script may have run.
DEADLINE_SECONDS: Final = 2.0
#: Seconds between two checks that the subscribed server still takes writes.
CHECK_SECONDS: Final = 1.0

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
        self._publish = script(self._redis, _lua("publish"))
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
        return bool(
            await self._deadline(
                self._hold(keys=[self._key(feed, "lease")], args=[owner, milliseconds]), "lease"
            )
        )

    async def release(self, feed: Feed, owner: str) -> None:
        """See BusWriter."""
        await self._deadline(self._release(keys=[self._key(feed, "lease")], args=[owner]), "lease")

    async def load(self, feed: Feed) -> Snapshot | None:
        """See BusReader."""
        keys = [self._key(feed, name) for name in ("state", "quotes", "bars", "closings")]
        answer: list[Any] = await self._deadline(self._load(keys=keys, args=[RECENT_CLOSINGS]))
        if not answer:
            return None
        return _snapshot(feed, answer)

    async def report(self, feed: Feed) -> None:
        """See BusReader."""
        await self._deadline(self._report(keys=[self._key(feed, "report")], args=[REPORT_SECONDS]))

    async def begin(self, owner: str, snapshot: Snapshot) -> bool:
        """See BusWriter."""
        feed = snapshot.feed
        beat = Beat(feed=feed, epoch=snapshot.epoch, seq=snapshot.seq, info=snapshot.info)
        keys = [self._key(feed, name) for name in ("lease", "state", "quotes", "bars", "closings")]
        head: list[str | bytes | int] = [
            owner,
            snapshot.epoch,
            snapshot.seq,
            wire.encode(snapshot.info),
            self._verb,
            self._channel(feed),
        ]
        closings = [each.closing for each in snapshot.closings]
        args = [
            *head,
            wire.encode(beat),
            snapshot.info.market,
            *_stored(snapshot.entries, snapshot.parts, closings),
        ]
        return bool(await self._deadline(self._begin(keys=keys, args=args)))

    async def publish(
        self,
        owner: str,
        batch: Batch,
        entries: Mapping[str, StoredQuote],
        parts: Mapping[str, Parts] = NO_PARTS,
    ) -> bool:
        """See BusWriter."""
        keys = [self._key(batch.feed, name) for name in ("lease", "state", "quotes", "bars", "closings")]
        head: list[str | bytes | int] = [
            owner,
            batch.epoch,
            batch.seq - 1,
            batch.seq,
            self._verb,
            self._channel(batch.feed),
            wire.encode(batch),
        ]
        return bool(
            await self._deadline(self._publish(keys, [*head, *_stored(entries, parts, batch.closings)]))
        )

    async def closings_after(self, feed: Feed, through: int, count: int) -> Sequence[Closing]:
        """See BusWriter."""
        stored: Any = await self._deadline(
            self._redis.xrange(self._key(feed, "closings"), f"({through}-0", "+", count)
        )
        return list(_readable(fields.get(b"closing", b"") for _, fields in stored))

    async def trim_closings(self, feed: Feed, through: int) -> None:
        """See BusWriter."""
        await self._deadline(self._trim(keys=[self._key(feed, "closings")], args=[through, RECENT_CLOSINGS]))

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
            if not self._clustered:
                watch = asyncio.create_task(self._watch())
                stack.callback(watch.cancel)
            yield _messages(payloads)

    async def _watch(self) -> None:
        """Closes the subscription's connection when its server is no longer the master.

        A demoted server keeps its subscribers, but their messages end when it loses the new master. In a
        cluster the watch does not run: one node's failure must not end the other nodes' subscriptions.
        """
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            with contextlib.suppress(BusError):
                await self.check()

    async def _deadline(self, call: Awaitable[T], part: Part = "bus") -> T:
        with _raise_bus_errors():
            try:
                async with MeasuredCommand(self._redis, part), asyncio.timeout(DEADLINE_SECONDS):
                    return await call
            except TimeoutError:
                await drop_connections(self._redis, part)
                raise

    def _script(self, name: str) -> AsyncScript:
        return self._redis.register_script(_lua(name))

    def _key(self, feed: Feed, name: str) -> str:
        return f"{self._prefix}:{{{feed}}}:{name}"

    def _document_key(self, feed: Feed, name: str) -> str:
        return self._key(feed, f"document:{name}")

    def _channel(self, feed: Feed) -> str:
        return self._key(feed, "batches")


def _lua(name: str) -> str:
    return resources.files("quotecast.bus").joinpath(f"{name}.lua").read_text()


def _snapshot(feed: Feed, answer: Sequence[Any]) -> Snapshot:
    """Returns what `load.lua` answers. Raises UnreadableState."""
    epoch, seq, info, quotes, parts, closings = answer
    try:
        return Snapshot(
            feed,
            epoch.decode(),
            int(seq),
            wire.decode_info(info or b""),
            _pairs(quotes, wire.decode_stored),
            _pairs(parts, wire.decode_parts),
            tuple(
                NumberedClosing(began.decode(), int(number), wire.decode_closing(closing))
                for began, number, closing in reversed(closings)
            ),
        )
    except ValueError as error:
        raise UnreadableState(f"unreadable data on the bus: {error}") from error


def _readable(stored: Iterable[bytes]) -> Iterator[Closing]:
    for data in stored:
        with contextlib.suppress(UnreadableState):
            yield wire.decode_closing(data)


def _pairs(flat: Sequence[bytes], decode: Callable[[bytes], T]) -> dict[str, T]:
    return dict(zip((key.decode() for key in flat[::2]), map(decode, flat[1::2]), strict=True))


async def _messages(payloads: Payloads) -> AsyncIterator[Message | None]:
    while True:
        with _raise_bus_errors():
            data = await anext(payloads)
        try:
            message = None if data is None else wire.decode_message(data)
        except UnreadableState:
            # If it was a batch, the reader notices the gap in numbers; the other feeds' messages go on.
            message = None
        yield message


@contextlib.contextmanager
def _raise_bus_errors() -> Iterator[None]:
    try:
        yield
    except ResponseError as error:
        wrong_type = str(error).startswith("WRONGTYPE")
        raise (UnreadableState if wrong_type else BusError)(f"Redis: {error}") from error
    # A broken connection or cluster raises more than RedisError: uvloop RuntimeError for a write to a reset
    # connection, redis-py AttributeError for a slot that migrates to an unknown node.
    except Exception as error:
        raise BusError(f"Redis: {str(error) or type(error).__name__}") from error


def _stored(
    entries: Mapping[str, StoredQuote], parts: Mapping[str, Parts], closings: Sequence[Closing]
) -> list[str | bytes | int]:
    """Returns what a script stores: its counts, quotes by symbol, parts by symbol, closings by time."""
    flat: list[str | bytes | int] = [MAX_CLOSINGS, len(entries), len(parts)]
    for stored in (entries, parts):
        for key, value in stored.items():
            flat += key, wire.encode(value)
    for closing in closings:
        flat += closing.through, wire.encode(closing)
    return flat
