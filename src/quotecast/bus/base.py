"""The messages on the bus, and the guarantees of its readers and writers.

Delivery is at most once. Every batch is numbered, so a reader notices a gap and loads the state again.
Messages are MessagePack maps: a reader ignores unknown fields and unknown kinds of message, and fills in
missing fields, so workers of two versions read the same bus.

Documents, such as the news, change rarely and as a whole: the bus stores the last one of each name and
publishes a message when it changes.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol

from msgspec import Raw, Struct

from quotecast.market.crossings import PAST_CLOSINGS, Crossing, CrossingId
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing, Parts, Progress
from quotecast.market.quotes import Quote
from quotecast.market.sessions import Unscheduled

VERSION: Final = 1
#: Closings that readers load.
RECENT_CLOSINGS: Final = 30
#: Closings that stay in Redis after they are in the database: a leader loads them.
STORED_CLOSINGS: Final = PAST_CLOSINGS
#: Closings that Redis holds while the database is away: a day in which something changes every minute.
MAX_CLOSINGS: Final = 1440
#: Crossings of a feed that Redis holds while the database is away, and that a leader remembers.
MAX_CROSSINGS: Final = 10_000

NO_PARTS: Final[Mapping[str, Parts]] = {}
#: Seconds in which a feed begins at most one new epoch at readers' request: a worker whose version cannot
#: read the feed would repeat its request without end.
REPORT_SECONDS: Final = 10


class FeedInfo(Struct, frozen=True, kw_only=True):
    """A feed's provider, and the freshness of its quotes."""

    provider: str
    simulated: bool = False
    delay_seconds: float = 0.0
    #: When the last change was published, ISO 8601 UTC.
    last_update: str | None = None
    #: Whether the upstream has been silent for longer than its cadence allows.
    overdue: bool = False
    #: Whether the venue never closes, or the simulation runs around the clock.
    always_open: bool = False
    #: The exchange's deviation from its calendar today.
    unscheduled: Unscheduled | None = None
    #: Unix time of the feed: bars that open from then on have every update. 0 when unknown.
    bars_from: int = 0

    @property
    def market(self) -> str:
        """The market of the quotes: the real one is "", each invented or recorded one has a name."""
        return self.provider if self.simulated else ""


class Change(Struct, frozen=True, gc=False, omit_defaults=True):
    """A symbol's newest quote, encoded; `full` if other than its moving fields changed."""

    quote: Raw
    #: The quote's key.
    key: str
    full: bool = False
    #: The symbol's bars in progress, an encoded `Progress`; empty where there are none.
    bars: bytes = b""


class Batch(Struct, frozen=True, kw_only=True, tag="batch", omit_defaults=True):
    """All changes between `seq` - 1 and `seq`."""

    feed: Feed
    epoch: str
    seq: int
    changes: Sequence[Change] = ()
    removed: Sequence[str] = ()
    #: Bars that became final, before the changes; the oldest first.
    closings: Sequence[Closing] = ()
    #: Unix time of publishing, for the measurement of lag.
    sent_at: float = 0.0
    version: int = VERSION


class Beat(Struct, frozen=True, kw_only=True, tag="beat", omit_defaults=True):
    """The feed's position, once a second, so that readers notice a lost last batch."""

    feed: Feed
    epoch: str
    seq: int
    info: FeedInfo
    version: int = VERSION


class DocumentChanged(Struct, frozen=True, kw_only=True, tag="document", omit_defaults=True):
    """A document's content changed."""

    feed: Feed
    name: str
    digest: str
    version: int = VERSION


Message = Batch | Beat | DocumentChanged


class StoredQuote(Struct, frozen=True, omit_defaults=True):
    """A symbol's last state; a removed symbol has no quote, and stays until the epoch ends."""

    seq: int
    #: The seq at which a field other than the moving ones last changed.
    full_seq: int
    quote: Quote | None = None
    bars: Progress | None = None
    version: int = VERSION


class NumberedClosing(Struct, frozen=True, gc=False):
    """A closing, and the epoch and seq of its batch."""

    epoch: str
    seq: int
    closing: Closing


class Snapshot(Struct, frozen=True):
    """A feed's complete state at (epoch, seq)."""

    feed: Feed
    epoch: str
    seq: int
    info: FeedInfo
    entries: Mapping[str, StoredQuote]
    #: What is final of coarser bars in progress, by symbol.
    parts: Mapping[str, Parts] = NO_PARTS
    #: The newest closings, the oldest first.
    closings: Sequence[NumberedClosing] = ()


#: Names of documents.
NEWS: Final = "news"
ASSETS: Final = "assets"
RENAMES: Final = "renames"
DOCUMENTS: Final = (NEWS, ASSETS, RENAMES)


class Document(Struct, frozen=True):
    """A document of a feed: MessagePack `content`, and a `digest` that is equal for equal content."""

    feed: Feed
    name: str
    digest: str
    content: bytes


class Memory(Struct, frozen=True):
    """A leader's memory beside the feed's state, for a bus that loses its data."""

    #: Closings before those of the state, and the newest crossings; the oldest first.
    closings: Sequence[Closing] = ()
    crossings: Sequence[Crossing] = ()


NO_MEMORY: Final = Memory()


