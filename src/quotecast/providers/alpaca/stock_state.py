"""What is known of a stock, and the quote that it makes."""

from datetime import UTC, date, datetime
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.quotes import StockQuote
from quotecast.market.sessions import NEW_YORK, TradingDay, Unscheduled, trading_days_until
from quotecast.providers.alpaca.daily_history import DailyHistory
from quotecast.providers.alpaca.day_bar import MINUTE, DayBar, MinuteBar
from quotecast.providers.reference import Stock
from quotecast.providers.validation.values import percent_change, stamped, to_float


class TradingSession(Struct, frozen=True):
    """The newest trading day that has begun, with the hours before the opening."""

    day: TradingDay
    #: Whether the exchange has opened on that day.
    opened: bool


def latest_session(moment: datetime, unscheduled: Unscheduled | None = None) -> TradingSession:
    """The session an aware moment belongs to, with what the exchange does against its calendar."""
    days = trading_days_until(moment.astimezone(NEW_YORK).date())
    day = next(day for day in days if day.pre_open <= moment)
    if unscheduled is None or unscheduled.date < day.date:
        return TradingSession(day, day.open <= moment)
    opening, close = unscheduled.open, unscheduled.close
    if opening is None or close is None:
        return TradingSession(day, opened=False)
    if unscheduled.date > day.date:
        day = TradingDay(unscheduled.date, opening, opening, close, close)
    return TradingSession(day, day.open <= moment)


class LastPrice(Struct, frozen=True, gc=False):
    """The last price, in US dollars, and when it was made."""

    price: Decimal
    time: datetime


class StockState(Struct, frozen=True, gc=False):
    """One stock's last price, and its latest day that has a bar, both as they were made."""

    last: LastPrice
    day: DayBar | None = None

    def with_minute(self, minute: MinuteBar) -> "StockState":
        """The same with a minute bar, whose close is the price unless a later one is known."""
        day = self.day.with_minute(minute) if self.day else None
        end = minute.start + MINUTE
        if minute.close is None or end <= self.last.time:
            return replace(self, day=day)
        return replace(self, day=day, last=LastPrice(minute.close, end))

    def merge_snapshot(self, new: "StockState") -> "StockState":
        """The state after a newer snapshot, which may lack parts, or lag behind what was streamed."""
        if self.day is None:
            return new
        if new.day is None or self.day.is_newer_than(new.day):
            return replace(self, last=new.last)
        if new.day.date > self.day.date:
            return new
        return StockState(new.last, new.day.fill_gaps(self.day))

    def price(self, history: DailyHistory | None) -> Decimal:
        """The last price, in prices of the session."""
        return history.adjust_for_split(self.last.price, self.last.time) if history else self.last.price

    def to_quote(
        self, stock: Stock, session: TradingSession, received: float, history: DailyHistory | None
    ) -> StockQuote:
        """The quote at `received`, a Unix time that falls into `session`; the close before is of `history`."""
        price = self.price(history)
        day, previous = self._day_and_previous_close(session, history)
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
            timestamp=stamped(self.last.time, received),
        )

    def _day_and_previous_close(
        self, session: TradingSession, history: DailyHistory | None
    ) -> tuple[DayBar | None, Decimal | None]:
        """The day that the quote is about, if it has a bar, and the close before it.

        A day begins for a stock with the opening, or with its first trade before hours. Until then the quote
        is about the day before. A history of an earlier session knows no close before today's.
        """
        today = session.day.date
        if session.opened or self.last.time >= session.day.pre_open:
            shown: date | None = today
        elif history is None or history.session < today:
            shown = history.session if history else None
        else:
            shown = history.last_date_before(today)
        day = self.day if self.day and self.day.date == shown else None
        if history is None or shown is None or shown > history.session:
            return day, None
        # Days before the session's are of `history`: a split since then counts in them.
        return (day if day and shown == history.session else history.day(shown)), history.close_before(shown)


def to_utc(unix_time: float) -> datetime:
    """The moment of a Unix time, in UTC."""
    return datetime.fromtimestamp(unix_time, UTC)
