"""Resolutions of TradingView, and the times of its bars."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import Final
from zoneinfo import ZoneInfo

from quotecast.api.bars.queries import opening_of
from quotecast.market.bars import LENGTHS, Bar, Interval
from quotecast.market.calendars import Calendar, Exchange
from quotecast.market.feeds import Feed

#: Time zones of the venues, as TradingView names them.
ZONES: Final[Mapping[Feed, str]] = {
    Feed.STOCKS: "America/New_York",
    Feed.CRYPTO: "Etc/UTC",
    Feed.DOVIZ: "Europe/Istanbul",
}
#: Every resolution that some instrument has bars of, the finest first.
RESOLUTIONS: Final[Mapping[str, Interval]] = {
    "1": "1m",
    "5": "5m",
    "15": "15m",
    "30": "30m",
    "60": "1h",
    "240": "4h",
    "1D": "D",
    "1W": "W",
    "1M": "M",
}

#: Stocks have no bars of half an hour; a chart makes them of those of a quarter.
_NOT_OF_STOCKS: Final = "30"
#: The chart counts long bars from the opening, at 9:30, and the service counts them from midnight: a chart
#: makes its own of these.
_SESSION_RESOLUTIONS: Final = ("1", "5", "15", "1D", "1W", "1M")


def resolutions_of(feed: Feed, calendar: Calendar) -> list[str]:
    """Returns the resolutions of an instrument's bars, the finest first."""
    if isinstance(calendar, Exchange):
        return [*_SESSION_RESOLUTIONS]
    return [each for each in RESOLUTIONS if feed is not Feed.STOCKS or each != _NOT_OF_STOCKS]


def chart_time(bar: Bar, feed: Feed, interval: Interval) -> int:
    """Returns the Unix time by which charts know a bar.

    Bars of a day or longer are at midnight UTC of their first trading day, whatever the venue's time zone.
    """
    return chart_time_of(opening_of(bar), feed, interval)


def chart_time_of(opened: int, feed: Feed, interval: Interval) -> int:
    """Returns the Unix time by which charts know a bar that opens at a Unix time."""
    if interval in LENGTHS:
        return opened
    day = datetime.fromtimestamp(opened, ZoneInfo(ZONES[feed])).date()
    return int(datetime.combine(day, time(), UTC).timestamp())


def opening_bound(seconds: int, feed: Feed, interval: Interval) -> int:
    """Returns the Unix time before which exactly the bars before a chart's time open."""
    if interval in LENGTHS:
        return seconds
    day = date.fromordinal(date(1970, 1, 1).toordinal() - (-seconds // 86_400))
    return int(datetime.combine(day, time(), ZoneInfo(ZONES[feed])).timestamp())
