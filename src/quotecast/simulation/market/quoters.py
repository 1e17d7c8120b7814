"""Quoters, one per instrument, which convert tape prices to quotes."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Protocol

from quotecast.market.own_bars import OwnBar, VenueBar
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote, StockQuote
from quotecast.market.reference import DovizInstrument, Pair, Stock
from quotecast.simulation.market.candles import TickCandle
from quotecast.simulation.market.cursor import Cursor, RestOfDayCursor, extent_between
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.market.tape import TapeSource

NAME: Final = "simulator"

_24_HOURS: Final = 86_400_000


class Quoter(Protocol):
    """The quotes of one instrument, each returned once."""

    def next_quote(self, moment: int) -> Quote | None:
        """Returns the quote at a moment in Unix milliseconds; None when it equals the last one returned."""
        ...

    def minute(self) -> VenueBar:
        """Returns the whole minute of the last moment asked for."""
        ...


class ListedQuoter:
    """Quotes of an instrument while the market lists it."""

    __slots__ = ("_quoter", "_schedule", "_symbol")

    def __init__(self, quoter: Quoter, symbol: str, schedule: Schedule) -> None:
        self._quoter = quoter
        self._symbol = symbol
        self._schedule = schedule

    def next_quote(self, moment: int) -> Quote | None:
        """Returns the quote at a moment; None without a change, or for an instrument that is not listed."""
        if self._schedule.planned and not self._schedule.is_listed(self._symbol, moment):
            return None
        return self._quoter.next_quote(moment)

    def minute(self) -> VenueBar:
        """See Quoter."""
        return self._quoter.minute()


class StockQuoter:
    """Quotes of a stock since the open of its latest session."""

    __slots__ = ("_cursor", "_last", "_scale", "_stock")

    def __init__(self, stock: Stock, tape: TapeSource) -> None:
        self._stock = stock
        self._scale = tape.listing.scale
        self._cursor = Cursor(tape)
        self._last: object = None

    def next_quote(self, moment: int) -> StockQuote | None:
        """Returns the quote at a moment; None without a change."""
        cursor = self._cursor
        cursor.seek(moment)
        state = (cursor.price, cursor.volume, cursor.high, cursor.low, cursor.window)
        if state == self._last:
            return None
        self._last = state
        stock, scale = self._stock, self._scale
        price, before = cursor.price, cursor.previous_close
        return StockQuote(
            ticker=stock.ticker,
            name=stock.name,
            price=price / scale,
            change=(price - before) / scale,
            change_percent=percent(price - before, before),
            open=cursor.open / scale,
            high=cursor.high / scale,
            low=cursor.low / scale,
            previous_close=before / scale,
            volume=str(cursor.volume),
            sector=stock.sector,
            industry=stock.industry,
            timestamp=iso(cursor.time),
        )

    def minute(self) -> VenueBar:
        """See Quoter."""
        candle = self._cursor.minute()
        return _venue_bar(self._stock.ticker, candle, self._scale, float(candle.volume))


class CryptoQuoter:
    """Quotes of a pair over the last 24 hours: the rest of the previous day plus the current day so far."""

    __slots__ = ("_ago", "_last", "_now", "_pair", "_scale", "_volume_scale")

    def __init__(self, pair: Pair, tape: TapeSource) -> None:
        self._pair = pair
        self._scale = tape.listing.scale
        self._volume_scale = tape.listing.volume_scale
        self._now = Cursor(tape)
        self._ago = RestOfDayCursor(tape)
        self._last: object = None

    def next_quote(self, moment: int) -> CryptoQuote | None:
        """Returns the quote at a moment; None without a change."""
        now, ago = self._now, self._ago
        now.seek(moment)
        ago.seek(moment - _24_HOURS)
        state = (now.price, ago.price, *extent_between(ago, now, moment))
        if state == self._last:
            return None
        self._last = state
        price, before, high, low, volume = state
        pair, scale = self._pair, self._scale
        return CryptoQuote(
            provider=NAME,
            exchange="Simulator",
            ticker=pair.ticker,
            name=pair.name,
            symbol=pair.base,
            price=price / scale,
            bid=(price - 1) / scale,
            ask=(price + 1) / scale,
            change=(price - before) / scale,
            change_percent=percent(price - before, before),
            open=before / scale,
            high=high / scale,
            low=low / scale,
            volume=volume / self._volume_scale,
            timestamp=iso(now.time),
        )

    def minute(self) -> VenueBar:
        """See Quoter."""
        candle = self._now.minute()
        return _venue_bar(self._pair.ticker, candle, self._scale, candle.volume / self._volume_scale)


class DovizQuoter:
    """Quotes of a currency, metal or index since midnight in Istanbul.

    A bank's prices are those of the tape plus `markup`. The tape's price is the selling price; the buying
    price is lower by the instrument's spread.
    """

    __slots__ = ("_cursor", "_instrument", "_last", "_markup", "_scale", "_spread")

    def __init__(self, instrument: DovizInstrument, tape: TapeSource, markup: float = 0.0) -> None:
        self._instrument = instrument
        self._scale = tape.listing.scale
        self._cursor = Cursor(tape)
        self._markup = 1.0 + markup
        self._spread = 1.0 - instrument.spread_percent / 100
        self._last: object = None

    def next_quote(self, moment: int) -> DovizQuote | None:
        """Returns the quote at a moment; None without a change."""
        cursor = self._cursor
        cursor.seek(moment)
        state = (cursor.price, cursor.high, cursor.low, cursor.window)
        if state == self._last:
            return None
        self._last = state
        instrument, scale, markup = self._instrument, self._scale, self._markup
        selling, before = round(cursor.price * markup), round(cursor.previous_close * markup)
        return DovizQuote(
            provider=NAME,
            symbol=instrument.symbol,
            name=instrument.name,
            category=instrument.category,
            source=instrument.source,
            unit=instrument.unit,
            currency=instrument.currency,
            buying=round(selling * self._spread) / scale,
            selling=selling / scale,
            price=selling / scale,
            change=(selling - before) / scale,
            change_percent=percent(selling - before, before),
            open=round(cursor.open * markup) / scale,
            high=round(cursor.high * markup) / scale,
            low=round(cursor.low * markup) / scale,
            previous_close=before / scale,
            timestamp=iso(cursor.time),
        )

    def minute(self) -> VenueBar:
        """See Quoter."""
        return _venue_bar(
            self._instrument.symbol, self._cursor.minute(), self._scale, None, markup=self._markup
        )


def percent(change: int, base: int) -> float:
    """Returns the change in percent of the base, rounded to four decimals.

    Integer arithmetic, because `round` is slower.
    """
    return (change * 2_000_000 + base) // (2 * base) / 10_000


@lru_cache(maxsize=4096)
def iso(moment: int) -> str:
    """Returns Unix milliseconds as ISO 8601 in UTC, with milliseconds."""
    seconds, milliseconds = divmod(moment, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{milliseconds:03}Z"


def _venue_bar(
    key: str, candle: TickCandle, scale: int, volume: float | None, markup: float = 1.0
) -> VenueBar:
    ticks = (candle.open, candle.high, candle.low, candle.close)
    first, high, low, close = (round(each * markup) / scale for each in ticks)
    return VenueBar(key, OwnBar(candle.start // 1000, first, high, low, close, volume, 0), final=True)
