"""What is known of a stock's day, and how minute by minute and snapshot by snapshot it becomes more."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.sessions import NEW_YORK, session_at

MINUTE: Final = timedelta(minutes=1)


class MinuteBar(Struct, frozen=True, gc=False):
    """A minute's trading: when it began, and what of its prices and volume is known."""

    start: datetime
    high: Decimal | None
    low: Decimal | None
    close: Decimal | None
    volume: Decimal | None


class DayBar(Struct, frozen=True, gc=False):
    """A New York date's prices and volume."""

    date: date
    open: Decimal | None
    high: Decimal | None
    low: Decimal | None
    close: Decimal | None
    volume: Decimal | None
    #: The start of the latest minute that the volume counts in; None when it is not known.
    minute_start: datetime | None
    #: How much of that minute's volume is counted in.
    minute_volume: Decimal | None

    def is_newer_than(self, other: "DayBar") -> bool:
        """Whether it is a later day, or counts in a later minute of the same."""
        if self.date != other.date:
            return self.date > other.date
        if self.minute_start is None or other.minute_start is None:
            return False
        return self.minute_start > other.minute_start

    def with_minute(self, minute: MinuteBar) -> "DayBar":
        """The day with a minute that may be counted in already, wholly or in part, or be another day's.

        Outside the regular session trades count in the day's volume alone, as they do on the tapes.
        """
        if minute.start.astimezone(NEW_YORK).date() != self.date:
            return self
        if self.minute_start is not None and minute.start < self.minute_start:
            return self
        day = self._add_volume(minute)
        if session_at(minute.start) != "regular":
            return day
        high, low = _highest(self.high, minute.high), _lowest(self.low, minute.low)
        return replace(day, high=high, low=low, close=minute.close or self.close)

    def fill_gaps(self, before: "DayBar") -> "DayBar":
        """The day, with what it lacks taken from an earlier state of the same day."""
        return replace(
            self,
            open=self.open or before.open,
            high=self.high or before.high,
            low=self.low or before.low,
            close=self.close or before.close,
            volume=before.volume if self.volume is None else self.volume,
        )

    def _add_volume(self, minute: MinuteBar) -> "DayBar":
        # Without knowing which minutes are counted in, volume waits for the next snapshot.
        if self.volume is None or self.minute_start is None or minute.volume is None:
            return self
        counted = self.minute_volume or Decimal(0) if minute.start == self.minute_start else Decimal(0)
        more = max(minute.volume - counted, Decimal(0))
        return replace(
            self, volume=self.volume + more, minute_start=minute.start, minute_volume=counted + more
        )


def _highest(known: Decimal | None, new: Decimal | None) -> Decimal | None:
    return max((value for value in (known, new) if value is not None), default=None)


def _lowest(known: Decimal | None, new: Decimal | None) -> Decimal | None:
    return min((value for value in (known, new) if value is not None), default=None)
