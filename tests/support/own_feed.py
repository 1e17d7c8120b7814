"""A feed whose leader makes bars, a database that stores them late, and a worker that serves them."""

from collections.abc import Iterator

from quotecast.bus import wire
from quotecast.bus.base import Batch, FeedInfo
from quotecast.feed.mirror import Mirror
from quotecast.ingest.ledger import Ledger
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update
from support.bar_oracle import Oracle
from support.bar_service import BarService
from support.factories import MONOTONIC

#: Seconds from a bar's end to its row.
WRITTEN_AFTER = 240


class OwnFeed:
    """One feed from its updates to its rows."""

    def __init__(self, service: BarService, feed: Feed, info: FeedInfo) -> None:
        self.service = service
        self.feed = feed
        self.oracle = Oracle(feed)
        self.ledger = Ledger(feed)
        self.waiting: list[Closing] = []
        self.mirror = Mirror(feed)
        self.mirror.load(self.ledger.begin("e1", info))
        self.mirror.heard_at = MONOTONIC
        service.mirrors[feed] = self.mirror

    def take(self, quote: Quote, now: float) -> None:
        """Publishes an update at the feed's time."""
        self.pass_time(now)
        self.oracle.update(quote, now)
        self.ledger.take(Update([quote]), now)
        self._publish()

    def pass_time(self, now: float) -> None:
        """Closes bars, and writes those that ended some minutes ago."""
        self.service.now = now
        self.oracle.pass_time(now)
        self.ledger.close_bars(now)
        self._publish()
        written = [each for each in self.waiting if each.through + WRITTEN_AFTER <= now]
        for closing in written:
            self.service.stored.write(self.feed, closing)
        self.waiting = self.waiting[len(written) :]

    def _publish(self) -> None:
        for batch in self._batches():
            self.waiting += batch.closings
            assert self.mirror.apply(batch)

    def _batches(self) -> Iterator[Batch]:
        while self.ledger.waiting:
            heard = wire.decode_message(wire.encode(self.ledger.next_batch(0.0)[0]))
            assert isinstance(heard, Batch)
            yield heard
