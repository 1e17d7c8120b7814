"""Alpaca's quotes by REST, against a local Alpaca whose stream may be away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from fakes.http import (
    ENDLESS,
    HANGING,
    HTML_503,
    REDIRECT,
    SERVER_ERROR,
    TOO_MANY,
    TRUNCATED,
    Answer,
    huge,
)
from quotecast.errors import UpstreamError
from quotecast.market.quotes import StockQuote
from quotecast.providers.alpaca import snapshots
from quotecast.providers.alpaca.rest_wire import MarketClock
from quotecast.providers.reference import Stock
from support.alpaca_local import PATH, STOCKS, LocalAlpaca, failure, local_alpaca, prices
from support.alpaca_made import AAPL, DAY_BEFORE, NOON, SNAPSHOT, closed_day, snapshot


@pytest.fixture
async def alpaca() -> AsyncIterator[LocalAlpaca]:
    async with local_alpaca() as local:
        yield local


def make_stocks(count: int) -> list[Stock]:
    letters = [f"{chr(65 + number // 26)}{chr(65 + number % 26)}" for number in range(count)]
    return [Stock(ticker, ticker, "NYSE", "Energy", "Oil", 1, 1.0) for ticker in letters]


async def test_first_update_is_all_there_is(alpaca: LocalAlpaca) -> None:
    """Field by field from the upstream's numbers; what it does not know is not there."""
    alpaca.rest.rows["MSFT"] = None
    async with aclosing(alpaca.provider(plan_feed="sip").updates()) as updates:
        first = await anext(updates)
    assert first.complete
    assert list(first.quotes) == [
        StockQuote(
            ticker="AAPL",
            name="Apple Inc.",
            price=231.4,
            change=2.3,
            change_percent=1.0039,
            open=229.0,
            high=232.0,
            low=228.5,
            previous_close=229.1,
            volume="812345",
            sector="Information Technology",
            industry="Hardware",
            timestamp="2026-11-19T16:59:58.123456Z",
        )
    ]


async def test_keys_travel_in_headers_and_the_feed_is_the_plans(alpaca: LocalAlpaca) -> None:
    async with aclosing(alpaca.provider(plan_feed="sip").updates()) as updates:
        await anext(updates)
    [asked] = alpaca.rest.requests[:1]
    assert (asked.path, asked.query) == (PATH, {"symbols": "AAPL,MSFT", "feed": "sip"})
    assert (asked.headers["APCA-API-KEY-ID"], asked.headers["APCA-API-SECRET-KEY"]) == ("key", "secret")
    assert asked.headers["User-Agent"].startswith("quotecast/")


async def test_many_stocks_are_asked_for_in_batches(alpaca: LocalAlpaca) -> None:
    """No URL grows without bound, and no stock is left out or asked for twice."""
    stocks = make_stocks(250)
    alpaca.rest.rows = {stock.ticker: SNAPSHOT for stock in stocks}
    async with aclosing(alpaca.provider(stocks).updates()) as updates:
        first = await anext(updates)
    assert sorted(len(batch) for batch in alpaca.rest.asked) == [50, 100, 100]
    assert len(prices(first)) == 250


async def test_free_plan_has_no_figures_of_the_day_in_progress(alpaca: LocalAlpaca) -> None:
    """Its own are those of one exchange: a few percent of the volume, and not the market's extremes."""
    async with aclosing(alpaca.provider(plan_feed="iex").updates()) as updates:
        quote = (await anext(updates)).quotes[0]
    assert isinstance(quote, StockQuote)
    assert (quote.price, quote.previous_close, quote.change) == (231.4, 229.1, 2.3)
    assert (quote.open, quote.high, quote.low, quote.volume) == (None, None, None, None)


async def test_free_plan_has_a_days_figures_once_they_have_settled(alpaca: LocalAlpaca) -> None:
    """They are the whole tape's, 16 minutes after the close."""
    alpaca.now = datetime.fromisoformat("2026-11-19T16:15:00-05:00").timestamp()
    async with aclosing(alpaca.provider(plan_feed="iex").updates()) as updates:
        await anext(updates)
        await alpaca.polls.wait_until_asleep()
        alpaca.now += 60
        alpaca.polls.wake()
        quote = (await anext(updates)).quotes[0]
    assert isinstance(quote, StockQuote)
    assert (quote.open, quote.high, quote.low, quote.volume) == (229.1, 229.1, 229.1, "812345")
    assert (quote.price, quote.previous_close) == (231.4, 229.1)


