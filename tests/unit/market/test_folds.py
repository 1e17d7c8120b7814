"""Own bars folded into longer ones: the openings, and the work that they cost."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest

from quotecast.market.aggregate import fold_bars
from quotecast.market.bars import Interval, opening_of_bar
from quotecast.market.calendars import EXCHANGE, ISTANBUL_DAYS, UTC_DAYS, Calendar, VenueDay
from quotecast.market.own_bars import OwnBar

#: Two weeks before the clocks change in New York.
START = datetime(2026, 10, 18, tzinfo=UTC)


class Counting:
    """A calendar that counts look-ups."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self.calls = 0

    def until(self, moment: datetime) -> Iterator[VenueDay]:
        self.calls += 1
        return self._calendar.until(moment)

    def first_from(self, day: date) -> VenueDay:
        self.calls += 1
        return self._calendar.first_from(day)


def quarters(days: int) -> list[OwnBar]:
    opened = (int(START.timestamp()) + 900 * number for number in range(96 * days))
    return [OwnBar(each, 1.0, 2.0, 0.5, 1.5, 3.0, 1) for each in opened]


@pytest.mark.parametrize("calendar", [EXCHANGE, UTC_DAYS, ISTANBUL_DAYS])
@pytest.mark.parametrize("interval", ["30m", "1h", "4h"])
def test_folded_bars_open_where_the_calendar_says(calendar: Calendar, interval: Interval) -> None:
    """Also where the clocks change, and outside trading hours there is none."""
    moments = (datetime.fromtimestamp(bar.opened, UTC) for bar in quarters(30))
    openings = (opening_of_bar(calendar, interval, moment) for moment in moments)
    expected = [int(opening.timestamp()) for opening in openings if opening is not None]
    folded = fold_bars(quarters(30), interval, calendar)
    assert [bar.opened for bar in folded] == sorted(set(expected))
    assert sum(bar.updates for bar in folded) == len(expected)


def test_a_fold_looks_each_day_up_once() -> None:
    """A request may fold bars of fifty symbols, while the feeds of all clients wait for the event loop."""
    counting = Counting(UTC_DAYS)
    fold_bars(quarters(30), "4h", counting)
    assert counting.calls <= (timedelta(days=30) + timedelta(days=1)).days
