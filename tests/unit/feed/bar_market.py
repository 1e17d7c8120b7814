"""A feed whose ledger makes bars, and mirrors that follow it; the test says what time it is."""

from typing import Final

from msgspec.structs import replace

from quotecast.bus.base import Batch, FeedInfo, NumberedClosing, Snapshot
from quotecast.feed.mirror import Mirror
from quotecast.ingest.ledger import Ledger
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.providers.base import Update
from support.made.market import EPOCH, stock

#: 2026-11-20 15:00 UTC.
START: Final = 1_795_186_800.0
INFO: Final = FeedInfo(provider="test", always_open=True)


class BarMarket:
    """Three stocks on a venue that never closes, and a mirror of them."""

    def __init__(self) -> None:
        self.now = START
        self._ledger = Ledger(Feed.STOCKS)
        self._ledger.bars.use(Feed.STOCKS.spec.always_open)
        for ticker in ("AAPL", "MSFT", "TSLA"):
            self._trade(ticker, 100.0)
        self.mirror = Mirror(Feed.STOCKS)
        self.mirror.load(self._ledger.begin(EPOCH, INFO))
        self._closings: list[NumberedClosing] = []

    def trade(self, ticker: str, price: float, seconds: float = 0.0) -> None:
        """Publishes a quote, some seconds after the last."""
        self.now += seconds
        self._trade(ticker, price)
        self._publish()

    def wait(self, seconds: float) -> None:
        """Publishes the closings of the next seconds."""
        self.now += seconds
        self._ledger.close_bars(self.now)
        self._publish()

    def reload(self, missed: int) -> None:
        """Loads the state after some closed minutes whose batches the mirror did not get."""
        for _ in range(missed):
            self.now += 60.0
            self._trade("AAPL", 101.0)
            batch, _, _ = self._ledger.next_batch(0.0)
            self._note(batch)
        self.mirror.load(self._ledger.snapshot(INFO))

    def take_over(self, epoch: str, closings: int) -> None:
        """Begins a new epoch, at which the bus has the newest closings only."""
        begun = self._ledger.begin(epoch, INFO)
        newest = self._closings[-closings:]
        self.mirror.load(
            Snapshot(begun.feed, begun.epoch, begun.seq, INFO, begun.entries, begun.parts, newest)
        )

    def _trade(self, ticker: str, price: float) -> None:
        quote = replace(stock(ticker, price), timestamp=iso_utc(self.now))
        self._ledger.take(Update([quote]), self.now)

    def _publish(self) -> None:
        if self._ledger.waiting:
            batch, _, _ = self._ledger.next_batch(0.0)
            self._note(batch)
            assert self.mirror.apply(batch)

    def _note(self, batch: Batch) -> None:
        self._closings += [NumberedClosing(batch.epoch, batch.seq, each) for each in batch.closings]
