"""Bars of stocks with the hours before and after the regular sessions, where the upstream has them."""

from datetime import timedelta
from typing import Final, Literal

from msgspec.structs import replace

from quotecast.api.bars.market import RESTING_SECONDS, Market
from quotecast.api.bars.sources import history_of
from quotecast.api.market.services import Services
from quotecast.errors import ProviderMissing
from quotecast.market.bars import Interval
from quotecast.market.calendars import Exchange, is_open
from quotecast.providers.base import ExtendedHistoryProvider

#: The sessions whose trades are in the bars of an answer.
Hours = Literal["regular", "extended"]

#: Longer bars would begin at other times than those of regular hours, which the feed continues.
_INTERVALS: Final[tuple[Interval, ...]] = ("1m", "5m", "15m", "30m")


def extend_hours(services: Services, market: Market, interval: Interval) -> Market | None:
    """Returns the market of extended hours; None where the upstream has no bars of them.

    Simulated and recorded markets have sessions of their own, and our own bars end with the regular session.
    """
    if interval not in _INTERVALS or not isinstance(market.calendar, Exchange):
        return None
    try:
        history = history_of(services, market)
    except ProviderMissing:
        return None
    if not isinstance(history, ExtendedHistoryProvider):
        return None
    calendar, pause = market.calendar.extended(), timedelta(seconds=RESTING_SECONDS)
    resting = not is_open(calendar, market.moment - pause) and not is_open(calendar, market.moment + pause)
    return replace(market, calendar=calendar, resting=resting)


def hours_of(market: Market) -> Hours:
    """Returns the hours of a market's bars."""
    return "extended" if isinstance(market.calendar, Exchange) and market.calendar.is_extended else "regular"