async def test_polls_go_on_and_bring_what_changed(alpaca: LocalAlpaca) -> None:
    """Every 15 seconds in session; an update without quotes shows that the upstream lives."""
    async with aclosing(alpaca.provider().updates()) as updates:
        await anext(updates)
        assert await alpaca.polls.end() == 15
        assert prices(await anext(updates)) == {}
        alpaca.rest.rows["AAPL"] = snapshot(latestTrade={"p": 231.7, "t": "2026-11-19T17:00:14Z"})
        await alpaca.polls.wait_until_asleep()
        alpaca.now += 15
        alpaca.polls.wake()
        update = await anext(updates)
    assert (prices(update), update.complete) == ({"AAPL": 231.7}, False)


async def test_at_night_polls_are_few(alpaca: LocalAlpaca) -> None:
    alpaca.now = datetime.fromisoformat("2026-11-19T22:00:00-05:00").timestamp()
    provider = alpaca.provider()
    assert provider.silence_seconds > 300
    async with aclosing(provider.updates()) as updates:
        await anext(updates)
        assert await alpaca.polls.end() == 300
    alpaca.now = NOON
    assert provider.silence_seconds == 22.5


async def test_malformed_ticker_costs_the_others_nothing(alpaca: LocalAlpaca) -> None:
    """The upstream refuses the whole batch for its sake; it is asked for once."""
    bad = [Stock(ticker, "", "", "", "", 1, 1.0) for ticker in ("BRK-B", "A1")]
    async with aclosing(alpaca.provider([*STOCKS, *bad]).updates()) as updates:
        assert prices(await anext(updates)) == {"AAPL": 231.4, "MSFT": 231.5}
        await alpaca.polls.end()
        await anext(updates)
    assert [len(batch) for batch in alpaca.rest.asked] == [4, 3, 2, 2]


async def test_malformed_ticker_that_is_not_named_is_searched_for(alpaca: LocalAlpaca) -> None:
    """By halves, so that a few questions find it, once."""
    alpaca.rest.names_bad_symbol = False
    stocks = make_stocks(64)
    stocks.insert(37, Stock("BRK-B", "", "", "", "", 1, 1.0))
    alpaca.rest.rows = {stock.ticker: SNAPSHOT for stock in stocks}
    async with aclosing(alpaca.provider(stocks).updates()) as updates:
        assert len(prices(await anext(updates))) == 64
        questions = len(alpaca.rest.asked)
        await alpaca.polls.end()
        await anext(updates)
    assert questions <= 2 * 7 + 1
    assert [len(batch) for batch in alpaca.rest.asked[questions:]] == [64]


@pytest.mark.parametrize(
    ("answer", "problem", "retry_after"),
    [
        (HTML_503, "503", None),
        (TOO_MANY, "429", 7),
        (SERVER_ERROR, "500", None),
        (Answer(b"<html></html>", 200, "text/html"), "text/html", None),
        (Answer(b"<html>Bad Gateway</html>", 502, "text/html"), "502", None),
        (TRUNCATED, "unreadable", None),
        (Answer(b'{"AAPL":{"latestTrade":{"p":NaN}}}'), "unreadable", None),
        (Answer(b"[]"), "unreadable", None),
        (REDIRECT, "302", None),
        (HANGING, "no answer", None),
        (ENDLESS, "over 8388608", None),
        (huge(), "over 8388608", None),
        (Answer(b'{"message":"invalid feed"}', 400), "400", None),
        (Answer(b'{"message":"forbidden."}', 403), "refuses the keys", None),
        (Answer(b'{"message":"unauthorized"}', 401), "refuses the keys", None),
    ],
    ids=[
        *("html 503", "429", "500", "html 200", "html 502", "truncated", "NaN", "no map", "redirect"),
        *("timeout", "endless", "huge", "bad request", "forbidden", "unauthorized"),
    ],
)
async def test_failure_of_rest_ends_the_updates_when_nothing_is_streamed(
    alpaca: LocalAlpaca,
    monkeypatch: pytest.MonkeyPatch,
    answer: Answer,
    problem: str,
    retry_after: float | None,
) -> None:
    """The caller learns how long to wait; no second question is asked, and no redirect followed."""
    monkeypatch.setattr(snapshots, "ANSWER_SECONDS", 0.2 if answer is HANGING else 7.0)
    alpaca.stream.refuses = "silently"
    alpaca.rest.answers[PATH] = answer
    error = await failure(alpaca.provider())
    assert problem in str(error)
    assert error.retry_after == retry_after
    assert len(alpaca.rest.requests) == 1


async def test_nobody_listening_is_an_error() -> None:
    async with local_alpaca() as gone:
        pass
    assert "ConnectError" in str(await failure(gone.provider()))


