"""Messages that a feed published in the last minutes, stored in Redis for the delayed feed.

A block has the messages of about a second. Its id is Redis's own time. Both that clock and the reader's must
say that a block is old enough, so no reader gets one early because one of them is fast.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

import msgspec
import zstandard
from msgspec import Struct

from quotecast.bus.base import Batch, Beat, Document, Snapshot
from quotecast.bus.calls import within_deadline
from quotecast.market.feeds import Feed
from quotecast.redis.client import connect
from quotecast.redis.lua import lua

#: Seconds for which a block stays after it is due: a reader that is away for less misses nothing.
GRACE_SECONDS: Final = 120
#: Blocks of one call: a second of 12,000 symbols has 150 KB.
_BLOCKS: Final = 20
#: The longest block: what a reader allocates for a few bytes of zstd is bounded.
_MAX_BYTES: Final = 256 << 20
_LEVEL: Final = 1


class KeptBlock(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Messages in the order of their publication, then the feed's state and documents after them, if any."""

    messages: Sequence[Batch | Beat] = ()
    state: Snapshot | None = None
    documents: Sequence[Document] = ()


class Released(NamedTuple):
    """A block that is old enough, and its id; None for one that no known version wrote."""

    id: str
    block: KeptBlock | None


class Kept(NamedTuple):
    """The bytes of a block that is kept, and its id."""

    length: int
    id: str
    #: Whether the owner's last block is still the one before it.
    follows: bool


class KeptWriter(Protocol):
    """The side of a feed's leader."""

    async def keep(
        self, feed: Feed, owner: str, block: KeptBlock, delay_seconds: int, *, after: str = ""
    ) -> Kept | None:
        """Keeps a block as long as readers with this delay need it; returns None without the feed's lease.

        `after` is the id of the owner's last block. Raises BusError.
        """
        ...


class KeptReader(Protocol):
    """The side of a delayed feed."""

    async def released(self, feed: Feed, after: str, delay_seconds: int) -> Sequence[Released]:
        """Returns the next blocks that are older than the delay, the oldest first.

        An empty `after` begins with the newest such block that has a state. Raises BusError.
        """
        ...


class RedisKept:
    """A KeptWriter and KeptReader on one Redis, beside the bus of the same prefix; `clock` is Unix time."""

    def __init__(self, url: str, prefix: str, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._redis = connect(url, "kept")
        self._prefix = prefix
        self._keep = self._redis.register_script(lua("bus", "keep"))
        self._released = self._redis.register_script(lua("bus", "released"))

    async def close(self) -> None:
        """Closes every connection."""
        await self._redis.aclose()

    async def keep(
        self, feed: Feed, owner: str, block: KeptBlock, delay_seconds: int, *, after: str = ""
    ) -> Kept | None:
        """See KeptWriter."""
        data = await asyncio.to_thread(encode, block)
        args: list[str | bytes | int] = [
            owner,
            data,
            int(block.state is not None),
            delay_seconds + GRACE_SECONDS,
            after,
        ]
        keys = [self._key(feed, "lease"), self._key(feed, "kept")]
        kept: list[Any] = await within_deadline(self._redis, "kept", self._keep(keys=keys, args=args))
        return Kept(len(data), kept[0].decode(), bool(kept[1])) if kept else None

    async def released(self, feed: Feed, after: str, delay_seconds: int) -> Sequence[Released]:
        """See KeptReader."""
        args: list[str | int] = [delay_seconds * 1000, _BLOCKS, after, int(self._clock() * 1000)]
        found: Any = await within_deadline(
            self._redis, "kept", self._released(keys=[self._key(feed, "kept")], args=args)
        )
        return [Released(number.decode(), await asyncio.to_thread(decode, data)) for number, data in found]

    def _key(self, feed: Feed, name: str) -> str:
        return f"{self._prefix}:{{{feed}}}:{name}"


_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final = msgspec.msgpack.Decoder(KeptBlock)


def encode(block: KeptBlock) -> bytes:
    """Returns a block as MessagePack, compressed."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(_encoder.encode(block))


def decode(data: bytes) -> KeptBlock | None:
    """Returns a block; None if no known version wrote it."""
    try:
        if zstandard.frame_content_size(data) > _MAX_BYTES:
            return None
        return _decoder.decode(zstandard.ZstdDecompressor().decompress(data))
    except (zstandard.ZstdError, ValueError, RecursionError):
        return None
