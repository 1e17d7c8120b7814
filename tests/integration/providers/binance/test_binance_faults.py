"""The Binance adapter against a Binance that fails, refuses, or wants to be left alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
from msgspec.structs import replace

from fakes.binance import BANNED, ELSEWHERE, TOO_MUCH, FakeBinance
from fakes.binance_rows import statistics
from fakes.http import (
    ENDLESS,
    HANGING,
    HTML_503,
    REDIRECT,
    SERVER_ERROR,
    TRUNCATED,
    UNUSED_PORT,
    Answer,
    huge,
)
from quotecast.providers.base import Update
from quotecast.providers.binance import client
from quotecast.providers.transport import fetch
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


NEVER_FOLLOWED = "/elsewhere"
BAD_ANSWERS = {
    "html": (HTML_503, "status 503"),
    "server error": (SERVER_ERROR, "status 500"),
    "firewall": (Answer(b"<html>denied</html>", 403, "text/html"), "status 403"),
    "truncated": (TRUNCATED, "unreadable"),
    "redirect": (REDIRECT, "status 302"),
    "huge": (huge(), "body over"),
    "endless": (ENDLESS, "body over"),
    "hanging": (HANGING, "no answer"),
    "no object": (Answer(b"[[]"), "unreadable"),
}


@pytest.mark.parametrize("path", [INFO, DAY])
@pytest.mark.parametrize(("answer", "problem"), BAD_ANSWERS.values(), ids=BAD_ANSWERS.keys())
async def test_bad_answer_ends_the_first_connection(
    fake: FakeBinance, monkeypatch: pytest.MonkeyPatch, path: str, answer: Answer, problem: str
) -> None:
    """There is nothing to tell yet."""
    if answer is HANGING:
        monkeypatch.setattr(fetch.get_json, "__kwdefaults__", {"params": None, "deadline_seconds": 0.1})
    fake.answers[path] = answer
    assert problem in str(await connection_error(provider(fake)))
    assert NEVER_FOLLOWED not in [asked.path for asked in fake.requests]


@pytest.mark.parametrize(
    "answer", [HTML_503, SERVER_ERROR, TRUNCATED, REDIRECT], ids=["html", "500", "cut", "302"]
)
async def test_later_connection_lives_without_rest(fake: FakeBinance, answer: Answer) -> None:
    """Known quotes stay, and the stream updates them."""
    now = [NOW]
    adapter = provider(fake, "BTC/USDT", clock=lambda: now[0])
    await first_updates(adapter)
    now[0] += client.LIFE_SECONDS
    fake.clock.now = lambda: now[0]
    fake.answers = {INFO: answer, DAY: answer}
    fake.statistics["BTCUSDT"] = statistics("BTCUSDT", "102")
    async with asyncio.timeout(10), aclosing(adapter.updates()) as updates:
        assert await anext(updates) == Update(removed=[])
        assert [quote.price for quote in (await anext(updates)).quotes] == [102]


async def test_rows_that_are_missing_or_bad_leave_the_last_good_ones(fake: FakeBinance) -> None:
    """One bad row never spoils the others."""
    adapter = provider(fake, "BTC/USDT", "ETH/USDT", "NEWCOIN/USDT")
    await first_updates(adapter)
    fake.statistics = {
        "BTCUSDT": statistics("BTCUSDT", "100000"),
        "ETHUSDT": statistics("ETHUSDT", "104", lastPrice="NaN"),
        "NEWCOINUSDT": statistics("NEWCOINUSDT", "103", highPrice="NaN"),
    }
    update = await first_updates(adapter)
    assert [(quote.key, quote.price) for quote in update.quotes] == [
        ("BTC/USDT", 100),
        ("ETH/USDT", 100),
        ("NEWCOIN/USDT", 103),
    ]
    assert update.complete
    assert adapter.statistics() == {"absurd": 1, "unreadable": 1, "unreadable_field": 1}


async def test_answer_without_a_row_removes_nothing(fake: FakeBinance) -> None:
    """An upstream that forgot everything is not believed."""
    adapter = provider(fake, "BTC/USDT")
    await first_updates(adapter)
    fake.answers[DAY] = Answer(b"[]")
    assert [quote.price for quote in (await first_updates(adapter)).quotes] == [100]
    assert await first_updates(provider(fake, "BTC/USDT")) == Update([], [])


@pytest.mark.parametrize(("answer", "seconds"), [(TOO_MUCH, 7), (BANNED, 130)], ids=["429", "418"])
@pytest.mark.parametrize("path", [INFO, DAY])
async def test_upstream_that_wants_to_be_left_alone_is(
    fake: FakeBinance, path: str, answer: Answer, seconds: float
) -> None:
    """No call is made before the time it named; it bans who goes on."""
    now = [NOW]
    adapter = provider(fake, "BTC/USDT", clock=lambda: now[0])
    fake.answers[path] = answer
    assert (await connection_error(adapter)).retry_after == seconds
    calls = len([asked for asked in fake.requests if asked.path != STREAM])
    now[0] += seconds - 1
    assert (await connection_error(adapter)).retry_after == 1
    assert len([asked for asked in fake.requests if asked.path != STREAM]) == calls
    now[0] += 1
    fake.answers.clear()
    assert (await first_updates(adapter)).complete


@pytest.mark.parametrize(("answer", "seconds"), [(TOO_MUCH, 7), (BANNED, 130)], ids=["429", "418"])
async def test_later_connection_obeys_too(fake: FakeBinance, answer: Answer, seconds: float) -> None:
    """What is known already is no reason to go on."""
    adapter = provider(fake, "BTC/USDT")
    await first_updates(adapter)
    fake.answers[DAY] = answer
    assert (await connection_error(adapter)).retry_after == seconds


@pytest.mark.parametrize(("answer", "seconds"), [(TOO_MUCH, 60), (BANNED, 120)], ids=["429", "418"])
async def test_upstream_that_does_not_say_how_long_is_left_alone_too(
    fake: FakeBinance, answer: Answer, seconds: float
) -> None:
    """For a window of its limit, or its shortest ban."""
    adapter = provider(fake, "BTC/USDT")
    fake.answers[INFO] = replace(answer, headers={})
    await connection_error(adapter)
    assert (await connection_error(adapter)).retry_after == seconds


async def test_weight_near_the_limit_holds_back(fake: FakeBinance) -> None:
    """Until the minute is over, for other processes share the address."""
    now = [NOW + 18]
    adapter = provider(fake, "BTC/USDT", clock=lambda: now[0])
    fake.weight = 5390
    error = await connection_error(adapter)
    assert error.retry_after == 42
    assert [asked.path for asked in fake.requests] == [INFO, STREAM]
    now[0] += 42
    fake.weight = 0
    assert (await first_updates(adapter)).complete


@pytest.mark.parametrize("path", [INFO, DAY, STREAM])
async def test_place_that_is_not_served_is_said(fake: FakeBinance, path: str) -> None:
    """Asking again soon does not help; another provider does."""
    fake.answers[path] = ELSEWHERE
    error = await connection_error(provider(fake))
    assert "does not serve this country" in str(error)
    assert error.retry_after == 3600


async def test_subscription_that_is_refused_is_an_error(fake: FakeBinance) -> None:
    """The error has the text of the message."""
    fake.sessions.streams_per_connection = 1
    assert "error 4: Too many subscriptions" in str(await connection_error(provider(fake)))


async def test_subscription_that_is_not_answered_is_an_error(
    fake: FakeBinance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is REST asked before: what changed between the two would be lost."""
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.1)
    fake.acknowledges = False
    assert "did not answer" in str(await connection_error(provider(fake, "BTC/USDT")))
    assert [asked.path for asked in fake.requests] == [INFO, STREAM]


async def test_nobody_listening_is_an_error(fake: FakeBinance) -> None:
    """REST alone makes no feed."""
    gone = FakeBinance(port=UNUSED_PORT)
    adapter = client.BinanceProvider(fake.url, gone.websocket_url, clock=lambda: NOW)
    assert "cannot be reached" in str(await connection_error(adapter))


async def test_refused_handshake_carries_retry_after(fake: FakeBinance) -> None:
    """The same rule as for REST."""
    fake.answers[STREAM] = TOO_MUCH
    error = await connection_error(provider(fake))
    assert "status 429" in str(error)
    assert error.retry_after == 7


@pytest.mark.parametrize(
    ("answer", "problem"), [(HTML_503, "status 503"), (REDIRECT, "status 302")], ids=["html", "redirect"]
)
async def test_refused_handshake_is_an_error(fake: FakeBinance, answer: Answer, problem: str) -> None:
    """No redirect is followed."""
    fake.answers[STREAM] = answer
    assert problem in str(await connection_error(provider(fake)))
    assert NEVER_FOLLOWED not in [asked.path for asked in fake.requests]
