"""Retention: deletes the segments that no moment within it needs."""

from collections.abc import Iterable
from itertools import pairwise

from quotecast.history.segments import Deletable, begin_of
from quotecast.market.feeds import Feed


def delete_expired(store: Deletable, feeds: Iterable[Feed], before: float) -> int:
    """Deletes segments that another one follows before that Unix time; returns their number."""
    expired = [
        (feed, name)
        for feed in feeds
        for name, following in pairwise(store.names(feed))
        if begin_of(following) <= before
    ]
    for feed, name in expired:
        store.delete(feed, name)
    return len(expired)
