"""The Kraken adapter against a local Kraken: what it follows, what it tells, and how it ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing

import pytest
import structlog

from fakes.http import HTML_503, REDIRECT, TOO_MANY, UNUSED_PORT, Answer
from fakes.kraken import FakeKraken, ticker
from quotecast.errors import UpstreamError
from quotecast.providers.base import Update
from quotecast.providers.kraken import client, wire
from quotecast.providers.kraken.client import KrakenProvider
from support.runs.manual_clock import ManualClock

NOW = 1_795_118_400.0


@pytest.fixture
async def fake() -> AsyncIterator[FakeKraken]:
    async with FakeKraken() as fake:
        fake.stop_clock(ManualClock(int(NOW * 1000)))
        fake.tickers = {symbol: ticker(symbol, 100.0) for symbol in ("BTC/USD", "ETH/USD", "SOL/EUR")}
        yield fake


def provider(fake: FakeKraken, *pairs: str) -> KrakenProvider:
    return KrakenProvider(f"{fake.websocket_url}/v2", pairs, clock=lambda: NOW)


async def first(adapter: KrakenProvider) -> Update:
    async with asyncio.timeout(10), aclosing(adapter.updates()) as updates:
        return await anext(updates)


async def failure(adapter: KrakenProvider, act: Callable[[], Awaitable[None]] | None = None) -> UpstreamError:
    """How the connection ends, by what the upstream does once it streams."""
    async with asyncio.timeout(10), aclosing(adapter.updates()) as updates:
        with pytest.raises(UpstreamError) as caught:
            await _exhaust(updates, act)
    return caught.value


async def _exhaust(updates: AsyncIterator[Update], act: Callable[[], Awaitable[None]] | None) -> None:
    if act:
        await anext(updates)
        await act()
    async for _ in updates:
        pass


async def test_quotes_come_at_once_and_move(fake: FakeKraken) -> None:
    """The state of each pair comes first, then every message."""
    prices: dict[str, float] = {}
    async with asyncio.timeout(10), aclosing(provider(fake, "btc-usd", "SOL/EUR").updates()) as updates:
        while prices != {"BTC/USD": 100.0, "SOL/EUR": 100.0}:
            prices |= {quote.key: quote.price for quote in (await anext(updates)).quotes}
        fake.tickers["BTC/USD"] = ticker("BTC/USD", 101.5)
        while prices != {"BTC/USD": 101.5, "SOL/EUR": 100.0}:
            prices |= {quote.key: quote.price for quote in (await anext(updates)).quotes}
    asked = [(each["params"]["channel"], each["params"]["symbol"]) for each in fake.commands]
    assert asked == [("ticker", ["BTC/USD", "SOL/EUR"]), ("ohlc", ["BTC/USD", "SOL/EUR"])]


async def test_by_default_well_known_assets_are_followed(fake: FakeKraken) -> None:
    """In US dollars; those that the upstream does not trade are left out."""
    adapter = provider(fake)
    followed: set[str] = set()
    async with asyncio.timeout(10), aclosing(adapter.updates()) as updates:
        while len(followed) < 2:
            followed |= {quote.key for quote in (await anext(updates)).quotes}
    assert followed == {"BTC/USD", "ETH/USD"}


async def test_many_pairs_are_asked_for_in_parts(fake: FakeKraken) -> None:
    """Each is answered by itself."""
    fake.tickers = {f"C{number}/USD": ticker(f"C{number}/USD", 1.0) for number in range(250)}
    await first(provider(fake, *fake.tickers))
    assert [len(command["params"]["symbol"]) for command in fake.commands] == [100, 100, 50]


async def test_log_names_pairs_that_the_feed_cannot_have(fake: FakeKraken) -> None:
    """Kraken needs to know where the base ends, and the feed has names of A to Z and digits."""
    with structlog.testing.capture_logs() as logs:
        await first(provider(fake, "BTC/USD", "XBTUSD", "币安人生/USD"))
    said = {each["pair"]: each["event"] for each in logs if "pair" in each}
    assert said == {
        "XBTUSD": "a pair is not followed: write it as BTC/USD",
        "币安人生/USD": "a pair is not followed: names of pairs have the letters A to Z and digits only",
    }


async def test_pairs_that_cannot_be_followed_are_not_replaced_by_others(fake: FakeKraken) -> None:
    """The well-known ones are for those who name none."""
    assert "none of the pairs" in str(await failure(provider(fake, "币安人生/USD")))


async def test_no_pair_that_trades_is_an_error(fake: FakeKraken) -> None:
    """An empty feed must not look healthy."""
    assert "none of the pairs" in str(await failure(provider(fake, "NONE/SUCH")))


async def test_pair_that_is_no_longer_traded_is_told_gone(fake: FakeKraken) -> None:
    """When the next connection finds so."""
    adapter = provider(fake, "BTC/USD", "ETH/USD")
    followed: set[str] = set()
    async with asyncio.timeout(10), aclosing(adapter.updates()) as updates:
        while len(followed) < 2:
            followed |= {quote.key for quote in (await anext(updates)).quotes}
    del fake.tickers["ETH/USD"]
    assert (await first(adapter)).removed == ["ETH/USD"]


async def test_heartbeats_show_that_the_connection_lives(fake: FakeKraken) -> None:
    """A pair that rests does not look like a dead connection."""
    fake.ending = "heartbeats"
    async with asyncio.timeout(10), aclosing(provider(fake, "BTC/USD").updates()) as updates:
        await anext(updates)
        while (await anext(updates)).quotes:
            pass


async def test_silence_is_an_error(fake: FakeKraken) -> None:
    """A connection that says nothing is presumed dead."""
    fake.ending = "silence"
    adapter = provider(fake, "BTC/USD")
    adapter.silence_seconds = 0.1
    assert "nothing for 0.1 s" in str(await failure(adapter))


async def test_unanswered_subscription_is_an_error(fake: FakeKraken, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller tries again."""
    fake.acknowledges = False
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.1)
    assert "did not answer" in str(await failure(provider(fake, "BTC/USD")))


