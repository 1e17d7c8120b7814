"""A feed whose leader makes bars, a database that stores them late, and a worker that serves them."""

from collections import deque
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from quotecast.bus import wire
from quotecast.bus.base import RECENT_CLOSINGS, Batch, FeedInfo, NumberedClosing
from quotecast.feed.mirror import Mirror
from quotecast.ingest.ledger import Ledger
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update
from support.made.factories import MONOTONIC
from support.oracles.bar_oracle import Oracle
from support.stages.bar_service import BarService

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
        self.info = info
        self.stream: deque[NumberedClosing] = deque(maxlen=RECENT_CLOSINGS)
        self.epochs = 0
        self.restart_worker()

    def restart_worker(self) -> None:
        """Begins an epoch, and replaces the worker by one that loads the feed's state."""
        self.epochs += 1
        snapshot = self.ledger.begin(f"e{self.epochs}", self.info)
        self._keep(snapshot.epoch, 1, [each.closing for each in snapshot.closings])
        self.mirror = Mirror(self.feed)
        self.mirror.load(replace(snapshot, closings=[*self.stream]))
        self.mirror.heard_at = MONOTONIC
        self.service.mirrors[self.feed] = self.mirror

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
            self._keep(batch.epoch, batch.seq, batch.closings)
            assert self.mirror.apply(batch)

    def _keep(self, epoch: str, seq: int, closings: Sequence[Closing]) -> None:
        self.waiting += closings
        self.stream += [NumberedClosing(epoch, seq, closing) for closing in closings]

    def _batches(self) -> Iterator[Batch]:
        while self.ledger.waiting:
            heard = wire.decode_message(wire.encode(self.ledger.next_batch(0.0)[0]))
            assert isinstance(heard, Batch)
            yield heard
