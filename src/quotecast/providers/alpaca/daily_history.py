"""A stock's last days on the whole tape, split-adjusted: the source of its previous close."""

from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Final

from msgspec import Struct

from quotecast.market.sessions import NEW_YORK
from quotecast.providers.alpaca.day_bar import DayBar

_ONE: Final = Decimal(1)


class DailyHistory(Struct, frozen=True, gc=False):
    """The last days up to a session, ascending, in prices of that session.

    `factor` is the number of the session's shares that one older share has become: 4 on the morning of a 4:1
    split, 0.1 on that of a 1:10 reverse split, 1 on every other day.
    """

    session: date
    days: Sequence[DayBar] = ()
    split_ratio: Decimal = _ONE

    def day(self, wanted: date | None) -> DayBar | None:
        """Returns one of the days; None for a date without trades."""
        return next((day for day in self.days if day.date == wanted), None)

    def last_date_before(self, limit: date) -> date | None:
        """Returns the newest date with trades before another."""
        return max((day.date for day in self.days if day.date < limit), default=None)

    def close_before(self, limit: date) -> Decimal | None:
        """Returns the close of the newest day before a date."""
        day = self.day(self.last_date_before(limit))
        return day.close if day else None

    def adjust_for_split(self, price: Decimal, moment: datetime) -> Decimal:
        """Returns a price in prices of the session; the split divides those of the days before."""
        midnight = datetime.combine(self.session, time(), NEW_YORK)
        return price / self.split_ratio if moment < midnight else price


def daily_history(session: date, adjusted: Sequence[DayBar], raw: Sequence[DayBar]) -> DailyHistory:
    """Returns the tape of a stock from its split-adjusted days and the same days as they were.

    The two closes of the last day before the session differ by the splits that came since.
    """
    closes = {day.date: day.close for day in raw}
    pairs = [(closes.get(day.date), day.close) for day in adjusted if day.date < session]
    known = [before / after for before, after in pairs if before and after]
    return DailyHistory(session, adjusted, known[-1] if known else _ONE)
