"""What is known of a stock, and the quote that it makes."""

from datetime import UTC, date, datetime
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.quotes import StockQuote
from quotecast.market.sessions import NEW_YORK, TradingDay, Unscheduled, trading_days_until
from quotecast.providers.alpaca.day import MINUTE, Day, Minute
from quotecast.providers.alpaca.tape import Tape
from quotecast.providers.reference import Stock
from quotecast.providers.validation.values import percent_change, timestamp_of, to_float


class Session(Struct, frozen=True):
    """The newest trading day that has begun, with the hours before the opening."""

    day: TradingDay
    #: Whether the exchange has opened on that day.
    opened: bool


def session_of(moment: datetime, unscheduled: Unscheduled | None = None) -> Session:
    """The session an aware moment belongs to, with what the exchange does against its calendar."""
    days = trading_days_until(moment.astimezone(NEW_YORK).date())
    day = next(day for day in days if day.pre_open <= moment)
    if unscheduled is None or unscheduled.date < day.date:
        return Session(day, day.open <= moment)
    opening, close = unscheduled.open, unscheduled.close
    if opening is None or close is None:
        return Session(day, opened=False)
    if unscheduled.date > day.date:
        day = TradingDay(unscheduled.date, opening, opening, close, close)
    return Session(day, day.open <= moment)


class Last(Struct, frozen=True, gc=False):
    """The last price, in US dollars, and when it was made."""

    price: Decimal
    time: datetime


class Known(Struct, frozen=True, gc=False):
    """One stock's last price, and its latest day that has a bar, both as they were made."""

    last: Last
    day: Day | None = None

    def with_minute(self, minute: Minute) -> "Known":
        """The same with a minute bar, whose close is the price unless a later one is known."""
        day = self.day.with_minute(minute) if self.day else None
        end = minute.start + MINUTE
        if minute.close is None or end <= self.last.time:
            return replace(self, day=day)
        return replace(self, day=day, last=Last(minute.close, end))

    def followed_by(self, new: "Known") -> "Known":
        """The state after a newer snapshot, which may lack parts, or lag behind what was streamed."""
        if self.day is None:
            return new
        if new.day is None or self.day.is_ahead_of(new.day):
            return replace(self, last=new.last)
        if new.day.date > self.day.date:
            return new
        return Known(new.last, new.day.filled(self.day))

    def price(self, tape: Tape | None) -> Decimal:
        """The last price, in prices of the tape's session."""
        return tape.in_its_prices(self.last.price, self.last.time) if tape else self.last.price

    def to_quote(self, stock: Stock, session: Session, received: float, tape: Tape | None) -> StockQuote:
        """The quote at `received`, a Unix time that falls into `session`; the close before is the tape's."""
        price = self.price(tape)
        day, previous = self._as_of(session, tape)
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
            timestamp=timestamp_of(self.last.time, received),
        )

    def _as_of(self, session: Session, tape: Tape | None) -> tuple[Day | None, Decimal | None]:
        """The day that the quote is about, if it has a bar, and the close before it.

        A day begins for a stock with the opening, or with its first trade before hours. Until then the quote
        is about the day before. A tape of an earlier session knows no close before today's.
        """
        today = session.day.date
        if session.opened or self.last.time >= session.day.pre_open:
            shown: date | None = today
        elif tape is None or tape.session < today:
            shown = tape.session if tape else None
        else:
            shown = tape.last_date_before(today)
        day = self.day if self.day and self.day.date == shown else None
        if tape is None or shown is None or shown > tape.session:
            return day, None
        # Days before the session's are the tape's: a split since then counts in them.
        return (day if day and shown == tape.session else tape.day(shown)), tape.close_before(shown)


def aware(unix_time: float) -> datetime:
    """The moment of a Unix time, in UTC."""
    return datetime.fromtimestamp(unix_time, UTC)
