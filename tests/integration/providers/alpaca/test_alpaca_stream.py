"""Alpaca's stream between polls, against a local Alpaca."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
import structlog
from websockets.asyncio.client import ClientConnection

from fakes.alpaca_stream import bar, trade
from fakes.http import HTML_503, REDIRECT, TOO_MANY
from quotecast.errors import UpstreamError
from quotecast.market.quotes import StockQuote
from quotecast.market.reference import Stock
from quotecast.providers.alpaca import client, stream
from quotecast.providers.alpaca.rest_wire import MarketClock
from quotecast.providers.transport import sockets
from quotecast.providers.transport.sockets import FellSilent
from support.made.alpaca import AAPL, SNAPSHOT
from support.runs.waits import until
from support.servers.alpaca_local import MICROSOFT, PATH, LocalAlpaca, local_alpaca, prices

MOMENT = "2026-11-19T17:00:00Z"


@pytest.fixture
async def alpaca() -> AsyncIterator[LocalAlpaca]:
    async with local_alpaca() as local:
        yield local


def problems(logs: list[Any]) -> str:
    return " ".join(str(entry.get("problem")) for entry in logs)


async def test_trades_and_minute_bars_move_the_quotes(alpaca: LocalAlpaca) -> None:
    """Messages of one frame form one update; messages of other stocks are ignored."""
    alpaca.stream.feeds.add("sip")
    async with aclosing(alpaca.provider(plan_feed="sip").updates()) as updates:
        await anext(updates)
        await alpaca.stream.until_subscribed()
        await alpaca.stream.say(
            trade("AAPL", 231.6, MOMENT),
            bar("ZZZZ", "2026-11-19T16:59:00Z", (1, 1, 1, 1), 1),
            {"T": "new", "S": "AAPL", "r": {}},
            trade("AAPL", 231.7, MOMENT),
            trade("AAPL", 299, MOMENT, "@", "I"),
            bar("MSFT", "2026-11-19T16:59:00Z", (231, 240, 231, 239), 1900),
        )
        update = await anext(updates)
    assert prices(update) == {"AAPL": 231.7, "MSFT": 239.0}
    [microsoft] = [quote for quote in update.quotes if quote.key == "MSFT"]
    assert isinstance(microsoft, StockQuote)
    assert (microsoft.high, microsoft.volume) == (240.0, "813345")


async def test_trades_of_the_largest_and_bars_of_all_are_asked_for(alpaca: LocalAlpaca) -> None:
    """The stream subscribes to the trades of the 30 largest companies and to all minute bars."""
    stocks = [Stock(f"S{chr(65 + number)}", "", "", "", "", number % 26 + 1, 1.0) for number in range(26)]
    stocks += [Stock(f"L{chr(65 + number)}", "", "", "", "", 1000, 1.0) for number in range(26)]
    async with aclosing(alpaca.provider(stocks).updates()) as updates:
        await anext(updates)
        await alpaca.stream.until_subscribed()
    [command] = alpaca.stream.commands
    largest = sorted(stock.ticker for stock in stocks[22:])
    assert command | {"trades": sorted(command["trades"])} == {
        "action": "subscribe",
        "trades": largest,
        "bars": ["*"],
    }


async def test_named_tickers_are_streamed(alpaca: LocalAlpaca) -> None:
    async with aclosing(alpaca.provider(streamed=["MSFT"]).updates()) as updates:
        await anext(updates)
        await alpaca.stream.until_subscribed()
    assert alpaca.stream.commands[0]["trades"] == ["MSFT"]


@pytest.mark.parametrize("code", [402, 408, 409, 411])
async def test_error_that_needs_the_operator_is_retried_in_an_hour(alpaca: LocalAlpaca, code: int) -> None:
    """The log names the operator, and polls continue."""
    alpaca.stream.refuses = code
    with structlog.testing.capture_logs() as logs:
        async with aclosing(alpaca.provider().updates()) as updates:
            assert len((await anext(updates)).quotes) == 2
            assert await alpaca.tries.end() == 3600
            await alpaca.polls.end()
            await anext(updates)
    assert "operator" in problems(logs)
    assert str(code) in problems(logs)


async def test_feed_beyond_the_plan_says_which_to_choose(alpaca: LocalAlpaca) -> None:
    with structlog.testing.capture_logs() as logs:
        async with aclosing(alpaca.provider(plan_feed="sip").updates()) as updates:
            await anext(updates)
            await alpaca.tries.end()
    assert "choose iex" in problems(logs)


@pytest.mark.parametrize("code", [400, 401, 404, 407, 410, 500, 599])
async def test_other_failures_are_tried_again_with_backoff(alpaca: LocalAlpaca, code: int) -> None:
    alpaca.stream.refuses = code
    async with aclosing(alpaca.provider().updates()) as updates:
        await anext(updates)
        assert [await alpaca.tries.end() for _ in range(3)] == [0.5, 1.0, 2.0]
        assert await alpaca.tries.wait_until_asleep() == 4
        alpaca.stream.refuses = None
        alpaca.tries.wake()
        await alpaca.stream.until_subscribed()
        await alpaca.stream.say(trade("AAPL", 231.6, MOMENT))
        assert prices(await anext(updates)) == {"AAPL": 231.6}


async def test_refused_connections_lengthen_the_delay(alpaca: LocalAlpaca) -> None:
    """Each refused connection adds half a second to the delay, after the usual backoff."""
    alpaca.stream.connection_limit = 0
    async with aclosing(alpaca.provider(chance=lambda: 0.9).updates()) as updates:
        await anext(updates)
        waits = [await alpaca.tries.end() for _ in range(70)]
        await alpaca.tries.wait_until_asleep()
        alpaca.stream.connection_limit = 1
        alpaca.tries.wake()
        await alpaca.stream.until_subscribed()
    assert waits == sorted(waits)
    assert waits[-3:] == [34.0, 34.5, 35.0]


async def test_too_many_symbols_are_halved(alpaca: LocalAlpaca) -> None:
    """The adapter retries with half the symbols on the same connection."""
    alpaca.stream.symbol_limit = 3
    stocks = [Stock(f"S{chr(65 + number)}", "", "", "", "", 100 - number, 1.0) for number in range(8)]
    async with aclosing(alpaca.provider(stocks).updates()) as updates:
        await anext(updates)
        await alpaca.stream.until_subscribed()
    assert [command["trades"] for command in alpaca.stream.commands][-1] == ["SA", "SB"]
    assert len(alpaca.stream.commands) == 3


async def test_already_authenticated_is_not_a_failure(alpaca: LocalAlpaca) -> None:
    async with aclosing(alpaca.provider().updates()) as updates:
        await anext(updates)
        await alpaca.stream.until_subscribed()
        await alpaca.stream.say({"T": "error", "code": 403, "msg": "already authenticated"})
        await alpaca.stream.say(trade("AAPL", 231.6, MOMENT))
        assert prices(await anext(updates)) == {"AAPL": 231.6}


@pytest.mark.parametrize("how", ["abort", "error", "huge", "silence"])
async def test_broken_connection_is_followed_by_another(
    alpaca: LocalAlpaca, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The adapter reconnects and subscribes again, with one connection at a time."""
    monkeypatch.setattr(stream, "SILENCE_SECONDS", 0.3 if how == "silence" else 60.0)
    async with aclosing(alpaca.provider().updates()) as updates:
        await anext(updates)
        await alpaca.stream.until_subscribed()
        if how == "abort":
            alpaca.stream.abort()
        elif how == "error":
            await alpaca.stream.fail_all(407)
        elif how == "huge":
            await alpaca.stream.say_raw('[{"T":"new","x":"' + "x" * 2_000_000 + '"}]')
        assert await alpaca.tries.end() == 0.5
        await alpaca.stream.until_subscribed(2)
        await alpaca.stream.say(trade("AAPL", 231.6, MOMENT))
        assert prices(await anext(updates)) == {"AAPL": 231.6}
    assert alpaca.stream.commands[0] == alpaca.stream.commands[1]
    assert alpaca.stream.most_at_once == 1


