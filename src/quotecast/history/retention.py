"""Retention: deletes the segments that no moment within it needs."""

from itertools import pairwise

from quotecast.history.bucket import Bucket
from quotecast.history.folder import Folder
from quotecast.history.segments import begin_of
from quotecast.market.feeds import Feed


def delete_expired(store: Folder | Bucket, before: float) -> None:
    """Deletes segments that another one follows before that Unix time."""
    expired = [
        (feed, name)
        for feed in Feed
        for name, following in pairwise(store.names(feed))
        if begin_of(following) <= before
    ]
    for feed, name in expired:
        store.delete(feed, name)
