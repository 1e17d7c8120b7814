"""A session follows a mirror of three stocks, which a test moves."""

import json
from collections.abc import Iterable
from typing import Any

from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.feed.client import ClientSession
from quotecast.feed.commands import Query
from quotecast.feed.encoding import JSON, Encoding
from quotecast.feed.frames import Limits
from quotecast.feed.mirror import Mirror
from quotecast.feed.session import FeedSession
from quotecast.feed.subscription import Subscription
from quotecast.framing import Frame
from quotecast.market.feeds import Feed
from support.made.market import EPOCH, state_of, stock


def made_mirror() -> Mirror:
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of([stock("AAPL"), stock("MSFT"), stock("TSLA")]))
    return mirror


class MarketSession(ClientSession):
    """A client on the socket of the market's feed."""

    def __init__(self, mirror: Mirror, encoding: Encoding = JSON, limits: Limits | None = None) -> None:
        super().__init__([mirror], limits or Limits(), encoding, connection="c1")

    def greet(self, query: Query) -> list[Frame]:
        return self.open({"market": query})

    def advance(self) -> Frame | None:
        """Returns the last frame of a tick, if there is any."""
        return next(reversed(self.subscription.advance()), None)

    @property
    def feed(self) -> FeedSession:
        return self.feeds["market"]

    @property
    def subscription(self) -> Subscription:
        return self.feed.subscription


def opened(
    mirror: Mirror, limits: Limits | None = None, **query: str
) -> tuple[MarketSession, list[dict[str, Any]]]:
    session = MarketSession(mirror, limits=limits or Limits(symbols=2))
    return session, parsed(session.greet(Query(**query)))


def parsed(frames: Iterable[Frame | None]) -> list[dict[str, Any]]:
    return [json.loads(frame.payload) for frame in frames if frame is not None]


def move(mirror: Mirror, ticker: str, price: float, *, removed: tuple[str, ...] = ()) -> None:
    seq = mirror.mark.seq + 1
    changes = [encode_change(stock(ticker, price))] if ticker else []
    assert mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, changes=changes, removed=removed))
