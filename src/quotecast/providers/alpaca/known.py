"""What is known of a stock, and the quote that it makes."""

from datetime import UTC, datetime
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.quotes import StockQuote
from quotecast.market.sessions import NEW_YORK, TradingDay, trading_days_until
from quotecast.providers.alpaca.day import MINUTE, Day, Minute
from quotecast.providers.reference import Stock
from quotecast.providers.values import percent_change, stamped, to_float


class Session(Struct, frozen=True):
    """The newest trading day that has begun, with the hours before the opening."""

    day: TradingDay
    #: Whether the exchange has opened on that day.
    opened: bool


def session_of(moment: datetime, *, shut: bool = False) -> Session:
    """The session an aware moment belongs to; `shut` when the exchange did not open though it should."""
    days = trading_days_until(moment.astimezone(NEW_YORK).date())
    day = next(day for day in days if day.pre_open <= moment)
    return Session(day, day.open <= moment and not shut)


class Last(Struct, frozen=True, gc=False):
    """The last price, in US dollars, and when it was made."""

    price: Decimal
    time: datetime


class Known(Struct, frozen=True, gc=False):
    """One stock's last price, its latest day that has a bar, and the close before that day."""

    last: Last
    day: Day | None = None
    close_before: Decimal | None = None

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
            return replace(new, close_before=new.close_before or self.close_before)
        if new.day is None or self.day.is_ahead_of(new.day):
            return replace(self, last=new.last)
        if new.day.date > self.day.date:
            return new
        return Known(new.last, new.day.filled(self.day), new.close_before or self.close_before)

    def to_quote(self, stock: Stock, session: Session, received: float) -> StockQuote:
        """The quote at `received`, a Unix time that falls into `session`.

        Before the first bar of a day that has begun for the stock, the latest bar is another day's: its
        close is the previous close, and its other prices and its volume are not the day's.
        """
        day, previous = self._as_of(session)
        return StockQuote(
            ticker=stock.ticker,
            name=stock.name,
            price=float(self.last.price),
            change=None if previous is None else float(self.last.price - previous),
            change_percent=None if previous is None else percent_change(self.last.price, previous),
            open=to_float(day.open) if day else None,
            high=to_float(day.high) if day else None,
            low=to_float(day.low) if day else None,
            previous_close=to_float(previous),
            volume=None if day is None or day.volume is None else str(int(day.volume)),
            sector=stock.sector or "Other",
            industry=stock.industry or "Other",
            timestamp=stamped(self.last.time, received),
        )

    def _as_of(self, session: Session) -> tuple[Day | None, Decimal | None]:
        """The day that the session has a bar of, and the close before it."""
        if self.day is None or self.day.date >= session.day.date:
            return self.day, self.close_before
        begun = session.opened or self.last.time >= session.day.pre_open
        return (None, self.day.close) if begun else (self.day, self.close_before)


def aware(unix_time: float) -> datetime:
    """The moment of a Unix time, in UTC."""
    return datetime.fromtimestamp(unix_time, UTC)
