"""What an upstream must offer to feed quotes."""

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from msgspec import Struct

from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote


class Update(Struct, frozen=True):
    """What one read of an upstream brought; empty when it only showed that the upstream lives."""

    quotes: Sequence[Quote] = ()
    removed: Sequence[str] = ()
    #: `quotes` is all there is: whatever is not among them is gone.
    complete: bool = False


class QuoteProvider(Protocol):
    """One upstream of one feed.

    Guarantees an adapter gives: quotes are whole (merged with what was known before), finite, with a
    price above zero and a timestamp that is not in the future; the same instrument keeps its key.
    """

    name: str
    feed: Feed
    simulated: bool
    #: How far behind the market the upstream's plan is, in seconds.
    delay_seconds: float
    #: Seconds without an update after which the connection is presumed dead and the feed stale.
    silence_seconds: float
    #: Whether the venue follows the exchange's calendar or never closes.
    always_open: bool

    def updates(self) -> AsyncGenerator[Update, None]:
        """One connection's life: yields until it breaks, then raises UpstreamError.

        The caller reconnects, with backoff, by calling again. Closing the generator closes the
        connection.
        """
        ...
