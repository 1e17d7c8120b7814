"""The Coinbase adapter against a local Coinbase."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog

from fakes.coinbase import FakeCoinbase, ScriptMessage, read_recording
from fakes.http import HTML_503, TOO_MANY, TRUNCATED, UNUSED_PORT, Answer, huge
from quotecast.errors import UpstreamError
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.base import QuoteProvider, Update
from quotecast.providers.coinbase.client import PRODUCTS_PER_SUBSCRIBE, CoinbaseProvider

RECORDING = Path(__file__).parents[2] / "recordings" / "coinbase.ndjson"
#: Some time after the recording.
NOW = 1_795_118_500.0

PRODUCTS = [
    {"id": "BTC-USD", "status": "online", "trading_disabled": False},
    {"id": "ETH-EUR", "status": "online", "trading_disabled": False},
    {"id": "NEW-GBP", "status": "online", "trading_disabled": False},
    {"id": "OLD-USD", "status": "delisted", "trading_disabled": True},
    {"id": "OFF-USD", "status": "online", "trading_disabled": True},
]
CURRENCIES = [{"id": "BTC", "name": "Bitcoin, as told"}, {"id": "NEW", "name": "New Coin"}]


@pytest.fixture
async def fake() -> AsyncIterator[FakeCoinbase]:
    async with FakeCoinbase(PRODUCTS, CURRENCIES) as fake:
        fake.script = [ScriptMessage(said.text) for said in read_recording(RECORDING)]
        fake.heartbeat_seconds = 0.05
        yield fake


def provider(fake: FakeCoinbase, *products: str) -> CoinbaseProvider:
    return CoinbaseProvider(fake.url, fake.websocket_url, products, clock=lambda: NOW)


def said(price: str, product: str = "BTC-USD", **more: Any) -> ScriptMessage:
    message = {"type": "ticker", "product_id": product, "price": price, **more}
    return ScriptMessage(msgspec.json.encode(message).decode())


async def last_quotes(provider: QuoteProvider, until: int) -> dict[str, CryptoQuote]:
    """Everything up to the first empty update after `until` pairs are known."""
    known: dict[str, CryptoQuote] = {}
    updates = provider.updates()
    async for update in updates:
        known |= {quote.key: quote for quote in update.quotes if isinstance(quote, CryptoQuote)}
        if not update.quotes and len(known) >= until:
            return known
    raise AssertionError("updates end by raising only")


async def failure(provider: CoinbaseProvider) -> UpstreamError:
    """How the connection ends."""
    with pytest.raises(UpstreamError) as caught:
        async for _ in provider.updates():
            pass
    return caught.value


async def test_quotes_are_those_of_the_last_tickers(fake: FakeCoinbase) -> None:
    """Bad tickers change nothing; names come from the upstream, then from us."""
    adapter = provider(fake)
    quotes = await last_quotes(adapter, 3)
    told = {key: (q.price, q.bid, q.ask, q.change, q.name) for key, q in quotes.items()}
    assert told == {
        "BTC/USD": (91990.0, 91989.9, 91990.1, 984.5, "Bitcoin, as told"),
        "ETH/EUR": (2801.0, 2800.9, 2801.1, -49.0, "Ethereum"),
        "NEW/GBP": (0.5752, None, 0.5771, 0.065, "New Coin"),
    }
    assert adapter.statistics() == {"unreadable": 1, "absurd": 1}


async def test_all_that_trades_is_followed(fake: FakeCoinbase) -> None:
    """What is delisted or disabled is not asked for."""
    await last_quotes(provider(fake), 3)
    [asked] = fake.subscribes
    assert asked == {
        "type": "subscribe",
        "product_ids": ["BTC-USD", "ETH-EUR", "NEW-GBP"],
        "channels": ["ticker", "matches", "heartbeat"],
    }


async def test_configured_products_alone_are_followed(fake: FakeCoinbase) -> None:
    """In any spelling; one that the upstream does not know is left out, not fatal."""
    await last_quotes(provider(fake, "eth/eur", "NONE-SUCH"), 1)
    assert [asked["product_ids"] for asked in fake.subscribes] == [["ETH-EUR"]]


async def test_log_tells_an_unknown_product_from_one_that_no_client_could_name(fake: FakeCoinbase) -> None:
    """The feed has names of A to Z and digits."""
    with structlog.testing.capture_logs() as logs:
        await last_quotes(provider(fake, "BTC-USD", "NONE/SUCH", "ÇAY/USD"), 1)
    said = {each["pair"]: each["event"] for each in logs if "pair" in each}
    assert said == {
        "NONE-SUCH": "a pair is not followed: the venue does not trade it",
        "ÇAY/USD": "a pair is not followed: names of pairs have the letters A to Z and digits only",
    }


async def test_many_products_are_asked_for_in_parts(fake: FakeCoinbase) -> None:
    """No message grows without bound, and every part is answered."""
    fake.products = [{"id": f"C{number}-USD"} for number in range(2 * PRODUCTS_PER_SUBSCRIBE + 1)]
    fake.script = ()
    async with aclosing(provider(fake).updates()) as updates:
        await anext(updates)
    parts = [len(asked["product_ids"]) for asked in fake.subscribes]
    assert parts == [PRODUCTS_PER_SUBSCRIBE, PRODUCTS_PER_SUBSCRIBE, 1]


@pytest.mark.parametrize("path", ["/products", "/currencies"])
async def test_rest_may_fail_when_products_are_configured(fake: FakeCoinbase, path: str) -> None:
    """Quotes matter more than lists and names."""
    fake.answers[path] = HTML_503
    quotes = await last_quotes(provider(fake, "BTC-USD"), 1)
    assert quotes.keys() == {"BTC/USD"}


@pytest.mark.parametrize(
    ("answer", "problem", "retry_after"),
    [(HTML_503, "503", None), (TOO_MANY, "429", 7), (TRUNCATED, "unreadable", None), (huge(), "over", None)],
    ids=["html", "too many", "truncated", "huge"],
)
async def test_without_any_products_the_failure_is_told(
    fake: FakeCoinbase, answer: Any, problem: str, retry_after: float | None
) -> None:
    """There is nothing to subscribe to then."""
    fake.answers["/products"] = answer
    error = await failure(provider(fake))
    assert problem in str(error)
    assert error.retry_after == retry_after


async def test_products_of_the_connection_before_serve_when_the_list_fails(fake: FakeCoinbase) -> None:
    """A reconnect does not depend on REST."""
    adapter = provider(fake)
    await last_quotes(adapter, 3)
    fake.answers["/products"] = HTML_503
    assert len(await last_quotes(adapter, 3)) == 3


async def test_delisted_product_is_removed_at_the_next_connection(fake: FakeCoinbase) -> None:
    """Its quote would stay for ever otherwise."""
    adapter = provider(fake)
    await last_quotes(adapter, 3)
    fake.products = PRODUCTS[1:]
    async with aclosing(adapter.updates()) as updates:
        assert (await anext(updates)).removed == ["BTC/USD"]


async def test_no_product_that_trades_is_an_error(fake: FakeCoinbase) -> None:
    """An empty feed must not look healthy."""
    assert "none of the products" in str(await failure(provider(fake, "NONE-SUCH")))


async def test_refused_handshake_carries_retry_after(fake: FakeCoinbase) -> None:
    """The same rule as for REST."""
    fake.answers["/"] = TOO_MANY
    error = await failure(provider(fake))
    assert "status 429" in str(error)
    assert error.retry_after == 7


async def test_redirect_of_the_handshake_is_not_followed(fake: FakeCoinbase) -> None:
    """Another host would be sent the headers, and with some upstreams those hold the keys."""
    async with FakeCoinbase(PRODUCTS) as elsewhere:
        elsewhere.everywhere = HTML_503
        fake.answers["/"] = Answer(b"", 302, headers={"Location": elsewhere.websocket_url})
        assert "status 302" in str(await failure(provider(fake)))
        assert not elsewhere.requests


async def test_abrupt_end_is_an_error(fake: FakeCoinbase) -> None:
    """The caller reconnects."""
    fake.ending = "abort"
    assert "closed the connection" in str(await failure(provider(fake)))


async def test_silence_is_an_error(fake: FakeCoinbase) -> None:
    """A connection that says nothing, not even heartbeats, is presumed dead."""
    fake.ending = "silence"
    adapter = provider(fake)
    adapter.silence_seconds = 0.1
    assert "nothing for 0.1 s" in str(await failure(adapter))


async def test_error_message_is_an_error(fake: FakeCoinbase) -> None:
    """The error has the text of the message."""
    fake.ending = "error"
    assert "Failed to subscribe: internal" in str(await failure(provider(fake)))


async def test_product_unknown_to_the_upstream_is_its_error(fake: FakeCoinbase) -> None:
    """Without the list nobody can leave it out beforehand."""
    fake.answers["/products"] = HTML_503
    assert "NONE-SUCH is not a valid product" in str(await failure(provider(fake, "NONE-SUCH")))


async def test_subscription_that_is_not_answered_is_an_error(
    fake: FakeCoinbase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Heartbeats alone do not prove that quotes will come."""
    monkeypatch.setattr("quotecast.providers.coinbase.client.SUBSCRIBE_SECONDS", 0.1)
    fake.acknowledges = False
    assert "did not answer" in str(await failure(provider(fake)))


