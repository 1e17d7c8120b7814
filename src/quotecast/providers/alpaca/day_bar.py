"""A stock's daily bar in progress, which minute bars and snapshots extend."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from quotecast.market.sessions import NEW_YORK, session_at

MINUTE: Final = timedelta(minutes=1)


class MinuteBar(Struct, frozen=True, gc=False):
    """A minute bar: start in UTC, prices in US dollars, volume in shares; unreadable values are None."""

    start: datetime
    high: Decimal | None
    low: Decimal | None
    close: Decimal | None
    volume: Decimal | None


class DayBar(Struct, frozen=True, gc=False):
    """The daily bar of a New York date: prices in US dollars, volume in shares."""

    date: date
    open: Decimal | None
    high: Decimal | None
    low: Decimal | None
    close: Decimal | None
    volume: Decimal | None
    #: Start of the latest minute bar that `volume` includes; None when unknown.
    minute_start: datetime | None
    #: Shares of that minute bar that `volume` includes.
    minute_volume: Decimal | None

    def is_newer_than(self, other: "DayBar") -> bool:
        """Returns whether the bar is of a later date, or includes a later minute of the same date."""
        if self.date != other.date:
            return self.date > other.date
        if self.minute_start is None or other.minute_start is None:
            return False
        return self.minute_start > other.minute_start

    def with_minute(self, minute: MinuteBar) -> "DayBar":
        """Returns the daily bar extended by a minute bar.

        A minute bar that the volume already includes, wholly or in part, adds the difference. A minute bar of
        another date changes nothing. Extended-hours minutes add volume and leave high, low and close
        unchanged, as on the tapes.
        """
        if minute.start.astimezone(NEW_YORK).date() != self.date:
            return self
        if self.minute_start is not None and minute.start < self.minute_start:
            return self
        day = self._add_volume(minute)
        if session_at(minute.start) != "regular":
            return day
        high = max(filter(None, (self.high, minute.high)), default=None)
        low = min(filter(None, (self.low, minute.low)), default=None)
        return replace(day, high=high, low=low, close=minute.close or self.close)

    def fill_gaps(self, before: "DayBar") -> "DayBar":
        """Returns the bar with its missing values taken from an earlier state of the same day."""
        return replace(
            self,
            open=self.open or before.open,
            high=self.high or before.high,
            low=self.low or before.low,
            close=self.close or before.close,
            volume=before.volume if self.volume is None else self.volume,
        )

    def _add_volume(self, minute: MinuteBar) -> "DayBar":
        # The volume waits for the next snapshot when it is unknown which minutes it includes.
        if self.volume is None or self.minute_start is None or minute.volume is None:
            return self
        counted = self.minute_volume or Decimal(0) if minute.start == self.minute_start else Decimal(0)
        more = max(minute.volume - counted, Decimal(0))
        return replace(
            self, volume=self.volume + more, minute_start=minute.start, minute_volume=counted + more
        )