class BusReader(Protocol):
    """The worker's side of the bus."""

    async def load(self, feed: Feed, *, closings_after: int = 0) -> Snapshot | None:
        """Returns the state at one instant; None before the feed's first epoch.

        It may lack closings up to a Unix time, which the reader has. Raises BusError, and UnreadableState for
        a state that no known version wrote.
        """
        ...

    async def report(self, feed: Feed) -> None:
        """Asks the feed's leader for a new epoch, after UnreadableState. Raises BusError.

        The leader gets the request as the answer to its next beat, at most once in ten seconds.
        """
        ...

    async def digest(self, feed: Feed, name: str) -> str | None:
        """Returns the stored document's digest; None if there is no document. Raises BusError."""
        ...

    async def document(self, feed: Feed, name: str) -> Document | None:
        """Returns the stored document; None if there is none. Raises BusError."""
        ...

    async def report_document(self, document: Document) -> None:
        """Asks for a document to be stored again, because its content is damaged. Raises BusError.

        Until then there is no digest of it.
        """
        ...

    def listen(self, feeds: Sequence[Feed]) -> AbstractAsyncContextManager[AsyncIterator[Message | None]]:
        """Subscribes to feeds: the iterator yields every message published after the context is entered.

        Yields None after a second without a message, and for a message of an unknown kind. Raises BusError
        when the connection is lost.
        """
        ...

    def announcements(self) -> AbstractAsyncContextManager[AsyncIterator[Sequence[str] | None]]:
        """Subscribes to the ids of users with new events; see `listen`."""
        ...


class StateSource(BusReader, Protocol):
    """A BusReader that also gives states as they are stored, for readers at other places."""

    async def stored(self, feed: Feed, *, closings_after: int = 0) -> Sequence[Any]:
        """Returns what `snapshot_of` reads; empty before the feed's first epoch. Raises BusError."""
        ...


class BusWriter(Protocol):
    """The ingest's side of the bus. Every call raises BusError when the bus cannot be reached."""

    async def hold(self, feed: Feed, owner: str, milliseconds: int) -> bool:
        """Takes or renews the feed's lease. Returns False when another owner holds it."""
        ...

    async def take_over(self, feed: Feed, owner: str, milliseconds: int) -> bool | None:
        """Takes the lease as `hold` does; returns None, without it, for a feed without holder and state."""
        ...

    async def release(self, feed: Feed, owner: str) -> None:
        """Releases the lease, if the owner still holds it."""
        ...

    async def load(self, feed: Feed) -> Snapshot | None:
        """Returns the last leader's state, as BusReader does. Raises UnreadableState too."""
        ...

    async def begin(self, owner: str, snapshot: Snapshot, memory: Memory = NO_MEMORY) -> bool:
        """Replaces the feed's state by a new epoch, atomically. Returns False without the lease.

        A state of the present epoch may follow too, if it is no older: that of a followed feed. Forgets the
        closings of another market. Stores the leader's memory as far as the bus lacks it.
        """
        ...

    async def publish(
        self,
        owner: str,
        batch: Batch,
        entries: Mapping[str, StoredQuote],
        parts: Mapping[str, Parts] = NO_PARTS,
        crossings: Sequence[Crossing] = (),
    ) -> bool:
        """Stores and publishes a batch, atomically; `parts` are those that its closings changed.

        Stores the crossings of its quotes too, each once.

        Returns False, having done nothing, when the stored state is not (batch.epoch, batch.seq - 1): another
        leader took over, or the bus lost its data. The same while another owner holds the lease: that one may
        have loaded the state, and begins an epoch soon.
        """
        ...

    async def beat(self, beat: Beat) -> bool:
        """Stores the feed's info and publishes its position.

        Returns False when the bus has another epoch, or a reader asked for a new one.
        """
        ...

    async def closings_after(self, feed: Feed, through: int, count: int) -> Sequence[Closing]:
        """Returns at most `count` stored closings after the Unix time `through`, the oldest first.

        Leaves out those that no known version wrote.
        """
        ...

    async def trim_closings(self, feed: Feed, through: int) -> None:
        """Forgets the closings up to the Unix time `through`, but for the newest STORED_CLOSINGS."""
        ...

    async def newest_closings(self, feed: Feed, count: int) -> Sequence[Closing]:
        """Returns at most `count` of the newest stored closings, the oldest first; see `closings_after`."""
        ...

    async def last_crossing(self, feed: Feed) -> CrossingId:
        """Returns the id of the newest stored crossing; NO_CROSSING without any."""
        ...

    async def crossings_after(self, feed: Feed, last: CrossingId, count: int) -> Sequence[Crossing]:
        """Returns at most `count` stored crossings after the one with this id, the oldest first.

        Leaves out those that no known version wrote.
        """
        ...

    async def count_crossings(self, feed: Feed) -> int:
        """Returns the number of stored crossings; the last one that was written stays among them."""
        ...

    async def trim_crossings(self, feed: Feed, last: CrossingId) -> None:
        """Forgets the crossings before the one with this id, but for the newest."""
        ...

    async def store_levels(self, feed: Feed, levels: bytes) -> None:
        """Stores a copy of the thresholds of the feed's alerts."""
        ...

    async def levels(self, feed: Feed) -> bytes | None:
        """Returns that copy; None if there is none."""
        ...

    async def announce(self, users: Sequence[str]) -> None:
        """Sends the ids of users with new events to the listeners of `announcements`, at most once."""
        ...

    async def digest(self, feed: Feed, name: str) -> str | None:
        """See BusReader."""
        ...

    async def store(self, owner: str, document: Document) -> bool:
        """Stores a document and publishes its change, atomically. Returns False without the feed's lease.

        Writes and publishes nothing when the stored document has the same digest.
        """
        ...
