"""The shared way of crypto venues from tickers to quotes, and from candles to bars."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Final

import structlog
from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.numbers import Number, instant, number, percent_change, positive, timestamp_of, to_float
from quotecast.market.own_bars import VenueBar
from quotecast.market.quotes import CryptoQuote, Quote
from quotecast.market.reference import asset_name
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.transport.recording import Instrument
from quotecast.providers.validation.candles import CandleRow, minute_of_venue, to_bar
from quotecast.providers.validation.judgement import Judge

#: What stands between the assets of a pair, in one spelling or another.
_SEPARATORS: Final = str.maketrans("", "", "/-_ ")
#: Fields of a quote that leap no further than its price.
_PRICES: Final = ("bid", "ask", "open", "high", "low")

log = structlog.get_logger()


class DayChange(Struct, frozen=True, gc=False):
    """A price's change over 24 hours: the price then, the difference, and the difference in percent."""

    open: Decimal | None = None
    change: Decimal | None = None
    percent: float | None = None


def change_from(opened: Decimal | None, price: Decimal) -> DayChange:
    """Returns the change from the price of 24 hours ago; an empty one when that is unknown."""
    # Subtracted as decimals: as floats, 0.1127 would read 0.11269999999999847.
    return DayChange(opened, price - opened, percent_change(price, opened)) if opened else DayChange()


class Venue(Struct, frozen=True, kw_only=True):
    """One exchange: its name as a provider in quotes, bars and the feed's state, and its usual spelling."""

    name: str
    exchange: str


def log_unfollowed(venue: str, pair: str) -> None:
    """Logs that a feed lacks a pair that the settings name, and why."""
    letters = pair.translate(_SEPARATORS)
    if letters.isascii() and letters.isalnum():
        log.warning("a pair is not followed: the venue does not trade it", venue=venue, pair=pair)
    else:
        log.warning(
            "a pair is not followed: names of pairs have the letters A to Z and digits only", pair=pair
        )


class Figures(Struct, frozen=True, kw_only=True):
    """A pair's last price, best bid and ask, and its last 24 hours, as a venue writes them.

    A venue's ticker is a subclass, with the venue's names of the fields, its change and its time.
    """

    #: The fields that every valid message has.
    expected: ClassVar[Sequence[str]] = ("bid", "ask", "open", "high", "low", "volume")

    price: Number = None
    bid: Number = None
    ask: Number = None
    open: Number = None
    high: Number = None
    low: Number = None
    volume: Number = None

    def day_change(self, price: Decimal) -> DayChange:
        """Returns the change to that price, which is above zero."""
        return change_from(positive(self.open), price)

    def made_at(self) -> datetime | None:
        """Returns the venue's time of the message; None without a readable one."""
        raise NotImplementedError

    def unreadable(self) -> list[str]:
        """Returns the expected fields whose value is not a number or is below zero."""
        return [name for name in self.expected if number(getattr(self, name)) is None]

    def to_quote(self, pair: str, name: str, received: float, venue: Venue) -> CryptoQuote | None:
        """Returns the quote of `pair`, received at that Unix time; None without a price above zero.

        A field that is not a finite number above zero (of the volume: not below) is None: where nobody bids,
        Binance writes zero. `received` replaces a time that is missing, unreadable or more than a minute
        ahead of it; below that the two clocks merely differ, as they do by milliseconds in every recording.
        """
        price = positive(self.price)
        if price is None:
            return None
        day = self.day_change(price)
        return CryptoQuote(
            provider=venue.name,
            exchange=venue.exchange,
            ticker=pair,
            name=name,
            symbol=pair.partition("/")[0],
            price=float(price),
            bid=to_float(positive(self.bid)),
            ask=to_float(positive(self.ask)),
            change=to_float(day.change),
            change_percent=day.percent,
            open=to_float(day.open),
            high=to_float(positive(self.high)),
            low=to_float(positive(self.low)),
            volume=to_float(number(self.volume)),
            timestamp=timestamp_of(self.made_at(), received),
        )


