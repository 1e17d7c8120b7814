"""The rules by which bars are made, each with an example."""

from datetime import UTC, date, datetime
from typing import Final

from msgspec.structs import replace

from quotecast.market.bar_making import BarMaker, slot_of
from quotecast.market.calendars import EXCHANGE, ISTANBUL_DAYS, UTC_DAYS, Exchange
from quotecast.market.own_bars import OwnBar, VenueBar
from quotecast.market.quotes import Quote, StockQuote
from quotecast.market.sessions import Unscheduled
from support.made.market import doviz, pair, stock

#: Monday, 2026-11-23, half past nine in New York.
OPEN: Final = 1_795_444_200


def at(quote: Quote, unix_time: float) -> Quote:
    return replace(quote, timestamp=f"{datetime.fromtimestamp(unix_time, UTC):%Y-%m-%dT%H:%M:%S}.000Z")


def traded(price: float, unix_time: float, volume: int = 1000) -> StockQuote:
    quote = at(replace(stock("AAPL", price), volume=str(volume)), unix_time)
    assert isinstance(quote, StockQuote)
    return quote


class Venue:
    """A maker that hears quotes at the time of their timestamps, or later."""

    def __init__(self, maker: BarMaker) -> None:
        self.maker = maker
        self.final: list[tuple[str, OwnBar]] = []
        self.before: Quote | None = None

    def hear(self, quote: Quote, now: float) -> None:
        self.wait(now)
        self.maker.add(quote, self.before, int(now))
        self.before = quote

    def wait(self, now: float) -> None:
        for closing in self.maker.close(int(now)):
            for interval, bars in closing.bars.items():
                self.final += [(interval, bar) for bar in bars.values()]

    def bars(self, interval: str) -> list[OwnBar]:
        return [bar for length, bar in self.final if length == interval]


def nyse() -> Venue:
    return Venue(BarMaker(EXCHANGE))


def test_a_minute_has_the_prices_and_the_volume_of_its_updates() -> None:
    venue = nyse()
    for second, price, volume in ((0, 10.0, 1000), (20, 12.0, 1050), (40, 9.0, 1070), (59, 11.0, 1100)):
        venue.hear(traded(price, OPEN + second, volume), OPEN + second)
    venue.wait(OPEN + 62)
    assert venue.bars("1m") == [OwnBar(OPEN, 10.0, 12.0, 9.0, 11.0, 100.0, 4)]


def test_a_minute_closes_two_seconds_after_its_end() -> None:
    """An update of the minute still counts until then, and no later one does."""
    venue = nyse()
    venue.hear(traded(10.0, OPEN), OPEN)
    venue.hear(traded(20.0, OPEN + 59), OPEN + 61)
    assert not venue.final
    venue.hear(traded(30.0, OPEN + 59), OPEN + 62)
    venue.wait(OPEN + 122)
    assert [(bar.opened - OPEN, bar.close, bar.updates) for bar in venue.bars("1m")] == [
        (0, 20.0, 2),
        (60, 30.0, 1),
    ]


def test_an_update_that_is_later_than_ten_minutes_counts_nowhere() -> None:
    venue = nyse()
    venue.wait(OPEN + 700)
    venue.hear(traded(10.0, OPEN), OPEN + 700)
    venue.wait(OPEN + 7000)
    assert (venue.final, venue.maker.late) == ([], 1)


def test_a_timestamp_ahead_of_the_feed_counts_now() -> None:
    venue = nyse()
    venue.hear(traded(10.0, OPEN + 90), OPEN + 30)
    venue.wait(OPEN + 62)
    assert [bar.opened for bar in venue.bars("1m")] == [OPEN]


def test_there_are_no_bars_outside_trading_hours() -> None:
    """The volume before the opening is in no bar."""
    venue = nyse()
    venue.hear(traded(10.0, OPEN - 3600, 500), OPEN - 3600)
    venue.hear(traded(10.0, OPEN - 60, 800), OPEN - 60)
    venue.hear(traded(11.0, OPEN, 900), OPEN)
    venue.wait(OPEN + 62)
    assert venue.final == [("1m", OwnBar(OPEN, 11.0, 11.0, 11.0, 11.0, 100.0, 1))]