@pytest.mark.parametrize("closure", ["before the silence", "during the silence"])
async def test_silence_limit_is_longer_during_an_unscheduled_closure(
    alpaca: LocalAlpaca, monkeypatch: pytest.MonkeyPatch, closure: str
) -> None:
    """A healthy connection stays open while the closed exchange sends nothing, instead of 3 minutes."""
    listening, silent, limits = asyncio.Event(), asyncio.Event(), list[float]()

    async def receive(connection: ClientConnection, seconds: float, name: str) -> list[bytes]:
        limits.append(seconds)
        listening.set()
        if len(limits) == 1 and closure == "during the silence":
            await silent.wait()
            raise FellSilent(name)
        return await sockets.receive(connection, seconds, name)

    async def exchange_clock() -> MarketClock:
        await listening.wait()
        return MarketClock(False, "2026-11-20T09:30:00-05:00", "2026-11-20T16:00:00-05:00")

    monkeypatch.setattr(stream, "receive", receive)
    monkeypatch.setattr(client, "CLOCK_SECONDS", 60.0)
    async with aclosing(alpaca.provider(exchange_clock=exchange_clock).updates()) as updates:
        assert (await anext(updates)).unscheduled
        silent.set()
        await alpaca.stream.say({"T": "new", "S": "AAPL"})
        await until(lambda: len(limits) > 1)
    assert limits[:2] == [stream.SILENCE_SECONDS, stream.SILENCE_CLOSED_SECONDS]
    assert alpaca.stream.subscriptions == 1


