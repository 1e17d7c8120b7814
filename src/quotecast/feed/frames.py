"""The frames a feed sends, as JSON text; quotes are joined from bytes encoded once per change."""

from collections.abc import Iterable, Sequence

from msgspec import UNSET, Struct, UnsetType

from quotecast.feed.mirror import Entry, FeedState, Mark
from quotecast.market import codec
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed

#: What a feed is called on the wire.
FEED_NAMES = {Feed.STOCKS: "market", Feed.CRYPTO: "crypto", Feed.DOVIZ: "doviz"}

Id = int | str | None


class Limits(Struct, frozen=True):
    """Bounds of one connection, told in its welcome."""

    symbols: int = 1000


class _Welcome(Struct, frozen=True, rename="camel", tag_field="type", tag="welcome"):
    feed: str
    epoch: str
    seq: int
    heartbeat_ms: int
    limits: Limits


class Rejected(Struct, frozen=True):
    """A symbol that a subscribe named and the feed does not know."""

    symbol: str
    code: int = 404


class _Subscribed(Struct, frozen=True, tag_field="type", tag="subscribed"):
    symbols: Sequence[str] | str
    rejected: Sequence[Rejected]
    interval: int
    id: int | str | UnsetType = UNSET


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


def welcome(feed: Feed, mark: Mark, heartbeat_ms: int, limits: Limits) -> str:
    """The first frame of every connection."""
    return _text(_Welcome(FEED_NAMES[feed], mark.epoch, mark.seq, heartbeat_ms, limits))


def subscribed(
    symbols: Sequence[str] | str, rejected: Sequence[Rejected], interval: int, request: Id = None
) -> str:
    """The answer to subscribe, unsubscribe and list: the full set."""
    return _text(_Subscribed(symbols, rejected, interval, _given(request)))


def snapshot(mark: Mark, reason: str, entries: Iterable[Entry]) -> str:
    """Full quotes, standing at `mark`."""
    data = codec.array_json(entry.full_json() for entry in entries)
    head = encode_json({"type": "snapshot", "epoch": mark.epoch, "seq": mark.seq, "reason": reason})
    return str(b'%b,"data":%b}' % (head[:-1], data), "utf-8")


def update(mark: Mark, changed: Sequence[Entry], revision: int) -> str:
    """What changed between a cursor at `revision` and `mark`."""
    data = codec.array_json(entry.json_since(revision) for entry in changed if entry.quote is not None)
    removed = [entry.key for entry in changed if entry.quote is None]
    tail = b',"removed":%b}' % encode_json(removed) if removed else b"}"
    head = encode_json({"type": "update", "epoch": mark.epoch, "seq": mark.seq})
    return str(b'%b,"data":%b%b' % (head[:-1], data, tail), "utf-8")


def heartbeat(mark: Mark, timestamp: str, feed: FeedState, market: str) -> str:
    """A sign of life that says where the connection's cursor stands."""
    return _text(_Heartbeat(mark.epoch, mark.seq, timestamp, feed, market))


def pong(timestamp: str, request: Id) -> str:
    """The answer to ping."""
    return _text(_Pong(timestamp, _given(request)))


def error(code: int, detail: str, request: Id = None) -> str:
    """A command was refused and changed nothing."""
    return _text(_Error(code, detail, _given(request)))


def shutdown(retry_after_ms: int) -> str:
    """The server restarts; come back after the given time."""
    return _text(_Shutdown(retry_after_ms))


def _text(frame: Struct) -> str:
    return str(encode_json(frame), "utf-8")


def _given(request: Id) -> int | str | UnsetType:
    return UNSET if request is None else request