async def test_nobody_listening_is_an_error(fake: FakeCoinbase) -> None:
    """REST alone makes no feed."""
    gone = FakeCoinbase([], port=UNUSED_PORT)
    adapter = CoinbaseProvider(fake.url, gone.websocket_url, clock=lambda: NOW)
    assert "cannot be reached" in str(await failure(adapter))


async def test_malformed_messages_are_passed_over(fake: FakeCoinbase) -> None:
    """One bad message costs itself, not the connection, and no bad price gets out."""
    bad = [ScriptMessage(text) for text in ("{", "[]", '{"type":"ticker"}', '{"type":"ticker","price":NaN}')]
    fake.script = [said("100"), *bad, said("-1"), said("0"), said("1e9"), said("101")]
    adapter = provider(fake, "BTC-USD")
    quotes = await last_quotes(adapter, 1)
    assert quotes["BTC/USD"].price == 101
    assert adapter.statistics().items() >= {"malformed": 4, "unreadable": 2, "absurd": 1}.items()


async def test_message_over_the_bound_ends_the_connection(fake: FakeCoinbase) -> None:
    """No upstream fills our memory."""
    fake.script = [ScriptMessage('{"type":"new","x":"' + "x" * 2_000_000 + '"}')]
    assert "code 1009" in str(await failure(provider(fake)))


async def test_burst_is_one_update_with_the_newest_quotes(fake: FakeCoinbase) -> None:
    """What waits to be read is read at once, and no message is lost or turned around."""
    fake.script = [said(str(1000 + number), sequence=number) for number in range(1, 501)]
    updates: list[Update] = []
    async with aclosing(provider(fake, "BTC-USD").updates()) as stream:
        updates.append(await anext(stream))
        await fake.played.wait()
        while not any(quote.price == 1500 for quote in updates[-1].quotes):
            updates.append(await anext(stream))
    prices = [quote.price for update in updates for quote in update.quotes]
    assert prices == sorted(set(prices))
    assert len(prices) < 500


async def test_closing_the_iterator_closes_the_connection(fake: FakeCoinbase) -> None:
    """No connection outlives its reader."""
    async with aclosing(provider(fake).updates()) as updates:
        await anext(updates)
    async with asyncio.timeout(5):
        await fake.closed.wait()