class PairTickers:
    """Turns messages of one venue into believable quotes and bars, over all its connections.

    It refuses, and counts by reason, a message or row that it cannot decode (`malformed`), a quote without a
    readable price (`unreadable`), older than one already taken (`outdated`), or whose price is more than ten
    times or less than a tenth of the last good one of the past hour (`absurd`). Other fields that cannot be
    read or leap that far (`unreadable_field`, `absurd_field`) keep their last good value, and so do a bid and
    an ask below it. The change is then that from the last good price of 24 hours ago.
    """

    def __init__(self, venue: Venue) -> None:
        self._venue = venue
        self._refused = RefusalCounter(venue.name)
        self._prices = Judge()
        self._fields = Judge()
        #: The last believable quote of each pair.
        self._known: dict[str, CryptoQuote] = {}
        self._names: Mapping[str, str] = {}
        self._bars: list[VenueBar] = []

    def statistics(self) -> Mapping[str, int]:
        """Returns how many messages, rows and fields it refused since the start, by reason."""
        return self._refused.by_reason()

    def read(self, messages: Iterable[bytes], received: float) -> list[CryptoQuote]:
        """Returns the newest quote of each pair in messages that arrived at that Unix time.

        Raises UpstreamError for a message after which the venue sends no more quotes.
        """
        raise NotImplementedError

    def quotes(self) -> list[CryptoQuote]:
        """Returns the last good quote of every pair."""
        return list(self._known.values())

    def take_bars(self) -> list[VenueBar]:
        """Returns the venue's own bars of minutes in the messages since the last call."""
        bars, self._bars = self._bars, []
        return bars

    def keep_only(self, pairs: Collection[str]) -> list[str]:
        """Forgets every pair not among these. Returns the forgotten ones, sorted."""
        gone = self._prices.keep_only(pairs)
        self._fields.keep_only(f"{pair} {name}" for pair in pairs for name in _PRICES)
        for pair in gone:
            self._known.pop(pair, None)
        return gone

    def inherit(self, quotes: Iterable[Quote]) -> None:
        """Takes the feed's quotes of this venue from before: they judge the next prices.

        `keep_only` returns those of pairs that the venue does not have any more.
        """
        for quote in quotes:
            if made := instant(quote.timestamp):
                self._prices.refer(quote.key, quote.price, made.timestamp())

    def learn_names(self, names: Mapping[str, str]) -> None:
        """Takes names of assets by symbol; they win over those of our table."""
        self._names = names

    def learn(self, instruments: Sequence[Instrument]) -> None:
        """Takes the names of a recording's listing."""
        self.learn_names({each.base: each.name for each in instruments})

    def instruments(self, pairs: Mapping[str, str]) -> list[Instrument]:
        """Returns pairs, by the venue's symbols for them, as a recording lists them."""
        divided = [(symbol, *pair.split("/")) for symbol, pair in pairs.items()]
        return [Instrument(symbol, base, quote, self._name(base)) for symbol, base, quote in divided]

    def _check(self, ticker: Figures, pair: str | None, received: float, order: float) -> CryptoQuote | None:
        """Returns the believable quote of a ticker; None for one that a check refuses.

        `order` is that of `Judge.doubt`.
        """
        quote = None
        if pair:
            name = self._name(pair.partition("/")[0])
            quote = ticker.to_quote(pair, name, received, self._venue)
        if quote is None:
            self._refused.count("unreadable")
            return None
        if reason := self._prices.doubt(quote.key, quote.price, received, order):
            self._refused.count(reason)
            return None
        self._known[quote.key] = self._with_last_good_fields(quote, ticker.unreadable(), received)
        return self._known[quote.key]

    def _with_last_good_fields(self, quote: CryptoQuote, doubtful: list[str], received: float) -> CryptoQuote:
        """Returns the quote with the last good values in place of doubtful ones."""
        self._refused.count("unreadable_field", len(doubtful))
        for name in _PRICES:
            value = getattr(quote, name)
            if value is not None and self._fields.doubt(f"{quote.key} {name}", value, received):
                self._refused.count("absurd_field")
                doubtful.append(name)
        before = self._known.get(quote.key)
        if doubtful:
            quote = replace(quote, **{name: getattr(before, name, None) for name in doubtful})
        if "open" in doubtful and quote.open is not None:
            day = change_from(Decimal(str(quote.open)), Decimal(str(quote.price)))
            quote = replace(quote, change=to_float(day.change), change_percent=day.percent)
        if quote.bid is not None and quote.ask is not None and quote.bid > quote.ask:
            # A last good bid may be above the new ask.
            self._refused.count("absurd_field", len({"bid", "ask"}.difference(doubtful)))
            quote = replace(quote, bid=getattr(before, "bid", None), ask=getattr(before, "ask", None))
        return quote

    def _keep_bar(self, pair: str, candle: CandleRow, opened: datetime | None, *, final: bool) -> None:
        """Keeps the venue's bar of a minute if it is believable and something traded.

        Without a quote of the pair nothing tells that.
        """
        known = self._known.get(pair)
        if known is None:
            return
        bar = to_bar(candle, opened)
        if bar is None or opened is None:
            self._refused.count("unreadable")
        elif (minute := minute_of_venue(pair, bar, opened, near=known.price, final=final)) is None:
            self._refused.count("absurd")
        elif bar.volume:
            self._bars.append(minute)

    def _name(self, base: str) -> str:
        return self._names.get(base) or asset_name(base) or base


def newest(quotes: Iterable[CryptoQuote | None]) -> list[CryptoQuote]:
    """Returns the last quote of each pair."""
    return list({quote.key: quote for quote in quotes if quote}.values())
