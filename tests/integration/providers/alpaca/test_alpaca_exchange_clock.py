"""Alpaca's exchange clock beside the polls: unscheduled closures and halts."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from quotecast.errors import UpstreamError
from quotecast.market.quotes import StockQuote
from quotecast.providers.alpaca.rest_wire import MarketClock
from support.made.alpaca import AAPL, DAY_BEFORE, NOON, closed_day, snapshot
from support.servers.alpaca_local import LocalAlpaca, local_alpaca


@pytest.fixture
async def alpaca() -> AsyncIterator[LocalAlpaca]:
    async with local_alpaca() as local:
        yield local


#: A stock whose last trade is from the preceding day.
YESTERDAYS = snapshot(
    latestTrade={"t": "2026-11-18T20:59:59Z", "p": 229.1},
    minuteBar=None,
    dailyBar={"t": DAY_BEFORE, "c": 229.1},
)
#: Alpaca's clock at noon while the exchange is closed until the next morning.
NEXT_MORNING = MarketClock(
    is_open=False, next_open="2026-11-20T09:30:00-05:00", next_close="2026-11-20T16:00:00-05:00"
)


async def closed_clock() -> MarketClock:
    return NEXT_MORNING


@pytest.mark.parametrize("plan", ["iex", "sip"])
async def test_day_without_a_session_comes_with_the_first_update(alpaca: LocalAlpaca, plan: str) -> None:
    """The exchange's clock reports an unscheduled closure; the preceding day remains the latest."""
    alpaca.rest.rows = {"AAPL": YESTERDAYS}
    alpaca.stream.feeds.add("sip")
    provider = alpaca.provider([AAPL], exchange_clock=closed_clock, plan_feed=plan)
    async with aclosing(provider.updates()) as updates:
        update = await anext(updates)
        assert await alpaca.polls.end() == 300
    assert provider.silence_seconds > 300
    assert update.unscheduled == closed_day()
    [quote] = update.quotes
    assert isinstance(quote, StockQuote)
    assert (quote.price, quote.previous_close, quote.volume) == (229.1, 220.0, "812345")


async def test_halt_of_the_whole_market_lasts_until_the_clock_says_open(alpaca: LocalAlpaca) -> None:
    """A halt ends the day's session until the clock, read with each poll, reports the exchange open."""
    answers = iter([NEXT_MORNING, MarketClock(is_open=True)])

    async def answer() -> MarketClock:
        return next(answers)

    async with aclosing(alpaca.provider(exchange_clock=answer).updates()) as updates:
        halted = (await anext(updates)).unscheduled
        assert await alpaca.polls.end() == 15
        assert (await anext(updates)).unscheduled is None
    assert halted == replace(
        closed_day(), open=datetime(2026, 11, 19, 14, 30, tzinfo=UTC), close=datetime.fromtimestamp(NOON, UTC)
    )


async def test_clock_that_does_not_answer_changes_nothing(alpaca: LocalAlpaca) -> None:
    """The last response applies while the clock fails."""
    answers = iter([NEXT_MORNING])

    async def answer() -> MarketClock:
        if answer := next(answers, None):
            return answer
        raise UpstreamError("away")

    alpaca.rest.rows = {"AAPL": YESTERDAYS}
    async with aclosing(alpaca.provider([AAPL], exchange_clock=answer).updates()) as updates:
        first = await anext(updates)
        await alpaca.polls.end()
        assert (await anext(updates)).unscheduled == first.unscheduled == closed_day()