async def test_malformed_frames_are_ignored(alpaca: LocalAlpaca) -> None:
    """A malformed message affects neither its connection nor other prices."""
    provider = alpaca.provider()
    async with aclosing(provider.updates()) as updates:
        await anext(updates)
        await alpaca.stream.until_subscribed()
        for text in ("{", "7", '[{"T":"t","S":"AAPL","p":NaN}]', '[{"T":"t","S":7}]', "\x00"):
            await alpaca.stream.say_raw(text)
        await alpaca.stream.say(trade("AAPL", 0, MOMENT), trade("AAPL", 1e9, MOMENT))
        await alpaca.stream.say(trade("AAPL", 231.6, MOMENT))
        assert prices(await anext(updates)) == {"AAPL": 231.6}
    assert provider.statistics() == {"malformed": 5, "unreadable": 1, "absurd": 1}


@pytest.mark.parametrize("how", ["not let in", "not subscribed"])
async def test_silent_opening_has_a_deadline(
    alpaca: LocalAlpaca, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(stream, "HANDSHAKE_SECONDS", 0.2)
    alpaca.stream.refuses = "silently" if how == "not let in" else None
    alpaca.stream.acknowledges = False
    with structlog.testing.capture_logs() as logs:
        async with aclosing(alpaca.provider().updates()) as updates:
            await anext(updates)
            assert await alpaca.tries.end() == 0.5
    assert "did not open" in problems(logs)


@pytest.mark.parametrize(
    ("answer", "wait"), [(TOO_MANY, 7.0), (HTML_503, 0.5), (REDIRECT, 0.5)], ids=["429", "html", "redirect"]
)
async def test_refused_handshake_is_tried_again(alpaca: LocalAlpaca, answer: Any, wait: float) -> None:
    """The next attempt follows the response's Retry-After; a redirect is not followed with the keys."""
    alpaca.stream.everywhere = answer
    async with aclosing(alpaca.provider().updates()) as updates:
        await anext(updates)
        assert await alpaca.tries.end() == wait
    assert {asked.path for asked in alpaca.stream.requests} == {"/v2/iex"}


async def test_rest_may_fail_while_trades_are_streamed(alpaca: LocalAlpaca) -> None:
    """Polls continue while trades arrive; the updates end when the stream fails too."""
    async with aclosing(alpaca.provider().updates()) as updates:
        await anext(updates)
        await alpaca.stream.until_subscribed()
        await alpaca.stream.say(trade("AAPL", 231.6, MOMENT))
        await anext(updates)
        alpaca.rest.answers[PATH] = HTML_503
        await alpaca.polls.end()
        assert prices(await anext(updates)) == {}
        await alpaca.stream.say(trade("AAPL", 231.8, MOMENT))
        assert prices(await anext(updates)) == {"AAPL": 231.8}
        alpaca.stream.abort()
        await alpaca.tries.end()
        alpaca.stream.refuses = "silently"
        await alpaca.polls.end()
        with pytest.raises(UpstreamError, match="503"):
            await anext(updates)


async def test_closing_the_updates_closes_the_connection(alpaca: LocalAlpaca) -> None:
    """Closing the updates closes the connection, because Alpaca allows only one."""
    async with aclosing(alpaca.provider().updates()) as updates:
        await anext(updates)
        await alpaca.stream.until_subscribed()
    await alpaca.stream.until_left()


async def test_second_reader_waits_for_the_first_ones_connection(alpaca: LocalAlpaca) -> None:
    """A second reader waits for the first one's connection to close."""
    provider = alpaca.provider()
    async with aclosing(provider.updates()) as second:
        async with aclosing(provider.updates()) as first:
            await anext(first)
            await alpaca.stream.until_subscribed()
            await anext(second)
            await alpaca.polls.end()
        await alpaca.stream.until_subscribed(2)
    assert alpaca.stream.most_at_once == 1


async def test_stream_before_the_first_answer_brings_no_parts(alpaca: LocalAlpaca) -> None:
    """Stream messages before the first snapshot produce no partial quotes."""
    alpaca.rest.rows = {"MSFT": SNAPSHOT}
    async with aclosing(alpaca.provider([AAPL, MICROSOFT]).updates()) as updates:
        await anext(updates)
        await alpaca.stream.until_subscribed()
        await alpaca.stream.say(trade("AAPL", 300, MOMENT), trade("MSFT", 231.6, MOMENT))
        assert prices(await anext(updates)) == {"MSFT": 231.6}
