"""The simulator as a provider: rate, first update, heartbeats."""

from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import pytest

from quotecast.market.feeds import Feed
from quotecast.market.reference import doviz_instruments, pairs, stocks
from quotecast.market.sessions import NEW_YORK
from quotecast.providers.base import QuoteProvider, Update
from quotecast.providers.simulator.client import SimulatorProvider
from quotecast.simulation.market.history import SimulatorHistory

NOON = datetime(2026, 2, 13, 12, tzinfo=NEW_YORK).timestamp()
SATURDAY = datetime(2026, 2, 14, 12, tzinfo=NEW_YORK).timestamp()
SIZES = {Feed.STOCKS: len(stocks()), Feed.CRYPTO: len(pairs()), Feed.DOVIZ: len(doviz_instruments())}


class Clock:
    """A clock that advances only during sleeps, and by `late` seconds more each time."""

    def __init__(self, now: float, late: float = 0.0) -> None:
        self.now = now
        self.late = late

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds + (self.late if seconds else 0.0)


def provider(
    feed: Feed = Feed.STOCKS,
    *,
    clock: Clock,
    rate: float = 200.0,
    speed: float = 1.0,
    always_open: bool = True,
    seed: int = 1,
) -> SimulatorProvider:
    return SimulatorProvider(
        feed, seed=seed, rate=rate, speed=speed, always_open=always_open, clock=clock, sleep=clock.sleep
    )


async def collect_updates(source: QuoteProvider, clock: Clock, seconds: float) -> list[Update]:
    """Returns the updates after the first, complete one, within `seconds` of the clock."""
    found: list[Update] = []
    async with aclosing(source.updates()) as stream:
        await anext(stream)
        end = clock.now + seconds
        async for update in stream:
            if clock.now > end:
                break
            found.append(update)
    return found


async def first_update(source: QuoteProvider) -> Update:
    async with aclosing(source.updates()) as stream:
        return await anext(stream)


@pytest.mark.parametrize("feed", Feed)
async def test_the_first_update_is_everything(feed: Feed) -> None:
    update = await first_update(provider(feed, clock=Clock(NOON)))
    assert update.complete
    assert len({quote.key for quote in update.quotes}) == len(update.quotes) == SIZES[feed]


async def test_the_same_seed_and_time_give_the_same_quotes() -> None:
    """Seed and time determine the quotes; another seed yields others."""
    assert await first_update(provider(clock=Clock(NOON))) == await first_update(provider(clock=Clock(NOON)))
    assert await first_update(provider(clock=Clock(NOON))) != await first_update(
        provider(clock=Clock(NOON), seed=2)
    )


@pytest.mark.parametrize("rate", [0.5, 7.0, 200.0, 5000.0])
async def test_quotes_come_at_the_rate(rate: float) -> None:
    clock = Clock(NOON)
    updates = await collect_updates(provider(clock=clock, rate=rate), clock, 4.0)
    assert sum(len(update.quotes) for update in updates) == pytest.approx(4 * rate, rel=0.05, abs=1)
    assert len(updates) <= 4 * 100 + 1


async def test_a_slow_market_updates_ten_times_a_second() -> None:
    """A low rate yields ten updates a second, the shortest interval of a client."""
    clock = Clock(NOON)
    updates = await collect_updates(provider(clock=clock, rate=50.0), clock, 4.0)
    assert 38 <= len(updates) <= 41


@pytest.mark.parametrize("late", [0.013, 0.048, 0.09])
async def test_all_feeds_tick_together(late: float) -> None:
    """Feeds tick at whole tenths of a second, so a process wakes once for all three."""
    clock = Clock(NOON + late)
    async with aclosing(provider(clock=clock).updates()) as stream:
        await anext(stream)
        for _ in range(5):
            await anext(stream)
            assert clock.now * 10 == pytest.approx(round(clock.now * 10), abs=1e-4)


async def test_quotes_come_at_the_rate_though_sleep_is_late() -> None:
    """A timer that is 30 ms late does not lower the rate."""
    clock = Clock(NOON, late=0.03)
    updates = await collect_updates(provider(clock=clock), clock, 4.0)
    assert sum(len(update.quotes) for update in updates) == pytest.approx(800, rel=0.05)


async def test_missed_quotes_are_skipped() -> None:
    """After a pause of ten seconds, the provider sends the latest quotes and skips the missed ones."""
    clock = Clock(NOON)
    async with aclosing(provider(clock=clock).updates()) as stream:
        await anext(stream)
        await anext(stream)
        clock.now += 10
        update = await anext(stream)
        assert len(update.quotes) <= 50
        assert {quote.timestamp for quote in update.quotes} == {"2026-02-13T17:00:10.200Z"}
        assert len((await anext(stream)).quotes) <= 20


