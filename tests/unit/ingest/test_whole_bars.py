"""Since when the bars of a feed have every update."""

import time
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from quotecast.ingest.publish import FeedPublisher
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.market.quotes import Quote
from support.made.market import pair
from support.made.memory_bus import MemoryBus
from support.runs.waits import until
from support.stages.following import ScriptedProvider, running

#: A whole minute.
NOW: Final = 1_774_000_020


class Crypto(ScriptedProvider):
    feed = Feed.CRYPTO
    silence_seconds = 100.0

    def __init__(self) -> None:
        super().__init__()
        self.inherited: list[str] = []

    def inherit(self, quotes: Sequence[Quote]) -> None:
        self.inherited += [quote.key for quote in quotes]


class Stage:
    """A bus, an upstream and a clock."""

    def __init__(self) -> None:
        self.bus = MemoryBus(time.monotonic)
        self.provider = Crypto()
        self.now = float(NOW)

    def publisher(self) -> FeedPublisher:
        return FeedPublisher(self.provider, self.bus, "me", clock=lambda: self.now)

    async def hear(self, now: float, expected: int) -> None:
        """Lets the upstream say something, and waits until a beat says since when bars are whole."""
        self.now = now
        self.provider.send(replace(pair("BTC/USDT", now), timestamp=iso_utc(now)))

        def told() -> bool:
            state = self.bus._states.get(Feed.CRYPTO)
            return state is not None and (state.info.last_update, state.info.bars_from) == (
                iso_utc(now),
                expected,
            )

        await until(told)


async def test_bars_are_whole_from_the_first_minute_that_was_heard_without_a_gap() -> None:
    stage = Stage()
    await stage.bus.hold(Feed.CRYPTO, "me", 600_000)
    async with running(stage.publisher().run()):
        await stage.hear(NOW + 10, NOW + 60)
        await stage.hear(NOW + 90, NOW + 60)
        # Longer than the upstream is ever silent.
        await stage.hear(NOW + 190.5, NOW + 240)


async def test_bars_are_not_whole_across_a_reconnection() -> None:
    """However short: a minute that ended in the gap lacks its last trades."""
    stage = Stage()
    await stage.bus.hold(Feed.CRYPTO, "me", 600_000)
    async with running(stage.publisher().run()):
        await stage.hear(NOW + 10, NOW + 60)
        stage.provider.fail()
        await stage.hear(NOW + 70, NOW + 120)
        await stage.hear(NOW + 130, NOW + 120)


async def test_successor_gives_its_upstream_the_quotes_from_before() -> None:
    """So that the upstream removes pairs which it does not have."""
    stage = Stage()
    await stage.bus.hold(Feed.CRYPTO, "me", 600_000)
    async with running(stage.publisher().run()):
        await stage.hear(NOW + 10, NOW + 60)
    assert stage.provider.inherited == []
    async with running(stage.publisher().run()):
        await stage.hear(NOW + 20, NOW + 60)
    assert stage.provider.inherited == ["BTC/USDT"]


async def test_a_successor_goes_on_unless_it_comes_late_or_hears_another_upstream() -> None:
    stage = Stage()
    await stage.bus.hold(Feed.CRYPTO, "me", 600_000)
    for name, now, expected in (
        ("test", NOW + 10, NOW + 60),
        ("test", NOW + 70, NOW + 60),
        ("another", NOW + 75, NOW + 120),
        ("another", NOW + 176, NOW + 180),
    ):
        stage.provider.name = name
        async with running(stage.publisher().run()):
            await stage.hear(now, expected)
