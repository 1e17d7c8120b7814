"""The simulator under scenarios: what it sends, what its checks refuse, how its connections end."""

from collections.abc import Sequence
from contextlib import aclosing
from datetime import date, datetime
from itertools import pairwise

import pytest

from quotecast.errors import UpstreamError
from quotecast.market.calendars import Exchange
from quotecast.market.feeds import Feed
from quotecast.market.quotes import CryptoQuote, DovizQuote, Quote
from quotecast.market.sessions import NEW_YORK, Unscheduled, actual_session_at
from quotecast.providers.base import Update
from quotecast.providers.simulator.client import SimulatorProvider
from quotecast.simulation.market.financials import SimulatorFinancials
from quotecast.simulation.market.history import SimulatorHistory
from quotecast.simulation.market.invented import SimulatorAssets
from quotecast.simulation.market.news import SimulatorNews
from quotecast.simulation.market.quoters import iso
from quotecast.simulation.market.scenarios.base import SpecialDay
from quotecast.simulation.market.scenarios.planning import plan_of
from quotecast.simulation.market.scenarios.schedule import RETRY_SECONDS, Schedule
from quotecast.simulation.market.special_days import SpecialExchange

NOON = datetime(2026, 2, 13, 12, tzinfo=NEW_YORK).timestamp()
NOON_MS = int(NOON * 1000)


