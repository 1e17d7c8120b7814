"""What travels on the bus, and what a bus guarantees.

Delivery is at most once. Every batch is numbered, so a reader notices a hole and loads the state anew.
Messages are MessagePack maps: a reader ignores fields and kinds of message that it does not know and fills
in fields that are missing, so workers of two versions read the same bus.

Documents are what changes now and then as a whole, such as the news: the bus keeps the last one of each
name and tells that it changed.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

from msgspec import Struct

from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from quotecast.market.sessions import Unscheduled

VERSION: Final = 1
#: Within this time a feed begins one new epoch at most because readers ask for it: a worker of a version
#: that cannot read the feed at all asks again and again.
REPORT_SECONDS: Final = 10


class FeedInfo(Struct, frozen=True, kw_only=True):
    """Who feeds the feed, and how well."""

    provider: str
    simulated: bool = False
    delay_seconds: float = 0.0
    #: When the last change was published, ISO 8601 UTC.
    last_update: str | None = None
    #: The upstream has been silent for longer than its own cadence allows.
    overdue: bool = False
    #: The venue never closes, or the simulation is told to run around the clock.
    always_open: bool = False
    #: What the exchange does today against its calendar.
    unscheduled: Unscheduled | None = None


class Change(Struct, frozen=True, omit_defaults=True):
    """A symbol's newest quote; `full` when more than its moving fields changed."""

    quote: Quote
    full: bool = False


class Batch(Struct, frozen=True, kw_only=True, tag="batch", omit_defaults=True):
    """Everything that changed between `seq` - 1 and `seq`."""

    feed: Feed
    epoch: str
    seq: int
    changes: Sequence[Change] = ()
    removed: Sequence[str] = ()
    #: Unix time of publishing, for the lag.
    sent_at: float = 0.0
    version: int = VERSION


class Beat(Struct, frozen=True, kw_only=True, tag="beat", omit_defaults=True):
    """Once a second: where the feed stands, so that a lost last batch is noticed."""

    feed: Feed
    epoch: str
    seq: int
    info: FeedInfo
    version: int = VERSION


class DocumentChanged(Struct, frozen=True, kw_only=True, tag="document", omit_defaults=True):
    """A document has other content than before."""

    feed: Feed
    name: str
    digest: str
    version: int = VERSION


Message = Batch | Beat | DocumentChanged


class StoredQuote(Struct, frozen=True, omit_defaults=True):
    """A symbol's last state; a removed one stays, without a quote, until the epoch ends."""

    seq: int
    #: The seq at which a field that does not move last changed.
    full_seq: int
    quote: Quote | None = None
    version: int = VERSION


class Snapshot(Struct, frozen=True):
    """A feed's whole state at (epoch, seq)."""

    feed: Feed
    epoch: str
    seq: int
    info: FeedInfo
    entries: Mapping[str, StoredQuote]


#: Names of documents.
NEWS: Final = "news"
ASSETS: Final = "assets"


class Document(Struct, frozen=True):
    """A document that belongs to a feed; `digest` is equal for equal content, which is MessagePack."""

    feed: Feed
    name: str
    digest: str
    content: bytes


class BusReader(Protocol):
    """The worker's side."""

    async def load(self, feed: Feed) -> Snapshot | None:
        """The state at one instant; None before the feed's first epoch.

        Raises BusError, and UnreadableState for a state that no known version wrote.
        """
        ...

    async def report(self, feed: Feed) -> None:
        """Asks the feed's leader for a new epoch, because the state cannot be read. Raises BusError.

        The leader learns of it by its next beat, at most once in ten seconds.
        """
        ...

    async def digest(self, feed: Feed, name: str) -> str | None:
        """Of the document that is stored; None when there is none. Raises BusError."""
        ...

    async def document(self, feed: Feed, name: str) -> Document | None:
        """The document that is stored. Raises BusError."""
        ...

    def listen(self, feeds: Sequence[Feed]) -> AbstractAsyncContextManager[AsyncIterator[Message | None]]:
        """Subscribed once entered: nothing published after that is missed while the iterator lives.

        Yields None when a second passed in silence, and for a message of a kind that this version does not
        know. Raises BusError when the connection is lost.
        """
        ...


class BusWriter(Protocol):
    """The ingest's side. Raises BusError when the bus cannot be reached."""

    async def hold(self, feed: Feed, owner: str, milliseconds: int) -> bool:
        """Takes or renews the feed's lease; False when another owner holds it."""
        ...

    async def release(self, feed: Feed, owner: str) -> None:
        """Gives the lease up, if it is still held."""
        ...

    async def load(self, feed: Feed) -> Snapshot | None:
        """The state that the last leader left; raises UnreadableState as the reader's does."""
        ...

    async def begin(self, owner: str, snapshot: Snapshot) -> bool:
        """Replaces the feed's whole state by a new epoch, in one step; False without the lease."""
        ...

    async def publish(self, batch: Batch, entries: Mapping[str, StoredQuote]) -> bool:
        """Stores and sends a batch in one step.

        False, and nothing done, when the stored state is not (batch.epoch, batch.seq - 1): another
        leader took over, or the bus lost its data.
        """
        ...

    async def beat(self, beat: Beat) -> bool:
        """Stores the feed's info and tells where it stands.

        False when another epoch runs, or when a reader asks for a new one.
        """
        ...

    async def digest(self, feed: Feed, name: str) -> str | None:
        """See Reader."""
        ...

    async def store(self, owner: str, document: Document) -> bool:
        """Stores a document and tells that it changed, in one step; False without the feed's lease.

        Nothing is written or told when its digest is that of the stored one.
        """
        ...
