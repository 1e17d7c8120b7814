"""A Binance connection ends when either side closes it, or when the upstream fails or is silent."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing

import pytest

from fakes.binance import FakeBinance
from quotecast.errors import UpstreamError
from quotecast.providers.binance.client import BinanceProvider
from support.made.binance import NOW, connection_error, first_updates, provider, running_binance


@pytest.fixture
async def fake() -> AsyncIterator[FakeBinance]:
    async with running_binance() as fake:
        yield fake


async def failure_while_streaming(
    adapter: BinanceProvider, act: Callable[[], Awaitable[None]]
) -> UpstreamError:
    """How the connection ends by what the upstream does once it streams."""
    async with asyncio.timeout(10), aclosing(adapter.updates()) as updates:
        await anext(updates)
        await act()
        with pytest.raises(UpstreamError) as caught:
            async for _ in updates:
                pass
    return caught.value


async def test_closing_the_iterator_closes_the_connection(fake: FakeBinance) -> None:
    """No connection outlives its reader."""
    await first_updates(provider(fake, "BTC/USDT"))
    async with asyncio.timeout(5):
        await fake.closed.wait()


async def test_cancelling_closes_the_connection(fake: FakeBinance) -> None:
    """A cancelled task does not wait for the upstream."""
    fake.ending = "silence"
    adapter = provider(fake, "BTC/USDT")
    async with aclosing(adapter.updates()) as updates:
        await anext(updates)
        waiting = asyncio.ensure_future(anext(updates))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async with asyncio.timeout(5):
            await fake.closed.wait()


async def test_connection_ends_before_the_upstream_would_end_it(fake: FakeBinance) -> None:
    """In less than 24 hours, and the next may follow at once."""
    now = [NOW]
    adapter = provider(fake, "BTC/USDT", clock=lambda: now[0])

    async def pass_the_day() -> None:
        now[0] += 23.6 * 3600

    error = await failure_while_streaming(adapter, pass_the_day)
    assert "reconnecting" in str(error)
    assert error.retry_after == 0


async def test_announced_end_is_an_error_at_once(fake: FakeBinance) -> None:
    """The next connection is open before long."""
    error = await failure_while_streaming(provider(fake, "BTC/USDT"), fake.shut_down)
    assert error.retry_after == 1


async def test_error_message_is_an_error(fake: FakeBinance) -> None:
    """The error has the text of the message."""

    async def complain() -> None:
        await fake.say_raw('{"code":2,"msg":"Invalid request"}')

    assert "error 2: Invalid request" in str(await failure_while_streaming(provider(fake), complain))


async def test_abrupt_end_is_an_error(fake: FakeBinance) -> None:
    """The caller reconnects."""

    async def abort() -> None:
        fake.abort()

    assert "closed the connection" in str(await failure_while_streaming(provider(fake), abort))


async def test_message_over_the_bound_ends_the_connection(fake: FakeBinance) -> None:
    """No upstream fills our memory."""

    async def pour() -> None:
        await fake.say_raw('{"new":"' + "x" * 2_000_000 + '"}')

    assert "code 1009" in str(await failure_while_streaming(provider(fake), pour))


async def test_silence_is_an_error(fake: FakeBinance) -> None:
    """A connection that says nothing is presumed dead."""
    fake.ending = "silence"
    adapter = provider(fake, "BTC/USDT")
    adapter.silence_seconds = 0.1
    assert "nothing for 0.1 s" in str(await connection_error(adapter))
