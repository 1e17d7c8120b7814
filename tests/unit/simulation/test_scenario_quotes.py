"""Quotes, bars and company figures of the simulator under scenarios."""

from datetime import UTC, datetime, timedelta

import pytest

from quotecast.errors import SymbolNotFound
from quotecast.market.bars import INTERVALS, Bar, Interval
from quotecast.market.feeds import Feed
from quotecast.market.quotes import CryptoQuote, DovizQuote, StockQuote
from quotecast.market.reference import pairs, stocks
from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market.financials import SimulatorFinancials
from quotecast.simulation.market.history import SimulatorHistory
from quotecast.simulation.market.hours import milliseconds
from quotecast.simulation.market.quoters import Quoter
from quotecast.simulation.market.scenarios.base import Listed, SpecialDay
from quotecast.simulation.market.scenarios.catalogue import CATALOGUE
from quotecast.simulation.market.scenarios.planning import plan_of
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.market.venues import hours_of, pair_quoters, quoters, stock_quoters

ALWAYS = hours_of(Feed.STOCKS, always_open=True)
AAPL = [each for each in stocks() if each.ticker == "AAPL"]
BITCOIN = [each for each in pairs() if each.ticker == "BTC/USDT"]
NOON = datetime(2026, 3, 3, 12, tzinfo=NEW_YORK)
START = milliseconds(NOON.astimezone(UTC))
MIDNIGHT = START + 12 * 3_600_000


def schedule(*texts: str) -> Schedule:
    return Schedule(plan_of(texts, START))


def stock_quoter(*texts: str) -> Quoter:
    return stock_quoters(AAPL, 1, ALWAYS, schedule(*texts))[0]


def stock_quote(quoter: Quoter, moment: int) -> StockQuote:
    quote = quoter.next_quote(moment)
    assert isinstance(quote, StockQuote)
    return quote


def test_change_has_no_jump_at_a_split() -> None:
    """The first quote after a split compares new shares with new shares."""
    before = stock_quote(stock_quoter("split"), MIDNIGHT - 1)
    after, usual = stock_quote(stock_quoter("split"), MIDNIGHT), stock_quote(stock_quoter(), MIDNIGHT)
    assert after.price == pytest.approx(before.price / 2, rel=0.02)
    assert after.previous_close == pytest.approx(before.price / 2, abs=0.01)
    assert after.change_percent == pytest.approx(usual.change_percent, abs=0.01)


def test_a_halted_stock_has_no_new_quotes() -> None:
    quoter = stock_quoter("halt")
    stock_quote(quoter, START - 1)
    assert all(quoter.next_quote(START + each) is None for each in range(0, 300_000, 11_111))
    stock_quote(quoter, START + 300_000)


def test_a_pair_that_halts_over_midnight_has_the_volume_of_24_hours() -> None:
    """A halt at the turn of the day neither doubles nor loses the trades of the day before."""
    midnight = milliseconds(datetime(2026, 3, 4, tzinfo=UTC))
    hours = hours_of(Feed.CRYPTO, always_open=True)

    def volume(moment: int, *texts: str) -> float:
        quote = pair_quoters(BITCOIN, 1, hours, schedule(*texts))[0].next_quote(moment)
        assert isinstance(quote, CryptoQuote)
        assert quote.volume is not None
        return quote.volume

    for after in (-60_000, 60_000, 86_400_000 - 60_000, 86_400_000 + 60_000):
        halted = volume(midnight + after, "halt@2026-03-03T23:57:30Z")
        assert halted == pytest.approx(volume(midnight + after), rel=0.02)


@pytest.mark.parametrize("feed", [Feed.STOCKS, Feed.CRYPTO])
def test_only_listed_instruments_have_quotes(feed: Feed) -> None:
    name = "AAPL" if feed is Feed.STOCKS else "BTC/USDT"
    hours = hours_of(feed, always_open=True)
    plan = schedule(f"new-listing@+60,symbols={name}", f"delisting@+120,symbols={name}")
    all_quoters = quoters(feed, 1, hours, plan)
    counts = [
        len([quoter for quoter in all_quoters if quoter.next_quote(START + seconds * 1000)])
        for seconds in (59, 60, 119, 120)
    ]
    total = len(all_quoters)
    assert counts == [total - 1, total, total, total - 1]


def test_currencies_follow_scenarios_too() -> None:
    hours = hours_of(Feed.DOVIZ, always_open=True)
    plan = schedule("flash-crash,symbols=USD")
    prices = []
    for each in (schedule(), plan):
        found = [quoter.next_quote(START + 60_000) for quoter in quoters(Feed.DOVIZ, 1, hours, each)]
        quotes = {quote.symbol: quote for quote in found if isinstance(quote, DovizQuote)}
        prices.append((quotes["USD"].price, quotes["EUR"].price))
    assert prices[1][0] == pytest.approx(prices[0][0] * 0.9, rel=0.001)
    assert prices[1][1] == prices[0][1]


async def test_history_is_in_the_shares_of_the_latest_end() -> None:
    """Bars that ended before the split are halved once a later end shows that it has happened."""
    history = SimulatorHistory(Feed.STOCKS, seed=1, always_open=True, schedule=schedule("split"))
    start, end = NOON - timedelta(days=5), NOON - timedelta(days=2)

    async def closes() -> list[float]:
        return [bar.close for bar in await history.bars("AAPL", "D", start, end)]

    before = await closes()
    await history.bars("AAPL", "D", NOON, NOON + timedelta(days=1))
    assert await closes() == pytest.approx([close / 2 for close in before], abs=0.01)


@pytest.mark.parametrize("interval", INTERVALS)
async def test_history_without_effect_is_the_same(interval: Interval) -> None:
    """A scenario of another instrument, or of another year, changes no bar."""
    plain = SimulatorHistory(Feed.STOCKS, seed=1, always_open=True)
    busy = SimulatorHistory(
        Feed.STOCKS,
        seed=1,
        always_open=True,
        schedule=schedule("halt,symbols=MSFT", "flash-crash@2025-06-03T15:00:00Z"),
    )
    found: list[list[Bar]] = [
        [*await each.bars("AAPL", interval, NOON - timedelta(days=3), NOON + timedelta(hours=1))]
        for each in (plain, busy)
    ]
    assert found[0] == found[1]
    assert found[0]


async def test_a_new_listing_has_figures_from_its_first_day_on() -> None:
    """Figures of earlier times are missing, and before its first trade a stock is unknown."""

    def financials(seconds: int) -> SimulatorFinancials:
        return SimulatorFinancials(1, lambda: START / 1000 + seconds, schedule=schedule("new-listing"))

    with pytest.raises(SymbolNotFound):
        await financials(-1).metrics("RDDT")
    first = (await financials(60).metrics("RDDT")).metric
    assert first["52WeekHighDate"] == "2026-03-03"
    assert [first["5DayPriceReturnDaily"], first["10DayAverageTradingVolume"]] == [None, None]
    later = (await financials(9 * 86_400).metrics("RDDT")).metric
    assert later["5DayPriceReturnDaily"] is not None
    assert later["13WeekPriceReturnDaily"] is None


def test_scenarios_of_prices_have_names_and_bounds() -> None:
    names = ["flash-crash", "halt", "gap-open", "split", "new-listing", "delisting", "holiday", "half-day"]
    assert set(names) <= set(CATALOGUE)
    plan = schedule("new-listing", "half-day,close=12:30", "holiday@2026-03-04T01:00:00Z")
    assert plan.alterations("RDDT") == [Listed(start=START)]
    assert plan.special_days() == [SpecialDay(NOON.date(), 750), SpecialDay(NOON.date())]