async def test_subscription_refused_as_a_whole_is_an_error(
    fake: FakeKraken, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error has the upstream's reason."""
    monkeypatch.setattr(wire, "subscribe", lambda *_: b'{"method":"subscribe","params":{}}')
    assert "refuses the subscription: Unsupported" in str(await failure(provider(fake, "BTC/USD")))


async def test_maintenance_ends_the_connection(fake: FakeKraken) -> None:
    """Before a subscription as well as after."""
    adapter = provider(fake, "BTC/USD")
    assert "maintenance" in str(await failure(adapter, fake.close_for_maintenance))
    assert "maintenance" in str(await failure(adapter))


async def test_abrupt_end_is_an_error(fake: FakeKraken) -> None:
    """The caller reconnects."""
    fake.ending = "abort"
    assert "closed the connection" in str(await failure(provider(fake, "BTC/USD")))


async def test_message_over_the_bound_ends_the_connection(fake: FakeKraken) -> None:
    """No upstream fills our memory."""

    async def pour() -> None:
        await fake.say_raw('{"new":"' + "x" * 2_000_000 + '"}')

    assert "code 1009" in str(await failure(provider(fake, "BTC/USD"), pour))


async def test_bad_messages_are_passed_over(fake: FakeKraken) -> None:
    """Each costs itself, not the connection, and no bad price gets out."""
    fake.ending = "silence"
    adapter = provider(fake, "BTC/USD")
    prices: list[float] = []
    async with asyncio.timeout(10), aclosing(adapter.updates()) as updates:
        while not prices:
            prices += [quote.price for quote in (await anext(updates)).quotes]
        for text in ("{", "[]", '{"channel":"ticker","data":[{"symbol":"BTC/USD","last":NaN}]}'):
            await fake.say_raw(text)
        for price in (-1.0, 0.0, 1_000_000.0, 101.0):
            await fake.say(ticker("BTC/USD") | {"last": price, "high": 102.0, "low": 98.0})
        while prices[-1] != 101.0:
            prices += [quote.price for quote in (await anext(updates)).quotes]
    assert prices == [100.0, 101.0]
    assert adapter.statistics()["malformed"] == 3
    assert (adapter.statistics()["unreadable"], adapter.statistics()["absurd"]) == (2, 1)


@pytest.mark.parametrize(
    ("answer", "problem", "seconds"),
    [(HTML_503, "status 503", None), (TOO_MANY, "status 429", 7), (REDIRECT, "status 302", None)],
    ids=["503", "429", "302"],
)
async def test_refused_handshake_is_an_error(
    fake: FakeKraken, answer: Answer, problem: str, seconds: float | None
) -> None:
    """The error has the Retry-After of the answer, and the client follows no redirect."""
    fake.everywhere = answer
    error = await failure(provider(fake, "BTC/USD"))
    assert problem in str(error)
    assert error.retry_after == seconds
    assert [asked.path for asked in fake.requests] == ["/v2"]


async def test_nobody_listening_is_an_error() -> None:
    assert "cannot be reached" in str(await failure(provider(FakeKraken(port=UNUSED_PORT), "BTC/USD")))


async def test_closing_the_iterator_closes_the_connection(fake: FakeKraken) -> None:
    """No connection outlives its reader."""
    await first(provider(fake, "BTC/USD"))
    async with asyncio.timeout(5):
        await fake.closed.wait()
