"""The frames that a feed sends. Their quotes are bytes, encoded once per change.

On the socket of all feeds every frame of a feed has its name, the label; on a feed's own socket it has none.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from quotecast.feed.mirror import FeedState, Mark
from quotecast.market.codec import iso_utc
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval

#: Why a client receives a snapshot or bars that no change caused.
Reason = Literal["subscribe", "resume", "resync"]
Id = int | str | None
#: A feed's name, in the frames of a socket that serves all feeds.
Label = str | UnsetType


class Limits(Struct, frozen=True):
    """Bounds of one connection; the welcome frame announces `symbols`, and `interval` where there is one.

    `interval` is the least one in milliseconds. With `only`, the names of symbols and groups, a client gets
    these alone. Errors name `plan`, where the bounds are those of a plan.
    """

    symbols: int = 1000
    interval: int = 0
    only: tuple[str, ...] = ()
    bars: bool = True
    plan: str = ""

    @property
    def is_narrow(self) -> bool:
        """Whether a plan gives fewer symbols than everybody has."""
        return bool(self.plan) and self.symbols < Limits().symbols

    def announced(self) -> "Announced":
        """Returns the part that clients need."""
        return Announced(self.symbols, self.interval or UNSET)

    def refusal(self, bound: str) -> str:
        """Returns the text of an error about a bound, a predicate such as "has no bars"."""
        return f'Plan "{self.plan}" {bound}' if self.plan else f"This connection {bound}"


class Announced(Struct, frozen=True):
    """Bounds of a connection as its welcome says them."""

    symbols: int
    interval: int | UnsetType = UNSET


class Place(Struct, frozen=True):
    """A position in a feed."""

    epoch: str
    seq: int


class _Welcome(Struct, frozen=True, rename="camel", tag_field="type", tag="welcome"):
    feed: str
    epoch: str
    seq: int
    heartbeat_ms: int
    limits: Announced
    connection: str
    replayed: bool | UnsetType = UNSET
    at: str | UnsetType = UNSET


class _WelcomeToAll(Struct, frozen=True, rename="camel", tag_field="type", tag="welcome"):
    feeds: Mapping[str, Place]
    heartbeat_ms: int
    limits: Announced
    connection: str


class Rejected(Struct, frozen=True):
    """A symbol of a subscribe command that the feed does not know (404), or not for this client (403)."""

    symbol: str
    code: int = 404


class _Subscribed(Struct, frozen=True, kw_only=True, tag_field="type", tag="subscribed"):
    feed: Label = UNSET
    symbols: Sequence[str] | str
    rejected: Sequence[Rejected]
    renamed: Mapping[str, str] | UnsetType = UNSET
    interval: int
    fields: Sequence[str] | UnsetType = UNSET
    bars: LiveInterval | UnsetType = UNSET
    id: int | str | UnsetType = UNSET


class _Snapshot(Struct, frozen=True, kw_only=True, tag_field="type", tag="snapshot"):
    feed: Label = UNSET
    epoch: str
    seq: int
    reason: str
    columns: Sequence[str] | UnsetType = UNSET
    data: Raw


class _Update(Struct, frozen=True, kw_only=True, tag_field="type", tag="update"):
    feed: Label = UNSET
    epoch: str
    seq: int
    data: Raw
    removed: Sequence[str] | UnsetType = UNSET


class Closed(Struct, frozen=True):
    """An interval that ended at `time`, and the number of its final bars in the frame."""

    time: str
    count: int


class _Bars(Struct, frozen=True, kw_only=True, tag_field="type", tag="bars"):
    feed: Label = UNSET
    epoch: str
    seq: int
    interval: LiveInterval
    reason: Reason | UnsetType = UNSET
    columns: Sequence[str] | UnsetType = UNSET
    data: Raw
    closed: Closed | UnsetType = UNSET


class _Heartbeat(Struct, frozen=True, tag_field="type", tag="heartbeat"):
    epoch: str
    seq: int
    timestamp: str
    feed: FeedState
    market: str
    replayed: bool | UnsetType = UNSET
    at: str | UnsetType = UNSET


class _FeedHeartbeat(Struct, frozen=True, tag_field="type", tag="heartbeat"):
    feed: str
    epoch: str
    seq: int
    timestamp: str
    state: FeedState
    market: str


class _Pong(Struct, frozen=True, tag_field="type", tag="pong"):
    timestamp: str
    id: int | str | UnsetType = UNSET


class _Error(Struct, frozen=True, kw_only=True, tag_field="type", tag="error"):
    feed: Label = UNSET
    code: int
    detail: str
    id: int | str | UnsetType = UNSET


class _Shutdown(Struct, frozen=True, rename="camel", tag_field="type", tag="shutdown"):
    retry_after_ms: int


def cursor_of(frame: Struct) -> str:
    """Returns the cursor of a client that has merged the frame; an empty text if it does not move."""
    if isinstance(frame, _Snapshot | _Update | _Bars | _Heartbeat | _FeedHeartbeat) and frame.epoch:
        return f"{frame.epoch}-{frame.seq}"
    return ""


def retry_of(frame: Struct) -> int | None:
    """Returns the reconnection delay of a shutdown, in milliseconds; None for any other frame."""
    return frame.retry_after_ms if isinstance(frame, _Shutdown) else None


def welcome(
    feed: Feed,
    mark: Mark,
    heartbeat_ms: int,
    limits: Limits,
    connection: str,
    *,
    replayed_at: float | None = None,
) -> Struct:
    """Returns the first frame of a connection to one feed, or to a replay of it."""
    place = feed.spec.name, mark.epoch, mark.seq
    return _Welcome(*place, heartbeat_ms, limits.announced(), connection, *_replayed(replayed_at))


def welcome_to_all(marks: Mapping[str, Mark], heartbeat_ms: int, limits: Limits, connection: str) -> Struct:
    """Returns the first frame of a connection to all feeds; `marks` by the feed's name."""
    places = {name: Place(mark.epoch, mark.seq) for name, mark in marks.items()}
    return _WelcomeToAll(places, heartbeat_ms, limits.announced(), connection)


