"""The Binance adapter against a local Binance: what it follows, and what it tells."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
import structlog

from fakes.binance import FakeBinance
from fakes.binance_rows import listing_row, statistics
from quotecast.market.quotes import CryptoQuote
from quotecast.providers.binance import client
from quotecast.providers.binance.client import BinanceProvider
from quotecast.providers.binance.history import BinanceHistory
from support.made.binance import (
    DAY,
    INFO,
    NOW,
    STREAM,
    connection_error,
    first_updates,
    provider,
    running_binance,
)


@pytest.fixture
async def fake() -> AsyncIterator[FakeBinance]:
    async with running_binance() as fake:
        yield fake


@pytest.mark.parametrize(
    ("domain", "name", "exchange"),
    [
        ("binance.us", "binance.us", "Binance.US"),
        ("binance.vision", "binance", "Binance"),
        ("notbinance.us", "binance", "Binance"),
    ],
)
async def test_venue_is_named_by_its_hosts(
    fake: FakeBinance, monkeypatch: pytest.MonkeyPatch, domain: str, name: str, exchange: str
) -> None:
    """Binance.US is another venue, with prices and bars of its own."""
    resolve = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda _, *more, **named: resolve("127.0.0.1", *more, **named))
    port = fake.url.rpartition(":")[2]
    adapter = BinanceProvider(
        f"http://api.{domain}:{port}", f"ws://stream.{domain}:{port}", ["BTC/USDT"], clock=lambda: NOW
    )
    [quote] = (await first_updates(adapter)).quotes
    assert isinstance(quote, CryptoQuote)
    assert (quote.provider, quote.exchange) == (name, exchange)
    assert adapter.name == BinanceHistory(f"http://api.{domain}:{port}").name == name


async def test_connection_begins_with_all_there_is(fake: FakeBinance) -> None:
    """Every field is the one that the upstream tells; whatever is not among them is gone."""
    fake.statistics["BTCUSDT"] = statistics("BTCUSDT", "92020.10", "91900.00", bidPrice="0.00000000")
    update = await first_updates(provider(fake, "BTC/USDT", "eth-usdt"))
    assert update.complete
    assert [quote.key for quote in update.quotes] == ["BTC/USDT", "ETH/USDT"]
    assert update.quotes[0] == CryptoQuote(
        provider="binance",
        exchange="Binance",
        ticker="BTC/USDT",
        name="Bitcoin",
        symbol="BTC",
        price=92020.1,
        bid=None,
        ask=92940.301,
        change=120.1,
        change_percent=0.131,
        open=91900.0,
        high=92020.1,
        low=91900.0,
        volume=1234.5,
        timestamp="2026-11-19T20:00:00Z",
    )


async def test_stream_moves_the_quotes(fake: FakeBinance) -> None:
    """Updates of the stream become quotes."""
    adapter = provider(fake, "BTC/USDT")
    async with asyncio.timeout(10), aclosing(adapter.updates()) as updates:
        await anext(updates)
        fake.statistics["BTCUSDT"] = statistics("BTCUSDT", "101.5")
        async for update in updates:
            if update.quotes and update.quotes[0].price == 101.5:
                break
    assert not update.complete
    assert adapter.statistics() == {}


async def test_by_default_the_best_known_are_followed(fake: FakeBinance) -> None:
    """Those quoted in USDT that trade and that a client could name."""
    update = await first_updates(provider(fake))
    assert {quote.key for quote in update.quotes} == {"BTC/USDT", "ETH/USDT", "NEWCOIN/USDT"}
    [command] = fake.commands
    assert command["method"] == "SUBSCRIBE"
    followed = [f"{name}usdt@{kind}" for kind in ("ticker", "kline_1m") for name in ("btc", "eth", "newcoin")]
    assert sorted(command["params"]) == sorted(followed)


async def test_pair_that_does_not_trade_is_left_out(fake: FakeBinance) -> None:
    """It is not fatal to the others."""
    update = await first_updates(provider(fake, "OLD/USDT", "BTCTRY", "NONE/SUCH"))
    assert [quote.key for quote in update.quotes] == ["BTC/TRY"]


async def test_log_tells_an_unknown_pair_from_one_that_no_client_could_name(fake: FakeBinance) -> None:
    """Binance does trade `币安人生/USDT`; the feed has names of A to Z and digits."""
    with structlog.testing.capture_logs() as logs:
        await first_updates(provider(fake, "BTC/USDT", "NONE/SUCH", "币安人生/USDT"))
    said = {each["pair"]: each["event"] for each in logs if "pair" in each}
    assert said == {
        "NONESUCH": "a pair is not followed: the venue does not trade it",
        "币安人生USDT": "a pair is not followed: names of pairs have the letters A to Z and digits only",
    }


async def test_no_pair_that_trades_is_an_error(fake: FakeBinance) -> None:
    """An empty feed must not look healthy."""
    assert "none of the pairs" in str(await connection_error(provider(fake, "NONE/SUCH")))


async def test_heartbeat_is_no_quote(fake: FakeBinance) -> None:
    """A pair that rests does not look like a dead connection, for another one speaks every second."""
    adapter = provider(fake, "ETH/USDT")
    async with asyncio.timeout(10), aclosing(adapter.updates()) as updates:
        await anext(updates)
        del fake.statistics["ETHUSDT"]
        for _ in range(20):
            update = await anext(updates)
    assert update.quotes == []
    assert fake.commands[0]["params"] == ["ethusdt@ticker", "btcusdt@ticker", "ethusdt@kline_1m"]


@pytest.mark.real_time
async def test_many_pairs_are_asked_for_in_parts(fake: FakeBinance) -> None:
    """No faster than the upstream, which hangs up past five messages a second, allows."""
    fake.listing = [listing_row(f"C{number}") for number in range(650)]
    fake.statistics = {row["symbol"]: statistics(row["symbol"]) for row in fake.listing[:1]}
    await first_updates(provider(fake, *(f"C{number}/USDT" for number in range(650))))
    assert [len(command["params"]) for command in fake.commands] == [100] * 10 + [24]


async def test_no_more_are_followed_than_a_connection_carries(fake: FakeBinance) -> None:
    """The upstream refuses what is beyond."""
    fake.sessions.messages_per_second = 1000
    fake.listing = [listing_row(f"C{number}") for number in range(1100)]
    fake.statistics = {row["symbol"]: statistics(row["symbol"]) for row in fake.listing}
    pairs = [f"C{number}/USDT" for number in range(1100)]

    async def no_pause(_: float) -> None:
        await asyncio.sleep(0)

    update = await first_updates(provider(fake, *pairs, sleep=no_pause))
    assert len(update.quotes) == 1023
    assert sum(len(command["params"]) for command in fake.commands) == 1024


async def test_too_fast_a_client_is_hung_up_on(fake: FakeBinance) -> None:
    """Which is an error like any end."""
    fake.sessions.messages_per_second = 1
    fake.listing = [listing_row(f"C{number}") for number in range(300)]
    error = await connection_error(provider(fake, *(f"C{number}/USDT" for number in range(300))))
    assert "1008" in str(error)


async def test_choice_is_made_once_a_day(fake: FakeBinance) -> None:
    """Later connections ask for the statistics alone; the next day finds what is gone and what is new."""
    now = [NOW]
    adapter = provider(fake, "BTC/USDT", "ETH/USDT", clock=lambda: now[0])
    await first_updates(adapter)
    fake.listing = [listing_row("ETH")]
    await first_updates(adapter)
    assert [asked.path for asked in fake.requests] == [INFO, STREAM, DAY, STREAM, DAY]
    now[0] += client.LIFE_SECONDS
    update = await first_updates(adapter)
    assert update.removed == ["BTC/USDT"]
    assert [quote.key for quote in update.quotes] == ["ETH/USDT"]


async def test_listing_is_asked_for_in_its_short_form(fake: FakeBinance) -> None:
    """In full it is several times as long."""
    await first_updates(provider(fake, "BTC/USDT"))
    assert fake.requests[0].query == {
        "permissions": "SPOT",
        "showPermissionSets": "false",
        "symbolStatus": "TRADING",
    }


async def test_bad_messages_are_passed_over(fake: FakeBinance) -> None:
    """Each costs itself, not the connection, and no bad price gets out."""
    fake.ending = "silence"
    adapter = provider(fake, "BTC/USDT")
    prices: list[float] = []
    async with asyncio.timeout(10), aclosing(adapter.updates()) as updates:
        await anext(updates)
        for text in ("{", "[]", '{"data":{"e":"24hrTicker","s":"BTCUSDT","c":NaN}}'):
            await fake.say_raw(text)
        for price in ("-1", "0.00000000", "1000000", "101"):
            await fake.say(statistics("BTCUSDT", closeTime=int(NOW * 1000), lastPrice=price))
        while not prices:
            prices += [quote.price for quote in (await anext(updates)).quotes]
    assert prices == [101]
    assert adapter.statistics() == {"malformed": 3, "unreadable": 2, "absurd": 1}


async def test_burst_is_one_update_with_the_newest_quotes(fake: FakeBinance) -> None:
    """What waits to be read is read at once, and no message is lost or turned around."""
    fake.ending = "silence"
    prices: list[float] = []
    async with asyncio.timeout(10), aclosing(provider(fake, "BTC/USDT").updates()) as updates:
        await anext(updates)
        for number in range(1, 501):
            await fake.say(statistics("BTCUSDT", str(100 + number), closeTime=int(NOW * 1000) + number))
        while 600 not in prices:
            prices += [quote.price for quote in (await anext(updates)).quotes]
    assert prices == sorted(set(prices))
    assert len(prices) < 500