class Clock:
    """A clock that advances only during sleeps."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


class Session:
    """A provider under scenarios, and what it has sent by the second of its clock."""

    def __init__(self, *texts: str, feed: Feed = Feed.CRYPTO, rate: float = 100.0) -> None:
        self.clock = Clock()
        self.schedule = Schedule(plan_of(texts, NOON_MS))
        self.provider = SimulatorProvider(
            feed,
            seed=1,
            rate=rate,
            speed=1.0,
            always_open=True,
            schedule=self.schedule,
            clock=self.clock,
            sleep=self.clock.sleep,
        )
        self.sent: list[tuple[float, Update]] = []

    async def run(self, seconds: float) -> None:
        """Reads one connection until `seconds` after noon."""
        async with aclosing(self.provider.updates()) as stream:
            async for update in stream:
                if self.clock.now > NOON + seconds:
                    return
                self.sent.append((self.clock.now - NOON, update))

    def quotes(self, start: float = 0.0, end: float = 1e9) -> list[Quote]:
        """Returns the quotes after the first update that arrived between two seconds."""
        return [quote for at, update in self.sent[1:] if start <= at < end for quote in update.quotes]

    def refused(self) -> dict[str, int]:
        return dict(self.provider._checks.statistics())


async def test_a_burst_multiplies_the_rate_and_ends() -> None:
    session = Session("open-burst@+2,factor=20,seconds=2", rate=50.0)
    await session.run(6.0)
    assert len(session.quotes(0, 2)) == pytest.approx(100, rel=0.1)
    assert len(session.quotes(2, 4.1)) == pytest.approx(2000, rel=0.1)
    assert len(session.quotes(4.2, 6)) == pytest.approx(90, rel=0.2)


async def test_a_frozen_stream_carries_nothing_then_goes_on() -> None:
    """Silence has no heartbeat; afterwards, quotes have the present time."""
    session = Session("frozen@+1,seconds=7")
    await session.run(10.0)
    times = [at for at, _ in session.sent]
    silent, following = next((a, b) for a, b in pairwise(times) if b - a > 1)
    assert [silent, following] == pytest.approx([0.9, 8.0])
    assert {quote.timestamp for quote in session.quotes(7.9, 8.05)} == {iso(NOON_MS + 8000)}


async def test_a_stream_that_is_frozen_at_its_start_sends_no_first_quotes() -> None:
    session = Session("frozen,seconds=3")
    await session.run(4.0)
    assert session.sent[0][0] == pytest.approx(3.0, abs=0.11)
    assert session.sent[0][1].complete


async def test_a_drop_ends_each_connection_at_its_time() -> None:
    """A new connection sends everything, and lives until the next drop."""
    session = Session("drop,every=2")
    for second in (2.0, 4.0):
        with pytest.raises(UpstreamError, match="lost the connection"):
            await session.run(60.0)
        assert session.clock.now - NOON == pytest.approx(second, abs=0.11)
    assert [update.complete for _, update in session.sent].count(True) == 2


async def test_maintenance_ends_the_connection_and_refuses_new_ones() -> None:
    session = Session("maintenance@+1,seconds=10")
    for _ in range(2):
        with pytest.raises(UpstreamError) as raised:
            await session.run(60.0)
        assert raised.value.retry_after == RETRY_SECONDS
    assert session.clock.now - NOON == pytest.approx(1.0)
    session.clock.now = NOON + 11
    await session.run(12.0)
    assert session.quotes(11, 12)


async def test_a_limit_of_requests_refuses_new_connections_only() -> None:
    session = Session("rate-limited@+1,seconds=10")
    await session.run(5.0)
    assert session.quotes(4, 5)
    with pytest.raises(UpstreamError) as raised:
        await session.run(60.0)
    assert raised.value.retry_after == RETRY_SECONDS


@pytest.mark.parametrize("name", ["maintenance", "rate-limited"])
async def test_a_refusal_concerns_all_requests(name: str) -> None:
    """News, assets, company data and bars are refused by the clock, and answered afterwards."""
    clock = Clock()
    schedule = Schedule(plan_of([f"{name}@+1,seconds=10"], NOON_MS))
    news, assets = SimulatorNews(1, clock, schedule), SimulatorAssets(schedule, clock)
    financials = SimulatorFinancials(1, clock, schedule=schedule)
    history = SimulatorHistory(Feed.STOCKS, seed=1, always_open=True, schedule=schedule, clock=clock)
    start, end = datetime.fromtimestamp(NOON - 600, NEW_YORK), datetime.fromtimestamp(NOON, NEW_YORK)
    requests = (
        news.news,
        assets.assets,
        lambda: financials.recommendations("AAPL"),
        lambda: financials.earnings_calendar(start.date(), end.date()),
        lambda: history.bars("AAPL", "1m", start, end),
    )
    for seconds, refused in ((0, False), (2, True), (11, False)):
        clock.now = NOON + seconds
        for request in requests:
            if refused:
                with pytest.raises(UpstreamError):
                    await request()
            else:
                assert await request()


@pytest.mark.parametrize("feed", Feed)
async def test_no_bad_tick_passes_the_checks(feed: Feed) -> None:
    """Each kind is refused and counted; the good quotes between them pass."""
    session = Session("bad-tick,every=3", feed=feed, rate=300.0)
    await session.run(4.0)
    quotes = session.quotes()
    assert len(quotes) > 600
    usual = {quote.key: quote.price for quote in session.sent[0][1].quotes}
    for quote in quotes:
        assert usual[quote.key] / 2 < quote.price < usual[quote.key] * 2
        assert (quote.timestamp or "") <= iso(int(session.clock.now * 1000))
        if isinstance(quote, CryptoQuote):
            assert (quote.bid or 0) <= (quote.ask or 0)
        if isinstance(quote, DovizQuote):
            assert quote.buying <= quote.selling
    refused = session.refused()
    # Zero, NaN and future times; prices times 100, and crossed sides where there are sides.
    assert refused["unreadable"] > 150
    assert refused["absurd"] > 50
    assert refused.keys() == {"unreadable", "absurd"}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("zero", "unreadable"),
        ("nan", "unreadable"),
        ("future", "unreadable"),
        ("hundredfold", "absurd"),
        ("crossed", "absurd"),
    ],
)
async def test_the_checks_count_each_kind_of_bad_tick(kind: str, reason: str) -> None:
    session = Session(f"bad-tick,every=1,kind={kind}")
    await session.run(2.0)
    assert session.quotes() == []
    assert session.refused().keys() == {reason}


async def test_late_quotes_arrive_late_and_in_order() -> None:
    session = Session("slow,by=500,jitter=200")
    await session.run(4.0)
    seen: dict[str, str] = {}
    assert len(session.quotes()) == pytest.approx(340, rel=0.1)
    for at, update in session.sent[1:]:
        for quote in update.quotes:
            timestamp = quote.timestamp or ""
            assert iso(NOON_MS + int(at * 1000) - 850) <= timestamp <= iso(NOON_MS + int(at * 1000) - 450)
            assert timestamp >= seen.get(quote.key, "")
            seen[quote.key] = timestamp
    assert session.refused() == {}


async def test_a_quote_that_a_newer_one_overtook_is_refused() -> None:
    session = Session("out-of-order,every=3,by=500", rate=1000.0)
    await session.run(4.0)
    seen: dict[str, str] = {}
    for quote in session.quotes():
        assert (quote.timestamp or "") >= seen.get(quote.key, "")
        seen[quote.key] = quote.timestamp or ""
    assert session.refused()["outdated"] > 100


async def test_a_duplicate_that_comes_late_is_refused() -> None:
    session = Session("duplicate,every=3,by=500", rate=1000.0)
    await session.run(4.0)
    assert session.refused()["outdated"] > 100
    times: dict[str, str] = {}
    for quote in session.quotes():
        assert (quote.timestamp or "") >= times.get(quote.key, "")
        times[quote.key] = quote.timestamp or ""


async def test_without_scenarios_nothing_is_checked() -> None:
    session = Session()
    await session.run(1.0)
    assert session.quotes()
    assert session.refused() == {}


def special(days: Sequence[SpecialDay], moment: str) -> Unscheduled:
    found = SpecialExchange(days).unscheduled_at(datetime.fromisoformat(moment).replace(tzinfo=NEW_YORK))
    assert found
    return found


def test_a_holiday_closes_the_exchange_until_the_next_day() -> None:
    """Before it, its calendar is known; on the day, the exchange is closed."""
    holiday = [SpecialDay(date(2026, 11, 25))]
    tuesday = special(holiday, "2026-11-24T12:00")
    assert (tuesday.is_open, tuesday.date, tuesday.open) == (True, date(2026, 11, 25), None)
    assert tuesday.next_close == datetime(2026, 11, 24, 16, tzinfo=NEW_YORK)
    # Thanksgiving follows.
    assert tuesday.next_open == datetime(2026, 11, 27, 9, 30, tzinfo=NEW_YORK)
    wednesday = special(holiday, "2026-11-25T12:00")
    assert not wednesday.is_open
    assert wednesday.next_open == datetime(2026, 11, 27, 9, 30, tzinfo=NEW_YORK)
    assert wednesday.next_close == datetime(2026, 11, 27, 13, tzinfo=NEW_YORK)
    noon = datetime(2026, 11, 25, 12, tzinfo=NEW_YORK)
    assert actual_session_at(noon, wednesday) == "closed"
    assert Exchange(wednesday).first_from(date(2026, 11, 25)).date == date(2026, 11, 27)


def test_a_half_day_closes_early() -> None:
    half = [SpecialDay(date(2026, 11, 24), close_minutes=13 * 60)]
    close = datetime(2026, 11, 24, 13, tzinfo=NEW_YORK)
    before, after = special(half, "2026-11-24T12:59"), special(half, "2026-11-24T13:00")
    assert (before.is_open, before.next_close, before.close) == (True, close, close)
    assert (after.is_open, after.close) == (False, close)
    assert after.next_open == datetime(2026, 11, 25, 9, 30, tzinfo=NEW_YORK)
    assert actual_session_at(datetime(2026, 11, 24, 13, 30, tzinfo=NEW_YORK), after) == "closed"


def test_without_special_days_the_calendar_is_the_usual_one() -> None:
    assert SpecialExchange([]).unscheduled_at(datetime.fromtimestamp(NOON, NEW_YORK)) is None
