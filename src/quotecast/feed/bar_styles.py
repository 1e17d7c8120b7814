"""Styles of live bars: how one interval's bars of a feed look in one notation, as objects or as rows."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import fields

from quotecast.market.bars import bar_time
from quotecast.market.codec import Notation, encoder_of
from quotecast.market.feeds import Feed
from quotecast.market.own_bars import LiveInterval, OwnBar


class LiveBar(Struct, frozen=True, gc=False):
    """A bar on a feed; `time` is its opening. It is `final` or in progress; volume is null on doviz."""

    time: str
    open: float
    high: float
    low: float
    close: float
    volume: float | None
    updates: int
    final: bool


_NAMES: Final = tuple(field.name for field in fields(LiveBar))


class BarStyle:
    """One way to write bars. Clients that want the same share it, and its bytes.

    `columns` names the values of a row; objects have no columns.
    """

    __slots__ = ("columns", "encode", "interval")

    def __init__(
        self, interval: LiveInterval, columns: tuple[str, ...], encode: Callable[[str, OwnBar, bool], bytes]
    ) -> None:
        self.interval = interval
        self.columns = columns
        self.encode = encode


@cache
def bar_style_of(feed: Feed, notation: Notation, interval: LiveInterval, *, rows: bool) -> BarStyle:
    """Returns the style of one interval's bars."""
    names = (fields(feed.spec.move)[0].encode_name, *_NAMES)
    encode = encoder_of(notation)

    def write_row(key: str, bar: OwnBar, final: bool) -> bytes:  # noqa: FBT001 - for speed
        return encode((key, *_values(bar), final))

    def write_object(key: str, bar: OwnBar, final: bool) -> bytes:  # noqa: FBT001 - for speed
        return encode(dict(zip(names, (key, *_values(bar), final), strict=True)))

    return BarStyle(interval, names if rows else (), write_row if rows else write_object)


def _values(bar: OwnBar) -> tuple[object, ...]:
    return _time(bar.opened), bar.open, bar.high, bar.low, bar.close, bar.volume, bar.updates


@lru_cache(1024)
def _time(opened: int) -> str:
    return bar_time(datetime.fromtimestamp(opened, UTC))
