"""What a worker asks the bus for when it loads a feed again."""

from quotecast.bus.base import FeedInfo, NumberedClosing, Snapshot
from quotecast.feed.bus_listener import BusListener
from quotecast.feed.mirror import Mirror
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import Closing
from support.made.market import EPOCH


class Stored:
    """A bus with one state, which notes up to when its readers have closings."""

    def __init__(self, market: str, *throughs: int) -> None:
        self.state = state(market, *throughs)
        self.asked: list[int] = []

    async def load(self, feed: Feed, *, closings_after: int = 0) -> Snapshot:
        del feed
        self.asked.append(closings_after)
        later = [each for each in self.state.closings if each.closing.through > closings_after]
        return Snapshot(Feed.STOCKS, EPOCH, self.state.seq, self.state.info, {}, {}, later)


def state(market: str, *throughs: int) -> Snapshot:
    closings = [NumberedClosing(EPOCH, 1, Closing(through, {}, {})) for through in throughs]
    info = FeedInfo(provider=market, simulated=True)
    return Snapshot(Feed.STOCKS, EPOCH, len(throughs), info, {}, {}, closings)


async def load(bus: Stored, mirror: Mirror) -> None:
    relay = BusListener(bus, {Feed.STOCKS: mirror})  # type: ignore[arg-type]  # all it asks
    await relay._load_state(mirror)


def ends(mirror: Mirror) -> list[int]:
    return [known.closing.through for known in mirror.bars.closings]


async def test_reload_asks_for_later_closings_only() -> None:
    """Half an hour of bars of 12,000 symbols is 20 MB: a worker loads each closing once."""
    mirror, bus = Mirror(Feed.STOCKS), Stored("simulator", 60, 120)
    await load(bus, mirror)
    bus.state = state("simulator", 60, 120, 180)
    await load(bus, mirror)
    assert bus.asked == [0, 120]
    assert ends(mirror) == [60, 120, 180]


async def test_reload_of_another_market_asks_for_all() -> None:
    """The time of another market may be behind."""
    mirror = Mirror(Feed.STOCKS)
    await load(Stored("simulator", 600, 660), mirror)
    other = Stored("replay", 60, 120, 180)
    await load(other, mirror)
    assert other.asked == [660, 0]
    assert ends(mirror) == [60, 120, 180]