async def test_last_good_quotes_outlive_a_connection(alpaca: LocalAlpaca) -> None:
    """What a bad answer says is counted; nothing of it gets out, and the next connection starts whole."""
    provider = alpaca.provider(plan_feed="sip")
    async with aclosing(provider.updates()) as updates:
        await anext(updates)
        alpaca.rest.rows["AAPL"] = snapshot(latestTrade={"p": 0}, dailyBar={"h": 99999, "v": 812400})
        await alpaca.polls.end()
        [quote] = (await anext(updates)).quotes
    assert (quote.price, quote.high) == (231.4, 232.0)
    assert provider.statistics() == {"unreadable": 1, "absurd": 1}
    alpaca.rest.rows.pop("MSFT")
    async with aclosing(provider.updates()) as updates:
        again = await anext(updates)
    assert (prices(again), again.complete) == ({"AAPL": 231.4}, True)


async def test_failed_batch_costs_the_others_nothing(alpaca: LocalAlpaca) -> None:
    """Its stocks keep their quotes: an update with a part is not complete. The next that is whole is."""
    stocks = make_stocks(150)
    alpaca.rest.rows = {stock.ticker: SNAPSHOT for stock in stocks}
    alpaca.rest.spoiled[stocks[0].ticker] = HTML_503
    async with aclosing(alpaca.provider(stocks).updates()) as updates:
        part = await anext(updates)
        alpaca.rest.spoiled.clear()
        await alpaca.polls.end()
        whole = await anext(updates)
    assert (len(part.quotes), part.complete) == (50, False)
    assert (len(whole.quotes), whole.complete) == (150, True)


async def test_retry_after_of_one_batch_puts_off_the_next_poll(alpaca: LocalAlpaca) -> None:
    stocks = make_stocks(150)
    alpaca.poll_seconds.add(40.0)
    alpaca.rest.rows = {stock.ticker: SNAPSHOT for stock in stocks}
    alpaca.rest.spoiled[stocks[0].ticker] = Answer(b"{}", 429, headers={"Retry-After": "40"})
    async with aclosing(alpaca.provider(stocks).updates()) as updates:
        await anext(updates)
        assert await alpaca.polls.end() == 40


async def test_each_question_is_asked_when_admitted(alpaca: LocalAlpaca) -> None:
    """A plan that is used up is a failure like the upstream's own."""
    admitted = 0

    async def admit() -> None:
        nonlocal admitted
        admitted += 1
        if admitted > 2:
            raise UpstreamError("used up", retry_after=33)

    alpaca.stream.refuses = "silently"
    provider = alpaca.provider(make_stocks(150), admitted=admit)
    async with aclosing(provider.updates()) as updates:
        await anext(updates)
        await alpaca.polls.end()
        with pytest.raises(UpstreamError, match="used up") as caught:
            await anext(updates)
    assert caught.value.retry_after == 33
    assert (admitted, len(alpaca.rest.requests)) == (4, 2)


#: A stock that last traded on the day before.
YESTERDAYS = snapshot(
    latestTrade={"t": "2026-11-18T20:59:59Z", "p": 229.1},
    minuteBar=None,
    dailyBar={"t": DAY_BEFORE, "c": 229.1},
)
#: Alpaca's clock at noon, of an exchange that next opens on the morning after.
NEXT_MORNING = MarketClock(
    is_open=False, next_open="2026-11-20T09:30:00-05:00", next_close="2026-11-20T16:00:00-05:00"
)


async def closed_clock() -> MarketClock:
    return NEXT_MORNING


@pytest.mark.parametrize("plan", ["iex", "sip"])
async def test_day_without_a_session_comes_with_the_first_update(alpaca: LocalAlpaca, plan: str) -> None:
    """The exchange's own clock knows of closings that no calendar does; the day before stays the newest."""
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
    """The day has a session, which ends now. The clock is asked with each poll."""
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
    """Its last answer remains."""
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


async def test_closing_does_not_wait_for_an_answer(alpaca: LocalAlpaca) -> None:
    """Whoever stops the service does not wait for its upstreams."""
    provider = alpaca.provider()
    async with aclosing(provider.updates()) as updates:
        await anext(updates)
        alpaca.rest.spoiled["AAPL"] = HANGING
        alpaca.rest.was_asked.clear()
        await alpaca.polls.end()
        reading = asyncio.ensure_future(anext(updates))
        await alpaca.rest.was_asked.wait()
        reading.cancel()
        async with asyncio.timeout(3):
            await asyncio.gather(reading, return_exceptions=True)
    assert reading.cancelled()