def test_a_new_day_begins_at_volume_0() -> None:
    """A day's volume that falls is corrected: it counts again above its highest value only."""
    venue = nyse()
    day = 86_400
    for now, volume in ((OPEN, 1000), (OPEN + day, 300), (OPEN + day + 1, 250), (OPEN + day + 2, 310)):
        venue.hear(traded(10.0 + now % 7, now, volume), now)
    venue.wait(OPEN + day + 62)
    assert [bar.volume for bar in venue.bars("1m")] == [0.0, 310.0]


def test_a_volume_of_24_hours_that_falls_adds_nothing() -> None:
    venue = Venue(BarMaker(UTC_DAYS))
    for second, volume in ((0, 5.0), (1, 5.25), (2, 4.0), (3, 4.5)):
        venue.hear(at(replace(pair(price=1.0 + second), volume=volume), OPEN + second), OPEN + second)
    venue.wait(OPEN + 62)
    assert [bar.volume for bar in venue.bars("1m")] == [0.75]


def test_volume_of_another_exchange_has_a_count_of_its_own() -> None:
    venue = Venue(BarMaker(UTC_DAYS))
    venue.hear(at(replace(pair(price=1.0), volume=5.0), OPEN), OPEN)
    venue.hear(at(replace(pair(price=2.0), volume=9000.0, provider="other"), OPEN + 1), OPEN + 1)
    venue.hear(at(replace(pair(price=3.0), volume=9001.0, provider="other"), OPEN + 2), OPEN + 2)
    venue.wait(OPEN + 62)
    assert [(bar.volume, bar.updates) for bar in venue.bars("1m")] == [(1.0, 3)]


def test_doviz_has_no_volume() -> None:
    venue = Venue(BarMaker(ISTANBUL_DAYS))
    venue.hear(at(doviz(price=4000.5), OPEN), OPEN)
    venue.wait(OPEN + 62)
    assert venue.bars("1m") == [OwnBar(OPEN, 4000.5, 4000.5, 4000.5, 4000.5, None, 1)]


def test_coarser_bars_end_with_their_interval_without_an_update() -> None:
    venue = nyse()
    venue.hear(traded(10.0, OPEN + 60), OPEN + 60)
    venue.hear(traded(12.0, OPEN + 130), OPEN + 130)
    venue.wait(OPEN + 301)
    assert not venue.bars("5m")
    venue.wait(OPEN + 302)
    assert venue.bars("5m") == [OwnBar(OPEN, 10.0, 12.0, 10.0, 12.0, 0.0, 2)]
    venue.wait(OPEN + 23_402)
    assert [venue.bars(interval)[0].opened for interval in ("15m", "1h", "D")] == [OPEN, OPEN, OPEN - 34_200]


def test_a_session_that_ends_early_ends_the_day() -> None:
    """Both one of the calendar and one that the exchange announces today."""
    closes = datetime(2026, 11, 23, 18, tzinfo=UTC)
    day = Unscheduled(
        date=date(2026, 11, 23),
        open=datetime.fromtimestamp(OPEN, UTC),
        close=closes,
        is_open=True,
        next_open=closes,
        next_close=closes,
    )
    slot = slot_of(Exchange(day), OPEN)
    assert slot is not None
    assert slot["D"][1] == closes.timestamp()
    assert slot_of(Exchange(day), int(closes.timestamp())) is None
    after_thanksgiving = OPEN + 4 * 86_400
    slot = slot_of(EXCHANGE, after_thanksgiving)
    assert slot is not None
    assert slot["1h"] == (after_thanksgiving, after_thanksgiving + 1800)
    assert slot["D"][1] == after_thanksgiving + 12_600


def test_a_halt_of_the_exchange_ends_no_longer_bar() -> None:
    """When it trades again, its day and its hour go on: each bar becomes final once."""
    venue, halted_at = nyse(), OPEN + 1210
    venue.hear(traded(10.0, OPEN + 1200), OPEN + 1200)
    upcoming = datetime.fromtimestamp(OPEN + 86_400, UTC)
    halt = Unscheduled(
        date=date(2026, 11, 23),
        open=datetime.fromtimestamp(OPEN, UTC),
        close=datetime.fromtimestamp(halted_at, UTC),
        is_open=False,
        next_open=upcoming,
        next_close=upcoming,
    )
    venue.maker.use(Exchange(halt))
    venue.wait(OPEN + 1500)
    venue.maker.use(EXCHANGE)
    venue.hear(traded(12.0, OPEN + 1510), OPEN + 1510)
    venue.wait(OPEN + 23_402)
    for interval in ("1h", "D"):
        (bar,) = venue.bars(interval)
        assert (bar.open, bar.close, bar.updates) == (10.0, 12.0, 2)


