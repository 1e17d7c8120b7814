"""Trading hours and times of bars in TradingView's notation."""

from datetime import UTC, date, datetime, timedelta

import pytest

from quotecast.api.integrations.udf.instruments import FIRST_YEAR, hours_of
from quotecast.api.integrations.udf.resolutions import chart_time_of, opening_bound
from quotecast.market.bars import Interval, opening_of_bar
from quotecast.market.calendars import EXCHANGE, ISTANBUL_DAYS, UTC_DAYS, Calendar, Exchange
from quotecast.market.feeds import Feed
from quotecast.market.sessions import NEW_YORK, Unscheduled, trading_day

NOW = datetime(2026, 11, 20, 15, 30, tzinfo=UTC)


def test_the_exchange_has_its_holidays_and_half_days() -> None:
    hours = hours_of(EXCHANGE, NOW)
    assert hours.session == "0930-1600"
    holidays = hours.session_holidays.split(",")
    assert {"20261126", "20261225", "20250109", "20010911"} <= set(holidays)
    assert hours.corrections.startswith("0930-1300:")
    assert {"20261127", "20261224"} <= set(hours.corrections.partition(":")[2].split(","))


def test_each_weekday_is_a_session_a_holiday_or_a_half_day() -> None:
    """What the calendar says of each weekday is in exactly one of the three fields."""
    hours = hours_of(EXCHANGE, NOW)
    closed = set(hours.session_holidays.split(","))
    short = set(hours.corrections.partition(":")[2].split(","))
    day = date(FIRST_YEAR, 1, 1)
    while day.year <= NOW.year + 1:
        if day.weekday() < 5:
            sessions, name = trading_day(day), f"{day:%Y%m%d}"
            length = (sessions.close - sessions.open) if sessions else None
            assert (name in closed) is (length is None)
            assert (name in short) is (length == timedelta(hours=3, minutes=30))
        day += timedelta(days=1)


def test_dates_of_corrections_are_the_latest_first() -> None:
    dates = hours_of(EXCHANGE, NOW).corrections.partition(":")[2].split(",")
    assert dates == sorted(dates, reverse=True)


def test_a_halt_of_today_is_a_correction() -> None:
    """The exchange's own clock deviates from its calendar."""
    special = Unscheduled(
        date=NOW.date(),
        open=datetime(2026, 11, 20, 9, 30, tzinfo=NEW_YORK),
        close=datetime(2026, 11, 20, 11, 45, tzinfo=NEW_YORK),
        is_open=True,
        next_open=NOW,
        next_close=NOW,
    )
    assert "0930-1145:20261120" in hours_of(Exchange(special), NOW).corrections.split(";")


@pytest.mark.parametrize("calendar", [UTC_DAYS, ISTANBUL_DAYS])
def test_a_venue_that_never_closes_has_one_session(calendar: Calendar) -> None:
    hours = hours_of(calendar, NOW)
    assert (hours.session, hours.session_holidays, hours.corrections) == ("24x7", "", "")


@pytest.mark.parametrize(
    ("feed", "interval", "at", "time"),
    [
        (Feed.STOCKS, "1m", "2026-11-20T15:30", "2026-11-20T15:30"),
        # Midnight in New York.
        (Feed.STOCKS, "D", "2026-11-20T05:00", "2026-11-20T00:00"),
        (Feed.STOCKS, "D", "2026-07-20T04:00", "2026-07-20T00:00"),
        # The first trading day of the year.
        (Feed.STOCKS, "M", "2026-01-02T05:00", "2026-01-02T00:00"),
        (Feed.CRYPTO, "W", "2026-11-16T00:00", "2026-11-16T00:00"),
        # Midnight in Istanbul is still the day before in UTC.
        (Feed.DOVIZ, "D", "2026-11-19T21:00", "2026-11-20T00:00"),
        (Feed.DOVIZ, "1h", "2026-11-19T21:00", "2026-11-19T21:00"),
    ],
)
def test_days_are_at_midnight_utc_of_their_trading_day(
    feed: Feed, interval: Interval, at: str, time: str
) -> None:
    opened, expected = (int(datetime.fromisoformat(f"{each}Z").timestamp()) for each in (at, time))
    assert chart_time_of(opened, feed, interval) == expected


@pytest.mark.parametrize("feed", Feed)
@pytest.mark.parametrize("interval", ["1m", "1h", "D"])
def test_a_bound_of_a_chart_cuts_where_its_times_do(feed: Feed, interval: Interval) -> None:
    """A bar opens before the bound exactly if its time is before the chart's."""
    calendar = feed.spec.always_open
    for hour in range(200):
        moment = NOW + timedelta(hours=hour)
        opened = opening_of_bar(calendar, interval, moment)
        assert opened is not None
        for seconds in (-90_000, -86_400, -3_600, -1, 0, 1, 3_600, 86_400, 90_000):
            to = int(moment.timestamp()) + seconds
            is_before = chart_time_of(int(opened.timestamp()), feed, interval) < to
            assert (opened.timestamp() < opening_bound(to, feed, interval)) is is_before
