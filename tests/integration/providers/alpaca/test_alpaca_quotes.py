"""Alpaca's quotes by REST, against a local Alpaca whose stream may fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import datetime

import pytest

from fakes.http import (
    ENDLESS,
    HANGING,
    HTML_503,
    REDIRECT,
    SERVER_ERROR,
    TOO_MANY,
    TRUNCATED,
    UNUSED_PORT,
    Answer,
    huge,
)
from quotecast.errors import UpstreamError
from quotecast.market.quotes import StockQuote
from quotecast.market.reference import Stock
from support.made.alpaca import NOON, SNAPSHOT, snapshot
from support.servers.alpaca_local import (
    PATH,
    STOCKS,
    FakeSnapshots,
    LocalAlpaca,
    failure,
    local_alpaca,
    prices,
)


@pytest.fixture
async def alpaca() -> AsyncIterator[LocalAlpaca]:
    async with local_alpaca() as local:
        yield local


def make_stocks(count: int) -> list[Stock]:
    letters = [f"{chr(65 + number // 26)}{chr(65 + number % 26)}" for number in range(count)]
    return [Stock(ticker, ticker, "NYSE", "Energy", "Oil", 1, 1.0) for ticker in letters]


async def test_first_update_is_all_there_is(alpaca: LocalAlpaca) -> None:
    """The first update is complete; stocks unknown to Alpaca are absent."""
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
    """Batches bound the URL's length and request each stock once."""
    stocks = make_stocks(250)
    alpaca.rest.rows = {stock.ticker: SNAPSHOT for stock in stocks}
    async with aclosing(alpaca.provider(stocks).updates()) as updates:
        first = await anext(updates)
    assert sorted(len(batch) for batch in alpaca.rest.asked) == [50, 100, 100]
    assert len(prices(first)) == 250


async def test_free_plan_has_no_figures_of_the_day_in_progress(alpaca: LocalAlpaca) -> None:
    """The free plan's day so far covers IEX only, so open, high, low and volume are null."""
    async with aclosing(alpaca.provider(plan_feed="iex").updates()) as updates:
        quote = (await anext(updates)).quotes[0]
    assert isinstance(quote, StockQuote)
    assert (quote.price, quote.previous_close, quote.change) == (231.4, 229.1, 2.3)
    assert (quote.open, quote.high, quote.low, quote.volume) == (None, None, None, None)


async def test_free_plan_has_a_days_figures_once_they_have_settled(alpaca: LocalAlpaca) -> None:
    """The consolidated daily bar is available 16 minutes after the close."""
    alpaca.now = datetime.fromisoformat("2026-11-19T16:15:00-05:00").timestamp()
    async with aclosing(alpaca.provider(plan_feed="iex").updates()) as updates:
        await anext(updates)
        await alpaca.polls.wait_until_asleep()
        alpaca.now += 60
        alpaca.polls.wake()
        quote = (await anext(updates)).quotes[0]
    assert isinstance(quote, StockQuote)
    assert (quote.open, quote.high, quote.low, quote.volume) == (229.1, 229.1, 229.1, "812345")
    # The last trade on IEX is of noon.
    assert (quote.price, quote.previous_close) == (229.1, 229.1)


async def test_polls_go_on_and_bring_what_changed(alpaca: LocalAlpaca) -> None:
    """Polls run every 15 seconds during a session; an update without quotes is a heartbeat."""
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


async def test_malformed_ticker_does_not_affect_the_others(alpaca: LocalAlpaca) -> None:
    """Alpaca rejects a whole batch for a malformed ticker, which later polls omit."""
    bad = [Stock(ticker, "", "", "", "", 1, 1.0) for ticker in ("BRK-B", "A1")]
    async with aclosing(alpaca.provider([*STOCKS, *bad]).updates()) as updates:
        assert prices(await anext(updates)) == {"AAPL": 231.4, "MSFT": 231.5}
        await alpaca.polls.end()
        await anext(updates)
    assert [len(batch) for batch in alpaca.rest.asked] == [4, 3, 2, 2]


async def test_malformed_ticker_that_is_not_named_is_searched_for(alpaca: LocalAlpaca) -> None:
    """Halving the batch finds a malformed ticker with few requests, once."""
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
    """The error states the retry delay; the adapter neither retries nor follows a redirect."""
    monkeypatch.setattr("quotecast.providers.alpaca.client.ANSWER_SECONDS", 0.2 if answer is HANGING else 7.0)
    alpaca.stream.refuses = "silently"
    alpaca.rest.answers[PATH] = answer
    error = await failure(alpaca.provider())
    assert problem in str(error)
    assert error.retry_after == retry_after
    assert len(alpaca.rest.requests) == 1


async def test_nobody_listening_is_an_error(alpaca: LocalAlpaca) -> None:
    alpaca.rest = FakeSnapshots(UNUSED_PORT)
    assert "ConnectError" in str(await failure(alpaca.provider()))


async def test_last_good_quotes_outlive_a_connection(alpaca: LocalAlpaca) -> None:
    """The board counts invalid values and keeps good ones, also over the next connection."""
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


async def test_failed_batch_does_not_affect_the_others(alpaca: LocalAlpaca) -> None:
    """A poll with a failed batch keeps its stocks' quotes and is not complete; the next full poll is."""
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
    """An exhausted call budget fails like an error of the upstream."""
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


async def test_closing_does_not_wait_for_an_answer(alpaca: LocalAlpaca) -> None:
    """Closing the updates cancels a pending request."""
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
