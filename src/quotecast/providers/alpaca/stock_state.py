"""A stock's last price and daily bar, and the quote they form."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from quotecast.market.numbers import percent_change, timestamp_of, to_float
from quotecast.market.quotes import ExtendedHours, StockQuote
from quotecast.market.reference import Stock
from quotecast.market.sessions import (
    NEW_YORK,
    TradingDay,
    Unscheduled,
    actual_session_at,
    trading_days_until,
)
from quotecast.providers.alpaca.day_bar import TO_CLOSE, DailyHistory, DayBar, MinuteBar

#: A session ends with the first instant of the next one.
_INSTANT: Final = timedelta(microseconds=1)


class TradingSession(Struct, frozen=True):
    """The latest trading day that has begun, extended hours before the opening included."""

    day: TradingDay
    #: Whether the regular session of that day has opened.
    has_opened: bool
    unscheduled: Unscheduled | None = None


def latest_session(moment: datetime, unscheduled: Unscheduled | None = None) -> TradingSession:
    """Returns the latest session at an aware moment; `unscheduled` overrides the calendar."""
    days = trading_days_until(moment.astimezone(NEW_YORK).date())
    day = next(day for day in days if day.pre_open <= moment)
    if unscheduled is None or unscheduled.date < day.date:
        return TradingSession(day, day.open <= moment, unscheduled)
    opening, close = unscheduled.open, unscheduled.close
    if opening is None or close is None:
        return TradingSession(day, has_opened=False, unscheduled=unscheduled)
    if unscheduled.date > day.date:
        day = TradingDay(unscheduled.date, opening, opening, close, close)
    return TradingSession(day, day.open <= moment, unscheduled)


class LastPrice(Struct, frozen=True, gc=False):
    """A last price in US dollars, and the time of its trade."""

    price: Decimal
    time: datetime


class StockState(Struct, frozen=True, gc=False):
    """A stock's last price and its latest daily bar, neither adjusted for splits."""

    last: LastPrice
    day: DayBar | None = None

    def with_minute(self, minute: MinuteBar) -> "StockState":
        """Returns the state with a minute bar; its close is the last price unless a later one exists."""
        day = self.day.with_minute(minute) if self.day else None
        end = minute.start + TO_CLOSE
        if minute.close is None or end <= self.last.time:
            return replace(self, day=day)
        return replace(self, day=day, last=LastPrice(minute.close, end))

    def merge_snapshot(self, new: "StockState") -> "StockState":
        """Returns the state after a newer snapshot, which may lack parts or lag behind the stream."""
        if self.day is None:
            return new
        if new.day is None or self.day.is_newer_than(new.day):
            return replace(self, last=new.last)
        if new.day.date > self.day.date:
            return new
        return StockState(new.last, new.day.fill_gaps(self.day))

    def price(self, history: DailyHistory | None) -> Decimal:
        """Returns the last price in US dollars, split-adjusted to the session of `history`."""
        return history.adjust_for_split(self.last.price, self.last.time) if history else self.last.price

    def newest(self, history: DailyHistory | None) -> LastPrice:
        """Returns the last price, or the tape's close if that is newer, in the shares of `history`'s session.

        On the free plan the last trade is of IEX, where a stock may not trade for days.
        """
        close = history.last_close() if history else None
        if close is None or close[1] <= self.last.time:
            return LastPrice(self.price(history), self.last.time)
        return LastPrice(*close)

    def to_quote(
        self, stock: Stock, session: TradingSession, received: float, history: DailyHistory | None
    ) -> StockQuote:
        """Returns the quote at `received`, a Unix time within `session`.

        The previous close comes from `history`; without it, previous close and change are None.
        """
        newest = self.newest(history)
        price = newest.price
        day, previous = self._day_and_previous_close(session, history)
        timestamp = timestamp_of(newest.time, received)
        return StockQuote(
            ticker=stock.ticker,
            name=stock.name,
            price=float(price),
            change=None if previous is None else float(price - previous),
            change_percent=None if previous is None else percent_change(price, previous),
            open=to_float(day.open) if day else None,
            high=to_float(day.high) if day else None,
            low=to_float(day.low) if day else None,
            previous_close=to_float(previous),
            volume=None if day is None or day.volume is None else str(int(day.volume)),
            sector=stock.sector or "Other",
            industry=stock.industry or "Other",
            timestamp=timestamp,
            extended=_extended_hours(newest, timestamp, session, day, history),
        )

    def _day_and_previous_close(
        self, session: TradingSession, history: DailyHistory | None
    ) -> tuple[DayBar | None, Decimal | None]:
        """Returns the daily bar that the quote shows and its previous close, each None when unknown.

        A stock's day begins with the opening, or with its first extended-hours trade before it. Until then
        the quote shows the preceding day. A history of an earlier session has no previous close for today.
        """
        today = session.day.date
        if session.has_opened or self.last.time >= session.day.pre_open:
            quote_date: date | None = today
        elif history is None or history.session < today:
            quote_date = history.session if history else None
        else:
            quote_date = history.last_date_before(today)
        day = self.day if self.day and self.day.date == quote_date else None
        if history is None or quote_date is None or quote_date > history.session:
            return day, None
        # Earlier days come from `history`, because only its prices are adjusted for splits since then.
        if day is None or quote_date != history.session:
            day = history.day(quote_date)
        return day, history.close_before(quote_date)


def _extended_hours(
    last: LastPrice, timestamp: str, session: TradingSession, day: DayBar | None, history: DailyHistory | None
) -> ExtendedHours | UnsetType:
    """Returns the last price beside the regular close before it; unset within a regular session.

    After a close, the free plan has it 16 minutes later.
    """
    if session.day.open < last.time <= session.day.close and session.unscheduled is None:
        return UNSET
    hours = actual_session_at(last.time - _INSTANT, session.unscheduled)
    date, close = last.time.astimezone(NEW_YORK).date(), None
    if hours == "pre":
        close = history.close_before(date) if history else None
    elif hours == "post":
        day = day if day and day.date == date else history.day(date) if history else None
        close = day.close if day else None
    if hours not in ("pre", "post") or close is None:
        return UNSET
    return ExtendedHours(
        session=hours,
        price=float(last.price),
        change=float(last.price - close),
        change_percent=percent_change(last.price, close),
        close=float(close),
        timestamp=timestamp,
    )


def to_utc(unix_time: float) -> datetime:
    """Returns a Unix time as an aware datetime in UTC."""
    return datetime.fromtimestamp(unix_time, UTC)
