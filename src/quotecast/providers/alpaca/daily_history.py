"""A stock's recent daily bars on the consolidated tape, split-adjusted: the source of its previous close."""

from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Final

from msgspec import Struct

from quotecast.market.sessions import NEW_YORK, trading_day
from quotecast.providers.alpaca.day_bar import DayBar

_ONE: Final = Decimal(1)


class DailyHistory(Struct, frozen=True, gc=False):
    """Daily bars up to `session`, ascending, in prices of that session.

    `split_ratio` is the number of new shares for one old share: 4 on the morning of a 4:1 split, 0.1 on that
    of a 1:10 reverse split, 1 on every other day.
    """

    session: date
    days: Sequence[DayBar] = ()
    split_ratio: Decimal = _ONE

    def day(self, trading_date: date | None) -> DayBar | None:
        """Returns the daily bar of a date; None for a date without trades."""
        return next((day for day in self.days if day.date == trading_date), None)

    def last_date_before(self, limit: date) -> date | None:
        """Returns the latest date with trades before `limit`."""
        return max((day.date for day in self.days if day.date < limit), default=None)

    def close_before(self, limit: date) -> Decimal | None:
        """Returns the close of the latest trading day before `limit`; None without one."""
        day = self.day(self.last_date_before(limit))
        return day.close if day else None

    def last_close(self) -> tuple[Decimal, datetime] | None:
        """Returns the newest close, and the time at which its session ended."""
        last = next((day for day in reversed(self.days) if day.close), None)
        session = trading_day(last.date) if last else None
        return (last.close, session.close) if last and last.close and session else None

    def adjust_for_split(self, price: Decimal, moment: datetime) -> Decimal:
        """Returns a price adjusted to the session's shares.

        A price from before the session's date is divided by the split ratio.
        """
        midnight = datetime.combine(self.session, time(), NEW_YORK)
        return price / self.split_ratio if moment < midnight else price


def daily_history(session: date, adjusted: Sequence[DayBar], raw: Sequence[DayBar]) -> DailyHistory:
    """Returns a stock's history from its split-adjusted daily bars and the same bars unadjusted.

    The split ratio is the unadjusted close of the last day before the session divided by its adjusted close.
    """
    closes = {day.date: day.close for day in raw}
    pairs = [(closes.get(day.date), day.close) for day in adjusted if day.date < session]
    ratios = [before / after for before, after in pairs if before and after]
    return DailyHistory(session, adjusted, ratios[-1] if ratios else _ONE)
