"""`python -m benchmarks.blocks`: CPU milliseconds of a worker's steps that serve nobody else, by symbols.

Nothing interrupts a step; three quarters of the symbols moved before it, as in 250 ms of four updates a
second. CPU time hardly depends on what else the machine does. Prints the bytes of the frames too, plain and
deflated.
"""

import sys
import time
from collections.abc import Callable
from itertools import islice
from statistics import median
from typing import Any, Final

from msgspec import UNSET

from benchmarks.many import Upstream
from quotecast.api.answers.answers import SharedBody, all_quotes_json
from quotecast.api.routes.market.overviews import heatmap_json, movers_json
from quotecast.api.routes.market.symbol_pages import SymbolPage
from quotecast.bus import wire
from quotecast.bus.base import Batch, FeedInfo
from quotecast.feed.encoding import JSON, ROWS
from quotecast.feed.form import Form
from quotecast.feed.mirror import Mirror
from quotecast.feed.projection import projection_of
from quotecast.feed.subscription import Subscription
from quotecast.framing import Frame, deflate
from quotecast.garbage import freeze_present_objects
from quotecast.ingest.ledger import Ledger, new_epoch
from quotecast.market.feeds import Feed
from quotecast.market.movers import Floors
from quotecast.providers.base import Update

SIZES: Final = (500, 12_000)
ROUNDS: Final = 5


class _Market:
    """A mirror, and batches for it."""

    def __init__(self, symbols: int) -> None:
        upstream = Upstream(symbols, 1.0)
        self._moves = islice(upstream.moves(), symbols, None)
        self._count = symbols * 3 // 4
        self._ledger = Ledger(Feed.STOCKS)
        self._ledger.take(Update(upstream.first, complete=True), time.time())
        self.mirror = Mirror(Feed.STOCKS)
        self.mirror.load(self._ledger.begin(new_epoch(time.time()), FeedInfo(provider="many")))

    def move(self) -> None:
        """Brings a batch to the mirror, which nobody has read yet."""
        self._ledger.take(Update([next(self._moves) for _ in range(self._count)]), time.time())
        batch, _, _ = self._ledger.next_batch(time.time())
        message = wire.decode_message(wire.encode(batch))
        assert isinstance(message, Batch)
        assert self.mirror.apply(message)


def _forms() -> dict[str, Form]:
    forms = {
        "frame of `all`, plain": Form(JSON, projection_of(Feed.STOCKS, "json"), UNSET),
        "frame of `all`, rows": Form(ROWS, projection_of(Feed.STOCKS, "json", rows=True), UNSET),
    }
    price = forms["frame of `all`, rows"].select(Feed.STOCKS, ("price", "timestamp"))
    return {**forms, "frame of `all`, rows of price and time": price}


def _steps(mirror: Mirror, subscriptions: dict[str, Subscription]) -> dict[str, Callable[[], Any]]:
    steps: dict[str, Callable[[], Any]] = {"read of the changes": lambda: mirror.mark}
    for name, subscription in subscriptions.items():
        steps[name] = subscription.advance
    frames: list[Frame] = []
    plain = subscriptions["frame of `all`, plain"]

    def snapshot() -> None:
        frames[:] = [plain.snapshot("subscribe")]

    page = SymbolPage("500", None)
    return {
        **steps,
        "snapshot of `all`": snapshot,
        "REST, all quotes": lambda: SharedBody(all_quotes_json(mirror)),
        "REST, a page of 500": lambda: page.answer(mirror, 0.0),
        "heatmap": lambda: heatmap_json(mirror, shares={}),
        "movers": lambda: movers_json(mirror, Floors()),
    }


def measure(symbols: int) -> tuple[dict[str, float], dict[str, tuple[int, int]]]:
    """Returns the median of each step, and the bytes of each frame of the last round."""
    market = _Market(symbols)
    subscriptions = {name: Subscription(market.mirror, form) for name, form in _forms().items()}
    for each in subscriptions.values():
        each.want(None)
    freeze_present_objects()
    taken: dict[str, list[float]] = {}
    sizes: dict[str, tuple[int, int]] = {}
    for _ in range(ROUNDS):
        market.move()
        for name, step in _steps(market.mirror, subscriptions).items():
            began = time.thread_time()
            made = step()
            taken.setdefault(name, []).append((time.thread_time() - began) * 1000)
            if name in subscriptions:
                (frame,) = made
                sizes[name] = len(frame), len(deflate(frame.payload))
    return {name: median(each) for name, each in taken.items()}, sizes


def main() -> None:
    """Prints the table."""
    found = [measure(symbols) for symbols in SIZES]
    sys.stdout.write(f"| CPU ms | {' | '.join(f'{symbols:,}' for symbols in SIZES)} |\n|---|---|---|\n")
    for name in found[0][0]:
        sys.stdout.write(f"| {name} | {' | '.join(f'{each[name]:.1f}' for each, _ in found)} |\n")
    for name in found[0][1]:
        sizes = " | ".join(f"{plain:,} | {packed:,}" for _, each in found for plain, packed in [each[name]])
        sys.stdout.write(f"| {name} | {sizes} |\n")


if __name__ == "__main__":
    main()