def of_venue(opened: float, *, final: bool = True, volume: float | None = 7.0) -> VenueBar:
    return VenueBar("AAPL", OwnBar(int(opened), 10.5, 13.0, 8.0, 11.5, volume, 0), final)


def test_the_venues_bar_counts_in_place_of_the_quotes() -> None:
    """Before or after the first quote of the next minute; its updates are the quotes'."""
    for heard in (OPEN + 58, OPEN + 61):
        venue = nyse()
        venue.hear(traded(10.0, OPEN, 1000), OPEN)
        venue.hear(traded(12.0, OPEN + 30, 1050), OPEN + 30)
        if heard > OPEN + 60:
            venue.hear(traded(9.0, OPEN + 60, 1060), OPEN + 60)
        venue.maker.take(of_venue(OPEN), int(heard))
        venue.wait(OPEN + 122)
        assert venue.bars("1m")[0] == OwnBar(OPEN, 10.5, 13.0, 8.0, 11.5, 7.0, 2)


def test_quotes_extend_the_venues_bar_until_its_last_one() -> None:
    """Its volume has their trades already."""
    venue = nyse()
    venue.hear(traded(10.0, OPEN, 1000), OPEN)
    venue.maker.take(of_venue(OPEN, final=False), OPEN + 10)
    venue.hear(traded(14.0, OPEN + 20, 1090), OPEN + 20)
    assert venue.maker.progress_of("AAPL").minute == OwnBar(OPEN, 10.5, 14.0, 8.0, 14.0, 7.0, 2)  # type: ignore[union-attr]
    venue.maker.take(of_venue(OPEN), OPEN + 60)
    venue.hear(traded(99.0, OPEN + 59, 1100), OPEN + 60)
    venue.hear(traded(9.0, OPEN + 61, 1110), OPEN + 61)
    venue.wait(OPEN + 122)
    assert venue.bars("1m") == [
        OwnBar(OPEN, 10.5, 13.0, 8.0, 11.5, 7.0, 3),
        OwnBar(OPEN + 60, 9.0, 9.0, 9.0, 9.0, 10.0, 1),
    ]


def test_a_venues_bar_makes_a_minute_without_quotes() -> None:
    venue = nyse()
    venue.hear(traded(10.0, OPEN), OPEN)
    venue.maker.take(of_venue(OPEN + 60), OPEN + 120)
    venue.hear(traded(10.0, OPEN + 120), OPEN + 120)
    venue.wait(OPEN + 182)
    assert [bar.opened - OPEN for bar in venue.bars("1m")] == [0, 60, 120]


def test_a_venues_bar_of_a_closed_or_a_coming_minute_counts_nowhere() -> None:
    """Nor does one outside trading hours."""
    venue = nyse()
    venue.hear(traded(10.0, OPEN), OPEN)
    venue.wait(OPEN + 62)
    venue.maker.take(of_venue(OPEN), OPEN + 62)
    venue.maker.take(of_venue(OPEN + 120), OPEN + 62)
    venue.maker.take(of_venue(OPEN - 3600), OPEN + 62)
    venue.wait(OPEN + 242)
    assert [bar.close for bar in venue.bars("1m")] == [10.0]
    assert (venue.maker.late, venue.maker.corrections) == (2, 1)


def test_an_update_after_hours_that_comes_late_corrects_no_bar() -> None:
    """One of the session does, and a symbol's first update does not."""
    venue, close = nyse(), OPEN + 6.5 * 3600
    for stated, now, expected in (
        (OPEN, OPEN + 900, 0),
        (OPEN + 60, OPEN + 900, 1),
        (close - 60, close + 900, 2),
        (close + 60, close + 900, 2),
    ):
        venue.hear(traded(10.0, stated), now)
        assert venue.maker.corrections == expected
