"""Aggregation of bars into longer ones that an upstream does not offer."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from quotecast.market.bars import LENGTHS, Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import Calendar
from quotecast.market.own_bars import OwnBar, extend


def aggregate_bars(bars: Sequence[Bar], interval: Interval, calendar: Calendar) -> list[Bar]:
    """Returns ascending bars of `interval`, aggregated from ascending finer bars.

    `opening_of_bar` gives their times. Finer bars outside the calendar's trading hours are left out. The
    first and the last bar cover only the finer bars given.
    """
    openings = (_opening_at(datetime.fromisoformat(bar.time), interval, calendar) for bar in bars)
    inside = ((opening, bar) for opening, bar in zip(openings, bars, strict=True) if opening)
    return [_merge_bars(opening, group) for opening, group in groupby(inside, key=itemgetter(0))]


def fold_bars(bars: Sequence[OwnBar], interval: Interval, calendar: Calendar) -> list[OwnBar]:
    """Returns ascending bars of `interval`, folded from ascending finer bars of our own."""
    openings = _openings_in_days if interval in LENGTHS else _openings_of_days
    folded: list[OwnBar] = []
    for bar, opened in openings(bars, interval, calendar):
        if folded and folded[-1].opened == opened:
            folded[-1] = extend(folded[-1], bar, opened)
        else:
            folded.append(extend(None, bar, opened))
    return folded


def _openings_in_days(
    bars: Sequence[OwnBar], interval: Interval, calendar: Calendar
) -> Iterator[tuple[OwnBar, int]]:
    """Yields bars with their openings, as `opening_of_bar` gives them.

    It looks each trading day up once: a window of four-hour bars has thousands of hours.
    """
    length = int(LENGTHS[interval].total_seconds())
    midnight = opens = closes = 0
    for bar in bars:
        if not opens <= bar.opened < closes:
            day = next(calendar.until(datetime.fromtimestamp(bar.opened, UTC)))
            midnight, opens, closes = (int(each.timestamp()) for each in (day.midnight, day.open, day.close))
        if bar.opened < closes:
            yield bar, max(opens, bar.opened - (bar.opened - midnight) % length)


def _openings_of_days(
    bars: Sequence[OwnBar], interval: Interval, calendar: Calendar
) -> Iterator[tuple[OwnBar, int]]:
    """Yields daily bars with the openings of their week or month."""
    for bar in bars:
        opened = _opening_of_day(bar.opened, interval, calendar)
        if opened is not None:
            yield bar, opened


# All symbols' days open at the same times.
@lru_cache(maxsize=16_384)
def _opening_of_day(opened: int, interval: Interval, calendar: Calendar) -> int | None:
    opening = _opening_at(datetime.fromtimestamp(opened, UTC), interval, calendar)
    return int(opening.timestamp()) if opening is not None else None


def _opening_at(moment: datetime, interval: Interval, calendar: Calendar) -> datetime | None:
    if interval not in LENGTHS:
        # Daily bars carry midnight, when an exchange is closed.
        following = calendar.first_from(next(calendar.until(moment)).date + timedelta(days=1))
        moment = following.open if following.midnight == moment else moment
    return opening_of_bar(calendar, interval, moment)


def _merge_bars(opening: datetime, group: Iterator[tuple[datetime, Bar]]) -> Bar:
    parts = [bar for _, bar in group]
    return Bar(
        time=bar_time(opening),
        open=parts[0].open,
        high=max(bar.high for bar in parts),
        low=min(bar.low for bar in parts),
        close=parts[-1].close,
        # Decimals, because a sum of floats shows rounding errors.
        volume=float(sum(Decimal(str(bar.volume)) for bar in parts)),
    )
