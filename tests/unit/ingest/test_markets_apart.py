"""A real upstream after a simulated one: their bars never mix."""

import time
from typing import Final

from msgspec.structs import replace

from quotecast.bus.base import FeedInfo, NumberedClosing, Snapshot, StoredQuote
from quotecast.feed.mirror import Mirror
from quotecast.ingest.ledger import Ledger
from quotecast.ingest.publish import FeedPublisher
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.base import Update
from support.made.market import pair
from support.made.memory_bus import MemoryBus
from support.runs.waits import until
from support.stages.following import ScriptedProvider, running

SIMULATED: Final = FeedInfo(provider="simulator", simulated=True)
NOW: Final = 1_774_000_000 - 1_774_000_000 % 86_400 + 43_200
DAY: Final = 86_400


class Crypto(ScriptedProvider):
    feed = Feed.CRYPTO


def quote(price: float, at: float) -> CryptoQuote:
    return replace(pair("BTC/USDT", price), timestamp=iso_utc(at))


def simulated_state() -> Snapshot:
    """Returns the state of a simulation whose time is two days ahead."""
    ledger = Ledger(Feed.CRYPTO)
    for number in range(5):
        at = NOW + 2 * DAY + 60 * number
        ledger.take(Update([quote(5.0, at)]), at)
    return ledger.begin("0000000000aa00000001", SIMULATED)


async def test_the_bars_of_a_real_upstream_have_nothing_of_a_simulation_before_it() -> None:
    """Nor does the simulation's time, which was ahead, keep them from being made."""
    bus, clock = MemoryBus(time.monotonic), [NOW + 10.0]
    await bus.hold(Feed.CRYPTO, "me", 60_000)
    await bus.begin("me", simulated_state())
    mirror, provider = Mirror(Feed.CRYPTO), Crypto()
    before = await bus.load(Feed.CRYPTO)
    assert before is not None
    mirror.load(before)
    seen = mirror.mark.revision
    async with running(FeedPublisher(provider, bus, "me", clock=lambda: clock[0]).run()):
        provider.send(quote(90_000.0, clock[0]))
        await until(lambda: bus._states[Feed.CRYPTO].epoch != before.epoch)
        clock[0] = NOW + 62.5
        provider.send(quote(91_000.0, clock[0]))
        await until(lambda: bus._closings.get(Feed.CRYPTO))
    after = await bus.load(Feed.CRYPTO)
    assert after is not None
    assert [each.closing.through for each in after.closings] == [NOW + 60]
    (part,) = {each["D"].bar for each in after.parts.values()}
    assert (part.open, part.low, part.updates) == (90_000.0, 90_000.0, 1)
    mirror.load(after)
    assert mirror.bars.through == NOW + 60
    assert mirror.bars.lost_at > seen, "clients read closed bars again"
    assert mirror.bars.lost_at <= mirror.mark.revision, "once"


def test_a_worker_forgets_the_bars_of_a_simulation() -> None:
    """A market without closed bars yet is no exception."""
    mirror = Mirror(Feed.CRYPTO)
    mirror.load(simulated_state())
    assert mirror.bars.closings
    info, quoted = FeedInfo(provider="real"), {"BTC/USDT": StoredQuote(1, 1, quote(5.0, NOW + 2 * DAY + 240))}
    mirror.load(Snapshot(Feed.CRYPTO, "0000000000aa00000002", 1, info, quoted))
    assert (mirror.bars.through, [*mirror.bars.closings]) == (0, [])
    assert mirror.bars.lost_at == mirror.mark.revision
    closing = simulated_state().closings[0].closing
    numbered = NumberedClosing("0000000000aa00000002", 2, replace(closing, through=NOW))
    mirror.load(Snapshot(Feed.CRYPTO, "0000000000aa00000002", 2, info, quoted, closings=[numbered]))
    assert mirror.bars.through == NOW