def subscribed(
    label: Label,
    symbols: Sequence[str] | str,
    rejected: Sequence[Rejected],
    interval: int,
    *,
    renamed: Mapping[str, str] | None = None,
    fields: Sequence[str] | None = None,
    bars: LiveInterval | None = None,
    request: Id = None,
) -> Struct:
    """Returns the answer to subscribe, unsubscribe and list: all subscribed symbols, or `all`."""
    return _Subscribed(
        feed=label,
        symbols=symbols,
        rejected=rejected,
        renamed=renamed or UNSET,
        interval=interval,
        fields=UNSET if fields is None else fields,
        bars=bars or UNSET,
        id=_unset_or(request),
    )


def snapshot(label: Label, mark: Mark, reason: str, columns: Sequence[str], data: Raw) -> Struct:
    """Returns a snapshot: an array of full quotes as of `mark`. Rows have columns."""
    return _Snapshot(
        feed=label, epoch=mark.epoch, seq=mark.seq, reason=reason, columns=columns or UNSET, data=data
    )


def update(label: Label, mark: Mark, data: Raw, removed: Sequence[str] = ()) -> Struct:
    """Returns an update: an array of the changes up to `mark`, and the symbols that are gone."""
    return _Update(feed=label, epoch=mark.epoch, seq=mark.seq, data=data, removed=removed or UNSET)


def bars(
    label: Label,
    place: Place,
    interval: LiveInterval,
    data: Raw,
    *,
    reason: Reason | None = None,
    columns: Sequence[str] = (),
    closed: Closed | None = None,
) -> Struct:
    """Returns bars of one interval: the final ones of a closing, or bars in progress. Rows have columns."""
    return _Bars(
        feed=label,
        epoch=place.epoch,
        seq=place.seq,
        interval=interval,
        reason=reason or UNSET,
        columns=columns or UNSET,
        data=data,
        closed=closed or UNSET,
    )


def heartbeat(
    label: Label,
    mark: Mark,
    timestamp: str,
    state: FeedState,
    market: str,
    *,
    replayed_at: float | None = None,
) -> Struct:
    """Returns a heartbeat with the connection's cursor, and with the moment of a replay."""
    if label is UNSET:
        return _Heartbeat(mark.epoch, mark.seq, timestamp, state, market, *_replayed(replayed_at))
    return _FeedHeartbeat(label, mark.epoch, mark.seq, timestamp, state, market)


def pong(timestamp: str, request: Id) -> Struct:
    """Returns the answer to ping."""
    return _Pong(timestamp, _unset_or(request))


def error(code: int, detail: str, request: Id = None, label: Label = UNSET) -> Struct:
    """Returns the answer to a rejected command, which changed nothing."""
    return _Error(feed=label, code=code, detail=detail, id=_unset_or(request))


def shutdown(retry_after_ms: int) -> Struct:
    """Returns the last frame before a restart; clients reconnect after `retry_after_ms`."""
    return _Shutdown(retry_after_ms)


def _replayed(at: float | None) -> tuple[bool, str] | tuple[()]:
    return () if at is None else (True, iso_utc(at))


def _unset_or(request: Id) -> int | str | UnsetType:
    return UNSET if request is None else request