async def test_every_instrument_has_a_turn() -> None:
    """Some 500 instruments at 200 quotes a second: each changed one appears within 2.5 seconds."""
    clock = Clock(NOON)
    updates = await collect_updates(provider(clock=clock), clock, 2.7)
    assert len({quote.key for update in updates for quote in update.quotes}) > 0.95 * SIZES[Feed.STOCKS]


async def test_quotes_follow_each_other_in_time_and_differ() -> None:
    clock = Clock(NOON)
    source = provider(Feed.CRYPTO, clock=clock, rate=1000.0)
    last = {quote.key: quote for quote in (await first_update(source)).quotes}
    for update in await collect_updates(source, clock, 1.0):
        for quote in update.quotes:
            assert (quote.timestamp or "") >= (last[quote.key].timestamp or "")
            assert quote != last[quote.key]
            last[quote.key] = quote


async def test_a_closed_exchange_shows_life_every_second_and_nothing_else() -> None:
    clock = Clock(SATURDAY)
    updates = await collect_updates(provider(clock=clock, always_open=False), clock, 5.5)
    assert len(updates) == 5
    assert not any(update.quotes or update.complete for update in updates)


async def test_the_last_trades_are_sent_after_the_close() -> None:
    """After the close, the provider sends each stock's last trade, then only heartbeats."""
    closing = datetime(2026, 2, 13, 16, tzinfo=NEW_YORK).timestamp()
    clock = Clock(closing - 0.5)
    source = provider(clock=clock, always_open=False)
    quotes = {
        quote.key: quote for update in await collect_updates(source, clock, 5.0) for quote in update.quotes
    }
    after = Clock(closing + 3600)
    final = {
        quote.key: quote for quote in (await first_update(provider(clock=after, always_open=False))).quotes
    }
    assert quotes == final


async def test_trading_begins_within_a_second_of_the_open() -> None:
    opening = datetime(2026, 2, 13, 9, 30, tzinfo=NEW_YORK).timestamp()
    clock = Clock(opening - 3)
    updates = await collect_updates(provider(clock=clock, always_open=False), clock, 4.0)
    assert [update for update in updates if update.quotes]


@pytest.mark.parametrize("feed", [Feed.CRYPTO, Feed.DOVIZ])
async def test_other_feeds_trade_while_the_exchange_is_closed(feed: Feed) -> None:
    clock = Clock(SATURDAY)
    source = provider(feed, clock=clock, always_open=False)
    assert source.always_open
    assert all(update.quotes for update in await collect_updates(source, clock, 1.0))


async def test_simulated_time_runs_at_the_given_speed() -> None:
    """Simulated time runs at `speed` from the provider's creation."""
    clock = Clock(NOON)
    source = provider(clock=clock, speed=3600.0)
    clock.now += 2
    update = await first_update(source)
    assert {quote.timestamp for quote in update.quotes} == {"2026-02-13T19:00:00.000Z"}


async def test_a_clock_that_is_set_back_does_not_silence_the_feed() -> None:
    clock = Clock(NOON)
    async with aclosing(provider(clock=clock).updates()) as stream:
        await anext(stream)
        await anext(stream)
        clock.now -= 3600
        async for update in stream:
            if update.quotes:
                break
        assert clock.now < NOON - 3600 + 1


@pytest.mark.parametrize("feed", Feed)
async def test_the_bars_of_a_minute_come_when_it_ends(feed: Feed) -> None:
    """They are those of the history, of every instrument that was asked in the minute."""
    clock = Clock(NOON + 30)
    updates = await collect_updates(provider(feed, clock=clock, rate=100.0), clock, 32.0)
    (bars,) = [update.bars for update in updates if update.bars]
    assert {each.bar.opened for each in bars} == {int(NOON)}
    assert all(each.final for each in bars)
    assert len(bars) == SIZES[feed]
    history = SimulatorHistory(feed, seed=1, always_open=True)
    start = datetime.fromtimestamp(NOON, UTC)
    for each in bars[:5]:
        (bar,) = await history.bars(each.key, "1m", start, start + timedelta(minutes=1))
        own = each.bar
        assert (own.open, own.high, own.low, own.close) == (bar.open, bar.high, bar.low, bar.close)
        assert own.volume == (None if feed is Feed.DOVIZ else bar.volume)


async def test_bars_that_would_come_too_late_are_left_out() -> None:
    clock = Clock(NOON + 30)
    updates = await collect_updates(provider(clock=clock, speed=600.0), clock, 1.0)
    assert not any(update.bars for update in updates)
