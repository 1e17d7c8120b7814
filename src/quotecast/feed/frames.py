"""The frames that a feed sends. Their quotes are bytes, encoded once per change."""

from collections.abc import Iterable, Sequence

from msgspec import UNSET, Raw, Struct, UnsetType

from quotecast.feed.mirror import FeedState, Mark, QuoteEntry
from quotecast.market.codec import Notation
from quotecast.market.feeds import Feed

Id = int | str | None


class Limits(Struct, frozen=True):
    """Bounds of one connection; the welcome frame announces them."""

    symbols: int = 1000


class _Welcome(Struct, frozen=True, rename="camel", tag_field="type", tag="welcome"):
    feed: str
    epoch: str
    seq: int
    heartbeat_ms: int
    limits: Limits


class Rejected(Struct, frozen=True):
    """An unknown symbol of a subscribe command."""

    symbol: str
    code: int = 404


class _Subscribed(Struct, frozen=True, tag_field="type", tag="subscribed"):
    symbols: Sequence[str] | str
    rejected: Sequence[Rejected]
    interval: int
    id: int | str | UnsetType = UNSET


class _Snapshot(Struct, frozen=True, tag_field="type", tag="snapshot"):
    epoch: str
    seq: int
    reason: str
    data: Sequence[Raw]


class _Update(Struct, frozen=True, tag_field="type", tag="update"):
    epoch: str
    seq: int
    data: Sequence[Raw]
    removed: Sequence[str] | UnsetType = UNSET


class _Heartbeat(Struct, frozen=True, tag_field="type", tag="heartbeat"):
    epoch: str
    seq: int
    timestamp: str
    feed: FeedState
    market: str


class _Pong(Struct, frozen=True, tag_field="type", tag="pong"):
    timestamp: str
    id: int | str | UnsetType = UNSET


class _Error(Struct, frozen=True, tag_field="type", tag="error"):
    code: int
    detail: str
    id: int | str | UnsetType = UNSET


class _Shutdown(Struct, frozen=True, rename="camel", tag_field="type", tag="shutdown"):
    retry_after_ms: int


def welcome(feed: Feed, mark: Mark, heartbeat_ms: int, limits: Limits) -> Struct:
    """Returns the first frame of every connection."""
    return _Welcome(feed.spec.name, mark.epoch, mark.seq, heartbeat_ms, limits)


def subscribed(
    symbols: Sequence[str] | str, rejected: Sequence[Rejected], interval: int, request: Id = None
) -> Struct:
    """Returns the answer to subscribe, unsubscribe and list: all subscribed symbols, or `all`."""
    return _Subscribed(symbols, rejected, interval, _unset_or(request))


def snapshot(mark: Mark, reason: str, entries: Iterable[QuoteEntry], notation: Notation = "json") -> Struct:
    """Returns a snapshot: full quotes as of `mark`."""
    data = [entry.full(notation) for entry in entries]
    return _Snapshot(mark.epoch, mark.seq, reason, data)


def update(
    mark: Mark,
    changed: Iterable[QuoteEntry],
    revision: int,
    removed: Sequence[str] = (),
    notation: Notation = "json",
) -> Struct:
    """Returns an update: the changes from `revision` to `mark`, and the symbols that are gone."""
    data = [entry.since(revision, notation) for entry in changed]
    return _Update(mark.epoch, mark.seq, data, removed or UNSET)


def heartbeat(mark: Mark, timestamp: str, feed: FeedState, market: str) -> Struct:
    """Returns a heartbeat with the connection's cursor; `feed` is the state of the feed."""
    return _Heartbeat(mark.epoch, mark.seq, timestamp, feed, market)


def pong(timestamp: str, request: Id) -> Struct:
    """Returns the answer to ping."""
    return _Pong(timestamp, _unset_or(request))


def error(code: int, detail: str, request: Id = None) -> Struct:
    """Returns the answer to a rejected command, which changed nothing."""
    return _Error(code, detail, _unset_or(request))


def shutdown(retry_after_ms: int) -> Struct:
    """Returns the last frame before a restart; clients reconnect after `retry_after_ms`."""
    return _Shutdown(retry_after_ms)


def _unset_or(request: Id) -> int | str | UnsetType:
    return UNSET if request is None else request
