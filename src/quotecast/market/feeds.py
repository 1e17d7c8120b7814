"""The feeds, and one specification for each: name, structs, trading hours and spelling of symbols."""

import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, Literal

from msgspec import Struct

from quotecast.market.calendars import EXCHANGE, ISTANBUL_DAYS, NEW_YORK_DAYS, UTC_DAYS, Calendar, Exchange
from quotecast.market.groups import groups_of_currency, groups_of_stock
from quotecast.market.quotes import (
    CryptoMove,
    CryptoQuote,
    DovizMove,
    DovizQuote,
    Move,
    Quote,
    StockMove,
    StockQuote,
)
from quotecast.market.sessions import Unscheduled

Kind = Literal["stock", "crypto", "doviz"]


class Feed(StrEnum):
    """A stream of quotes of one kind, with its own epoch and sequence.

    The value names the feed in settings, in metrics and on the bus.
    """

    STOCKS = "stocks"
    CRYPTO = "crypto"
    DOVIZ = "doviz"

    @property
    def spec(self) -> "FeedSpec":
        """The feed's specification."""
        return _SPECS[self]


class FeedSpec(Struct, frozen=True):
    """The specification of one feed; only its routes and its providers know more."""

    #: The name that clients see: in paths, in the `welcome` frame and in the settings of rate limits.
    name: str
    #: The `kind` of its instruments in a watchlist.
    kind: Kind
    quote: type[Quote]
    #: The fields of a quote that change from tick to tick.
    move: type[Move]
    #: Trading days of its venues, and those of a simulated or recorded venue that never closes.
    calendar: Calendar
    always_open: Calendar
    #: Returns a symbol's canonical spelling, which must then match `pattern`.
    spell: Callable[[str], str]
    pattern: re.Pattern[str]
    #: Returns the currency of a quote's price.
    currency: Callable[[Any], str]
    #: Yields the names of a quote's groups, given all quotes of the feed by key.
    groups: Callable[[Any, Mapping[str, Any]], Iterator[str]]

    @property
    def has_closing_time(self) -> bool:
        """Returns whether its venues ever close."""
        return self.calendar is not self.always_open


def _spell_pair(text: str) -> str:
    text = text.upper()
    return text if "/" in text else text.replace("-", "/", 1)


_SPECS: Final = {
    Feed.STOCKS: FeedSpec(
        name="market",
        kind="stock",
        quote=StockQuote,
        move=StockMove,
        calendar=EXCHANGE,
        always_open=NEW_YORK_DAYS,
        spell=str.upper,
        pattern=re.compile(r"[A-Z0-9][A-Z0-9.\-]{0,11}"),
        currency=lambda _quote: "USD",
        groups=groups_of_stock,
    ),
    Feed.CRYPTO: FeedSpec(
        name="crypto",
        kind="crypto",
        quote=CryptoQuote,
        move=CryptoMove,
        calendar=UTC_DAYS,
        always_open=UTC_DAYS,
        spell=_spell_pair,
        pattern=re.compile(r"[A-Z0-9]{1,20}/[A-Z0-9]{1,20}"),
        currency=lambda pair: pair.ticker.partition("/")[2],
        groups=lambda _quote, _quotes: iter(()),
    ),
    Feed.DOVIZ: FeedSpec(
        name="doviz",
        kind="doviz",
        quote=DovizQuote,
        move=DovizMove,
        calendar=ISTANBUL_DAYS,
        always_open=ISTANBUL_DAYS,
        spell=str.lower,
        pattern=re.compile(r"[a-z0-9]+(-[a-z0-9]+)*"),
        currency=attrgetter("currency"),
        groups=groups_of_currency,
    ),
}

#: Clients know the stocks as `market` in paths and frames, and as `stock` in lists of instruments.
_BY_NAME: Final = {name: feed for feed in Feed for name in (feed.value, feed.spec.name, feed.spec.kind)}


def calendar_of(feed: Feed, *, always_open: bool, unscheduled: Unscheduled | None) -> Calendar:
    """Returns the calendar of a feed's venue, with today's deviation of the exchange."""
    if always_open:
        return feed.spec.always_open
    if feed.spec.has_closing_time and unscheduled:
        return _exchange_with(unscheduled)
    return feed.spec.calendar


@lru_cache(maxsize=8)
def _exchange_with(unscheduled: Unscheduled) -> Exchange:
    return Exchange(unscheduled)


def feed_named(text: str) -> Feed | None:
    """Returns the feed of a name in any letter case: `stocks`, `market` and `stock` are one."""
    return _BY_NAME.get(text.strip().lower())


def feed_of_kind(kind: Kind) -> Feed:
    """Returns the feed whose instruments a watchlist calls by this kind."""
    return _BY_NAME[kind]
