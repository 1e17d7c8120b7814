"""A session follows a mirror of three stocks, which a test moves."""

import json
from typing import Any

from quotecast.bus.base import Batch
from quotecast.bus.wire import encode_change
from quotecast.feed.commands import Query
from quotecast.feed.frames import Limits
from quotecast.feed.mirror import Mirror
from quotecast.feed.session import FeedSession
from quotecast.market.feeds import Feed
from support.market_made import EPOCH, state_of, stock


def made_mirror() -> Mirror:
    mirror = Mirror(Feed.STOCKS)
    mirror.load(state_of([stock("AAPL"), stock("MSFT"), stock("TSLA")]))
    return mirror


def opened(mirror: Mirror, **query: str) -> tuple[FeedSession, list[dict[str, Any]]]:
    session = FeedSession(mirror, Limits(symbols=2))
    return session, [json.loads(frame) for frame in session.open(Query(**query), 15_000)]


def move(mirror: Mirror, ticker: str, price: float, *, removed: tuple[str, ...] = ()) -> None:
    seq = mirror.mark.seq + 1
    changes = [encode_change(stock(ticker, price))] if ticker else []
    assert mirror.apply(Batch(feed=Feed.STOCKS, epoch=EPOCH, seq=seq, changes=changes, removed=removed))
