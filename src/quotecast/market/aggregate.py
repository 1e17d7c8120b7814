"""Aggregation of bars into longer ones that an upstream does not offer."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import groupby

from quotecast.market.bars import LENGTHS, Bar, Interval, bar_time, opening_of_bar
from quotecast.market.calendars import Calendar
from quotecast.market.own_bars import OwnBar, extend


def aggregate_bars(bars: Sequence[Bar], interval: Interval, calendar: Calendar) -> list[Bar]:
    """Returns ascending bars of `interval`, aggregated from ascending finer bars.

    `opening_of_bar` gives their times. Finer bars outside the calendar's trading hours are left out. The
    first and the last bar cover only the finer bars given.
    """
    bars_by_opening = ((opening, bar) for bar in bars if (opening := _opening_of(bar, interval, calendar)))
    return [
        _merge_bars(opening, group) for opening, group in groupby(bars_by_opening, key=lambda pair: pair[0])
    ]


def fold_bars(bars: Sequence[OwnBar], interval: Interval, calendar: Calendar) -> list[OwnBar]:
    """Returns ascending bars of `interval`, folded from ascending finer bars of our own."""
    folded: list[OwnBar] = []
    for bar in bars:
        opening = _opening_at(datetime.fromtimestamp(bar.opened, UTC), interval, calendar)
        if opening is None:
            continue
        opened = int(opening.timestamp())
        if folded and folded[-1].opened == opened:
            folded[-1] = extend(folded[-1], bar, opened)
        else:
            folded.append(extend(None, bar, opened))
    return folded


def _opening_of(bar: Bar, interval: Interval, calendar: Calendar) -> datetime | None:
    return _opening_at(datetime.fromisoformat(bar.time), interval, calendar)


def _opening_at(moment: datetime, interval: Interval, calendar: Calendar) -> datetime | None:
    if interval not in LENGTHS:
        moment = _opening_if_midnight(moment, calendar)
    return opening_of_bar(calendar, interval, moment)


def _opening_if_midnight(moment: datetime, calendar: Calendar) -> datetime:
    """Returns the opening of the trading day whose midnight this is, else the moment itself.

    Daily bars carry midnight, when an exchange is closed.
    """
    following = calendar.first_from(next(calendar.until(moment)).date + timedelta(days=1))
    return following.open if following.midnight == moment else moment


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
