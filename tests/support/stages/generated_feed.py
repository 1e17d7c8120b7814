"""A feed with an ingest and two workers, which a seeded generator moves; it knows the real market."""

import json
import random
from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from quotecast.bus.base import FeedInfo, NumberedClosing, Snapshot
from quotecast.feed.bar_styles import bar_style_of
from quotecast.feed.mirror import Mirror
from quotecast.feed.projection import moving_fields
from quotecast.ingest.ledger import Ledger
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import MINUTE, LiveInterval
from quotecast.market.quotes import Quote
from quotecast.providers.base import Update
from support.made.market import doviz, pair, stock

#: 2026-11-20 15:00 UTC.
START: Final = 1_795_186_800.0
INFO: Final = FeedInfo(provider="test", always_open=True)
SYMBOLS: Final = {
    Feed.STOCKS: ("AAPL", "MSFT", "NVDA", "XOM"),
    Feed.CRYPTO: ("BTC/USDT", "ETH/USDT", "SOL/USDT"),
    Feed.DOVIZ: ("ceyrek-altin", "gram-altin", "ons"),
}
_SECTORS: Final = ("Energy", "Technology")
#: Closings that a worker gets with the state.
_RECENT: Final = 30


class GeneratedFeed:
    """One feed. Both workers hear every batch, unless the generator says that one misses it."""

    def __init__(self, feed: Feed, random_: random.Random) -> None:
        self.feed = feed
        self.now = START
        self._random = random_
        self._ledger = Ledger(feed)
        self._ledger.bars.use(feed.spec.always_open)
        self._closings: list[NumberedClosing] = []
        self._epochs = 0
        self._quotes: dict[str, Quote] = {}
        for symbol in SYMBOLS[feed][:-1]:
            self._trade(symbol)
        self.workers = [Mirror(feed), Mirror(feed)]
        self.take_over()

    def trade(self, seconds: float) -> None:
        """Publishes new prices of some symbols."""
        self.now += seconds
        symbols = sorted(self._quotes)
        for symbol in self._random.sample(symbols, self._random.randint(1, len(symbols))):
            self._trade(symbol)
        self.publish()

    def rename(self) -> None:
        """Changes a field that does not move."""
        symbol = self._random.choice(sorted(self._quotes))
        self._update(replace(self._quotes[symbol], name=f"{symbol} {self._random.randint(1, 99)}"))
        self.publish()

    def list_or_remove(self) -> None:
        """Adds a symbol that the feed does not have, or removes one that is not the last."""
        symbol = self._random.choice(SYMBOLS[self.feed])
        if symbol not in self._quotes:
            self._trade(symbol)
        elif len(self._quotes) > 1:
            del self._quotes[symbol]
            self._ledger.take(Update(removed=[symbol]), self.now)
        self.publish()

    def wait(self, seconds: float) -> None:
        """Publishes the closings of the next seconds."""
        self.now += seconds
        self._ledger.close_bars(self.now)
        self.publish()

    def take_over(self) -> None:
        """Begins an epoch; a symbol has a price that only the new ingest knows."""
        if self._epochs:
            self._trade(self._random.choice(sorted(self._quotes)))
        self._epochs += 1
        begun = self._ledger.begin(f"{self._epochs:020x}", INFO)
        self._note(begun.closings)
        self._stored = replace(begun, closings=self._closings[-_RECENT:])
        self.heal()

    def publish(self) -> None:
        """Publishes what waits; one in five batches is lost at the second worker, which loads the state."""
        if not self._ledger.waiting:
            return
        batch, entries, parts = self._ledger.next_batch(0.0)
        self._note(NumberedClosing(batch.epoch, batch.seq, each) for each in batch.closings)
        stored = self._stored
        self._stored = Snapshot(
            self.feed,
            batch.epoch,
            batch.seq,
            INFO,
            {**stored.entries, **entries},
            {**stored.parts, **parts},
            self._closings[-_RECENT:],
        )
        assert self.workers[0].apply(batch)
        if self._random.random() < 0.2 or not self.workers[1].apply(batch):
            self.workers[1].load(self._stored)

    def heal(self) -> None:
        """Loads the state at both workers."""
        for worker in self.workers:
            worker.load(self._stored)

    def quotes(
        self, mirror: Mirror, wanted: frozenset[str] | None, fields: tuple[str, ...] | None
    ) -> dict[str, Any]:
        """Returns the quotes of a list with the selected fields, as a worker has them."""
        dropped = set() if fields is None else set(moving_fields(self.feed)) - set(fields)
        return {
            key: {name: value for name, value in msgspec.to_builtins(quote).items() if name not in dropped}
            for key, quote in sorted(mirror.quotes().items())
            if wanted is None or key in mirror.keys_of(wanted)
        }

    def final_bars(
        self, interval: LiveInterval, wanted: frozenset[str] | None, through: float
    ) -> list[dict[str, Any]]:
        """Returns the final bars of a list, as REST does."""
        style = bar_style_of(self.feed, "json", interval, rows=False)
        return [
            json.loads(style.encode(key, bar, True))
            for known in self._closings
            if known.closing.through <= through
            for key, bar in sorted(known.closing.bars.get(interval, {}).items())
            if wanted is None or key in wanted
        ]

    def bars(
        self, mirror: Mirror, interval: LiveInterval, wanted: frozenset[str] | None
    ) -> dict[str, list[dict[str, Any]]] | None:
        """Returns all bars of a list; None between the end of a minute and its closing."""
        book, key = mirror.bars, "symbol" if self.feed is Feed.DOVIZ else "ticker"
        made: dict[str, list[dict[str, Any]]] = {}
        for bar in self.final_bars(interval, wanted, book.through):
            made.setdefault(bar[key], []).append(bar)
        style = bar_style_of(self.feed, "json", interval, rows=False)
        for entry in mirror.live():
            if (wanted is not None and entry.key not in wanted) or entry.progress is None:
                continue
            minutes = entry.progress.ended, entry.progress.minute
            opened = {bar.opened for bar in minutes if bar and bar.opened + MINUTE > book.through}
            if opened - {int(self.now // MINUTE) * MINUTE}:
                return None
            if present := book.in_progress(entry.key, entry.progress, interval):
                made.setdefault(entry.key, []).append(json.loads(style.encode(entry.key, present, False)))
        return made

    def _trade(self, symbol: str) -> None:
        price = round(100 * self._random.uniform(0.9, 1.1), 2)
        before = self._quotes.get(symbol)
        made: Quote
        if self.feed is Feed.STOCKS:
            made = stock(symbol, price, sector=self._random.choice(_SECTORS))
            made = replace(made, volume=str(int(self.now) % 100_000))
        elif self.feed is Feed.CRYPTO:
            made = replace(pair(symbol, price), bid=round(price - 0.01, 2), ask=round(price + 0.01, 2))
        else:
            made = replace(doviz(symbol, price), buying=round(price - 0.5, 2))
        if before is not None:
            made = replace(made, name=before.name)
            if self.feed is Feed.STOCKS and self._random.random() < 0.9:
                made = replace(made, sector=before.sector)  # type: ignore[union-attr]  # a stock
        self._update(made)

    def _update(self, quote: Quote) -> None:
        quote = replace(quote, timestamp=iso_utc(self.now))
        self._quotes[quote.key] = quote
        self._ledger.take(Update([quote]), self.now)

    def _note(self, closings: Iterable[NumberedClosing]) -> None:
        """Adds closings to the stream of the bus, which ignores those that it has."""
        last = self._closings[-1].closing.through if self._closings else 0
        self._closings += [each for each in closings if each.closing.through > last]
