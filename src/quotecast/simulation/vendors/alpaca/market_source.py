"""Alpaca's data from the simulated market. Past trades and quotes are those at the end of each second."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise, takewhile
from typing import Final
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from quotecast.market.bars import Interval
from quotecast.market.calendars import VenueDay
from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market.hours import milliseconds, new_york_date
from quotecast.simulation.market.news import SimulatorNews
from quotecast.simulation.market.special_days import days_from
from quotecast.simulation.vendors.alpaca import rows
from quotecast.simulation.vendors.alpaca.query import Span
from quotecast.simulation.vendors.alpaca.timeframes import DAY, MINUTE, Timeframe
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Candle, Market, Price, merge, utc

#: The first moment of the history, as at Alpaca.
_FIRST: Final = datetime(2016, 1, 1, tzinfo=UTC)
#: Milliseconds between the prices of the delayed feed and now.
DELAY_MS: Final = 15 * 60_000
_SECOND_MS: Final = 1000
#: Intervals of the market that minutes and hours consist of, the longest first.
_PARTS: Final[tuple[tuple[int, Interval], ...]] = (
    (60, "1h"),
    (30, "30m"),
    (15, "15m"),
    (5, "5m"),
    (1, "1m"),
)
_LONGER: Final[dict[str, Interval]] = {"day": "D", "week": "W", "month": "M"}
#: Bars that one reading of the market returns at most, and its days for bars of days.
_PIECE_BARS: Final = 1440
_PIECE_DAYS: Final = 1500
#: Days back in which the preceding trading day is looked for.
_REACHES: Final = (1, 4, 12)
_UTC: Final = ZoneInfo("UTC")
#: Tapes of the exchanges; all others are on tape B.
_TAPES: Final = {"NASDAQ": "C", "NYSE": "A"}


class MarketSource:
    """The data of an Alpaca apart from its protocol; `feed` is the feed of stocks, and no feed of pairs."""

    def __init__(self, market: Market, clock: MarketClock) -> None:
        self.market = market
        self.clock = clock
        self._news = SimulatorNews(market.seed, lambda: clock.moment() / 1000)

    def is_listed(self, symbol: str) -> bool:
        """Returns whether an instrument trades now."""
        return self.market.is_listed(symbol, self.clock.moment())

    def zone(self, symbol: str) -> ZoneInfo:
        """Returns the time zone of an instrument's days."""
        return NEW_YORK if symbol in self.market.stocks else _UTC

    def bars(
        self, symbol: str, timeframe: Timeframe, span: Span, feed: str, *, adjusted: bool
    ) -> Iterator[Row]:
        """Yields the bars that begin within a span."""
        now = self._now(feed)
        start, end = max(span.start, _FIRST), min(span.end, utc(now))
        decimals, zone = self.market.decimals(symbol), self.zone(symbol)
        for first, last in _pieces(replace(span, start=start, end=end), timeframe, zone):
            found = self._candles(symbol, timeframe, (first, last), now, adjusted=adjusted)
            for candle in reversed(found) if span.descending else found:
                begin = utc(candle.start)
                if start <= begin <= end and first <= begin < last:
                    yield rows.bar_of(candle, decimals)

    def _candles(
        self,
        symbol: str,
        timeframe: Timeframe,
        limits: tuple[datetime, datetime],
        now: int,
        *,
        adjusted: bool,
    ) -> list[Candle]:
        """Returns the candles between two starts of bars."""
        part = next(interval for minutes, interval in _PARTS if timeframe.count % minutes == 0)
        interval = _LONGER.get(timeframe.unit, part)
        first, last = milliseconds(limits[0]), min(milliseconds(limits[1]) - 1, now)
        zone = self.zone(symbol)
        candles = self.market.bars(symbol, interval, first, last, adjusted=adjusted)
        return merge(candles, lambda moment: milliseconds(timeframe.start_of(utc(moment), zone)))

    def dividend_factor(self, symbol: str, day: date) -> float:
        """Returns the part of a price of a day that the dividends since then have left."""
        return self.market.dividend_factor(symbol, day)

    def trades(self, symbol: str, span: Span, feed: str) -> Iterator[Row]:
        """Yields the trades of a span."""
        return map(self.trade_row, self._prices(symbol, span, feed))

    def quotes(self, symbol: str, span: Span, feed: str) -> Iterator[Row]:
        """Yields the best bids and asks of a span."""
        return map(self.quote_row, self._prices(symbol, span, feed))

    def _prices(self, symbol: str, span: Span, feed: str) -> Iterator[Price]:
        """Yields the last price of each second that has one."""
        first = milliseconds(max(span.start, _FIRST))
        last = min(milliseconds(span.end), self._now(feed))
        number = -1
        for opened, closed in self._windows(symbol, first, last, descending=span.descending):
            for moment in _seconds(opened, closed, descending=span.descending):
                price = self.market.price(symbol, moment)
                if price.number != number and first <= price.time <= last:
                    number = price.number
                    yield price

    def _windows(self, symbol: str, first: int, last: int, *, descending: bool) -> Iterator[tuple[int, int]]:
        """Yields the trading hours between two moments, both included."""
        if symbol in self.market.pairs:
            yield first, last
            return
        calendar = self.market.calendar
        for day in calendar.until(utc(last)) if descending else days_from(calendar, new_york_date(first)):
            opened, closed = milliseconds(day.open), milliseconds(day.close)
            if (closed <= first) if descending else (opened > last):
                return
            if closed > first and opened <= last:
                yield max(first, opened), min(last, closed - 1)

    def snapshot(self, symbol: str, feed: str) -> Row | None:
        """Returns the newest trade, quote and bars; None without trades."""
        if not self.is_listed(symbol):
            return None
        now = self._now(feed)
        price = self.market.price(symbol, now)
        days: list[Row] = []
        # The wider the search for two days, the slower.
        for reach in _REACHES:
            days = self._newest(symbol, DAY, price.time, timedelta(days=reach))
            if len(days) > 1:
                break
        minutes = self._newest(symbol, MINUTE, price.time, timedelta())
        trade = self.trade_row(price)
        return {
            "latestTrade": trade | {"t": rows.text(trade["t"], digits=9)},
            "latestQuote": self.quote_row(price),
            "minuteBar": minutes[-1] if minutes else None,
            "dailyBar": days[-1] if days else None,
            "prevDailyBar": days[-2] if len(days) > 1 else None,
        }

    def _newest(self, symbol: str, timeframe: Timeframe, moment: int, reach: timedelta) -> list[Row]:
        start = timeframe.start_of(utc(moment) - reach, self.zone(symbol))
        limits = (start, utc(moment) + timedelta(milliseconds=1))
        decimals = self.market.decimals(symbol)
        return [
            rows.bar_of(candle, decimals)
            for candle in self._candles(symbol, timeframe, limits, moment, adjusted=False)
        ]

    def book(self, symbol: str) -> Row:
        """Returns a pair's order book."""
        return rows.book_of(self.market.price(symbol, self.clock.moment()))

    def stories(self) -> Sequence[Row]:
        """Returns the news, in any order."""
        return [rows.story_of(article) for article in self._news.newest()]

    def listed_assets(self) -> Sequence[Row]:
        """Returns the instruments that the broker offers."""
        names = (*self.market.stocks, *self.market.pairs)
        return [rows.asset_row(self.market, name) for name in names if self.is_listed(name)]

    def sessions(self, first: date, last: date) -> Sequence[VenueDay]:
        """Returns the sessions of the stock exchange between two dates, both included."""
        days = days_from(self.market.calendar, first)
        return list(takewhile(lambda day: day.date <= last, days))

    def tape(self, symbol: str) -> str:
        """Returns the consolidated tape of a stock."""
        return _TAPES.get(self.market.stocks[symbol].exchange, "B")

    def trade_row(self, price: Price) -> Row:
        """Returns the row of a trade."""
        if price.symbol not in self.market.stocks:
            return rows.pair_trade_of(price)
        return rows.trade_of(price, self.tape(price.symbol))

    def quote_row(self, price: Price) -> Row:
        """Returns the row of the best bid and ask at a trade."""
        if price.symbol not in self.market.stocks:
            return rows.pair_quote_of(price)
        return rows.quote_of(price, self.tape(price.symbol))

    def _now(self, feed: str) -> int:
        return self.clock.moment() - (DELAY_MS if feed == "delayed_sip" else 0)


def _seconds(first: int, last: int, *, descending: bool) -> Iterator[int]:
    """Yields the last millisecond of each second from `first` to `last`, and `last`."""
    if descending:
        yield from range(last, first - 1, -_SECOND_MS)
        return
    yield from range(first - first % _SECOND_MS + _SECOND_MS - 1, last, _SECOND_MS)
    yield last


def _pieces(span: Span, timeframe: Timeframe, zone: ZoneInfo) -> Iterator[tuple[datetime, datetime]]:
    """Yields a span in pieces that begin with a bar: a page reads as many as it needs."""
    minutes = timeframe.count * _PIECE_BARS
    length = timedelta(minutes=minutes) if timeframe.unit == "minute" else timedelta(days=_PIECE_DAYS)
    edge = timeframe.start_of(span.start, zone)
    edges = [edge]
    while edge <= span.end:
        edge = timeframe.start_of(edge + length, zone)
        edges.append(edge)
    pieces = list(pairwise(edges))
    return reversed(pieces) if span.descending else iter(pieces)
