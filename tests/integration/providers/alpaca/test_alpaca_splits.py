"""Quotes on the morning of a stock split, with the figures of four real splits."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

from fakes.alpaca import BAD_GATEWAY, FakeAlpaca
from fakes.alpaca_rows import Trade
from fakes.alpaca_stream import FakeAlpacaStream, trade
from fakes.split_morning import SplitMorning, split_morning
from quotecast.market.quotes import StockQuote
from quotecast.market.reference import Stock
from quotecast.providers.alpaca.client import AlpacaProvider
from quotecast.providers.alpaca.history import AlpacaHistory
from quotecast.providers.alpaca.rest import AlpacaRest
from quotecast.providers.base import Update
from support.servers.alpaca_local import Naps

BARS = "/v2/stocks/bars"
#: Ticker, split ratio, last close before the split, first price after it, and the evening before.
SPLITS = [
    ("AAPL", 4.0, 499.23, 127.58, "2020-08-28T19:00:00-04:00"),
    ("GOOGL", 20.0, 2235.55, 113.4, "2022-07-15T19:00:00-04:00"),
    ("NVDA", 10.0, 1208.88, 120.37, "2024-06-07T19:00:00-04:00"),
    ("GE", 0.125, 12.95, 104.6, "2021-07-30T19:00:00-04:00"),
    ("XYZ", 0.05, 0.62, 11.9, "2026-11-18T19:00:00-05:00"),
]
NAMES = ["4:1", "20:1", "10:1", "1:8", "1:20"]


class Morning:
    """A provider with a fake Alpaca, at a time that the test sets."""

    def __init__(self, rest: FakeAlpaca, stream: FakeAlpacaStream, evening: str, **split: object) -> None:
        self.rest = rest
        self.stream = stream
        self.now = datetime.fromisoformat(evening).timestamp()
        self.polls = Naps()
        rest.clock = lambda: self.now
        self.split: SplitMorning = split_morning(rest, datetime.fromtimestamp(self.now, UTC), **split)  # type: ignore[arg-type] # the caller's

    def provider(self, plan: Literal["iex", "sip"]) -> AlpacaProvider:
        self.rest.free = plan == "iex"
        self.stream.feeds.add(plan)
        return AlpacaProvider(
            AlpacaRest(self.rest.url, *self.rest.keys, clock=lambda: self.now),
            self.stream.websocket_url,
            stocks=[Stock(self.split.ticker, "Example", "NASDAQ", "", "", 1, 1.0)],
            plan_feed=plan,
            sleep=self.polls.sleep,
        )

    async def poll_at(self, moment: datetime, updates: AsyncGenerator[Update, None]) -> StockQuote | None:
        """Advances the time and returns the quote that the next poll changes."""
        await self.polls.wait_until_asleep()
        self.now = moment.timestamp()
        self.polls.wake()
        return quote_of(await anext(updates))


def quote_of(update: Update) -> StockQuote | None:
    quotes = [quote for quote in update.quotes if isinstance(quote, StockQuote)]
    return quotes[-1] if quotes else None


@asynccontextmanager
async def morning_of(case: tuple[str, float, float, float, str], **more: object) -> AsyncIterator[Morning]:
    ticker, ratio, close, first_price, evening = case
    async with FakeAlpaca() as rest, FakeAlpacaStream() as stream:
        yield Morning(
            rest, stream, evening, ticker=ticker, ratio=ratio, close=close, first_price=first_price, **more
        )


@pytest.mark.parametrize("plan", ["iex", "sip"])
@pytest.mark.parametrize("case", SPLITS, ids=NAMES)
async def test_change_is_right_from_the_first_price_of_the_day(
    case: tuple[str, float, float, float, str], plan: Literal["iex", "sip"]
) -> None:
    """Snapshots are unadjusted, and the change is still right for the last and the first price."""
    async with morning_of(case) as morning:
        provider, split = morning.provider(plan), morning.split
        async with aclosing(provider.updates()) as updates:
            evening = quote_of(await anext(updates))
            night = await morning.poll_at(split.day.pre_open, updates)
            first = await morning.poll_at(split.first_trade + timedelta(seconds=1), updates)
    assert evening
    assert night
    assert first
    assert (evening.price, evening.change_percent) == (split.close, 0.0)
    assert night.price == pytest.approx(split.previous_close, rel=1e-3)
    assert night.change_percent == 0.0
    assert first.price == split.first_price
    assert first.previous_close == pytest.approx(split.previous_close)
    assert first.change_percent == pytest.approx(split.change_percent, abs=0.001)
    assert provider.statistics() == {}


@pytest.mark.parametrize("case", SPLITS, ids=NAMES)
async def test_last_price_from_before_the_split_is_adjusted(
    case: tuple[str, float, float, float, str],
) -> None:
    """A last price from before the split is divided by the split ratio."""
    async with morning_of(case) as morning:
        split = morning.split
        ticker = split.ticker
        morning.rest.trades = {
            ticker: [each for each in morning.rest.trades[ticker] if each.price == split.close]
        }
        async with aclosing(morning.provider("iex").updates()) as updates:
            await anext(updates)
            quote = await morning.poll_at(split.day.open + timedelta(minutes=1), updates)
    assert quote
    assert quote.price == pytest.approx(split.previous_close, rel=1e-3)
    assert (quote.change_percent, quote.open, quote.volume) == (0.0, None, None)


async def test_streamed_price_of_the_split_morning_is_judged_by_the_close_before() -> None:
    """The split-adjusted previous close is the reference for the first price after a 20:1 split."""
    async with morning_of(SPLITS[1]) as morning:
        provider, split = morning.provider("iex"), morning.split
        async with aclosing(provider.updates()) as updates:
            await anext(updates)
            await morning.stream.until_subscribed()
            await morning.poll_at(split.day.pre_open, updates)
            moment = split.first_trade.isoformat()
            await morning.stream.say(trade("GOOGL", 2268.0, moment), trade("GOOGL", 113.4, moment))
            quote = quote_of(await anext(updates))
    assert quote
    assert quote.price == 113.4
    assert quote.change_percent == pytest.approx(split.change_percent, abs=0.001)
    assert provider.statistics() == {"absurd": 1}


@pytest.mark.parametrize(
    ("known_from", "right_at"), [("07:03:00", "07:15:00"), ("09:29:00", "09:30:00"), ("09:31:00", "09:45:00")]
)
@pytest.mark.parametrize("case", SPLITS[:2], ids=NAMES[:2])
async def test_split_published_late_is_applied_within_15_minutes(
    case: tuple[str, float, float, float, str], known_from: str, right_at: str
) -> None:
    """The adapter requests daily bars every 15 minutes until an hour after the opening."""
    date = datetime.fromisoformat(case[-1]).date() + timedelta(days=3)
    published, refresh = (datetime.fromisoformat(f"{date}T{text}-04:00") for text in (known_from, right_at))
    async with morning_of(case, known_from=published) as morning:
        split = morning.split
        async with aclosing(morning.provider("iex").updates()) as updates:
            await anext(updates)
            await morning.poll_at(split.first_trade + timedelta(seconds=1), updates)
            await morning.poll_at(published - timedelta(seconds=1), updates)
            quote = await morning.poll_at(refresh + timedelta(seconds=1), updates)
    assert quote
    assert quote.price == split.first_price
    assert quote.previous_close == pytest.approx(split.previous_close)
    assert quote.change_percent == pytest.approx(split.change_percent, abs=0.001)


async def test_without_daily_bars_no_change_is_known_until_they_are_back() -> None:
    """An unadjusted previous close would look like a crash, so it is null; requests repeat with backoff."""
    async with morning_of(SPLITS[0]) as morning:
        split = morning.split
        async with aclosing(morning.provider("iex").updates()) as updates:
            await anext(updates)
            morning.rest.answers[BARS] = BAD_GATEWAY
            first = await morning.poll_at(split.first_trade + timedelta(seconds=1), updates)
            asked = len(days_asked(morning.rest))
            await morning.poll_at(split.first_trade + timedelta(seconds=1.1), updates)
            assert len(days_asked(morning.rest)) == asked
            del morning.rest.answers[BARS]
            quote = await morning.poll_at(split.first_trade + timedelta(seconds=16), updates)
    assert first
    assert (first.price, first.previous_close, first.change_percent) == (127.58, None, None)
    assert quote
    assert quote.change_percent == pytest.approx(split.change_percent, abs=0.001)


def days_asked(fake: FakeAlpaca) -> list[str]:
    """Returns the adjustment of each daily bars request."""
    return [request.query["adjustment"] for request in fake.requests if request.path == BARS]


async def test_days_are_asked_for_every_15_minutes_around_the_opening() -> None:
    """The adapter requests daily bars until an hour after the opening, not per poll or connection."""
    async with morning_of(SPLITS[0]) as morning:
        provider, split = morning.provider("sip"), morning.split
        async with aclosing(provider.updates()) as updates:
            await anext(updates)
        async with aclosing(provider.updates()) as updates:
            await anext(updates)
            asked = []
            for moment in (0, 15, 900, 915, 19_800, 19_815, 23_400, 24_300, 43_200):
                await morning.poll_at(split.day.pre_open + timedelta(seconds=moment), updates)
                asked.append(len(days_asked(morning.rest)))
    assert asked == [4, 4, 6, 6, 8, 8, 10, 10, 10]
    assert {request.query["feed"] for request in morning.rest.requests if request.path == BARS} == {"sip"}


@pytest.mark.parametrize(
    ("plan", "after_the_close"), [("iex", timedelta(minutes=17)), ("sip", timedelta(minutes=-30))]
)
@pytest.mark.parametrize("on_iex", [True, False])
async def test_quotes_and_daily_bars_agree(
    plan: Literal["iex", "sip"], after_the_close: timedelta, *, on_iex: bool
) -> None:
    """Quotes and daily bars agree on the day of the split, on whichever exchange the trades took place."""
    async with morning_of(SPLITS[0]) as morning:
        split, rest = morning.split, morning.rest
        late = Trade(split.day.open + timedelta(hours=1), 131.0, 700, on_iex=on_iex)
        rest.trades = {"AAPL": [*rest.trades["AAPL"], late]}
        moment = split.day.close + after_the_close
        async with aclosing(morning.provider(plan).updates()) as updates:
            await anext(updates)
            quote = await morning.poll_at(moment, updates)
        history = AlpacaHistory(AlpacaRest(rest.url, *rest.keys, clock=rest.clock), plan_feed=plan)
        before, today = await history.bars("AAPL", "D", moment - timedelta(days=3, hours=12), moment)
    assert quote
    assert quote.previous_close == before.close
    assert (quote.open, quote.high, quote.low) == (today.open, today.high, today.low)
    assert quote.volume == str(int(today.volume)) == "1500"
