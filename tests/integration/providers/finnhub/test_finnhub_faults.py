"""Failures of Finnhub and their errors: the same for every method."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Final

import pytest
import structlog

from fakes.finnhub import TOO_MANY, FakeFinnhub
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
from fakes.http import TOO_MANY as TOO_MANY_FOR_7_SECONDS
from quotecast.errors import NotOffered, QuotecastError, UpstreamError
from quotecast.providers.finnhub.client import FinnhubFinancials
from support.servers.finnhub_local import EVERYTHING, ask, local_finnhub, provider
from support.stages.caching import Clock

CANARY: Final = "canary-key-5f1c"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def fake(clock: Clock) -> AsyncIterator[FakeFinnhub]:
    async with local_finnhub(clock) as fake:
        yield fake


async def failure(upstream: FinnhubFinancials, what: str) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        await ask(upstream, what)
    return caught.value


@pytest.mark.parametrize("what", EVERYTHING)
@pytest.mark.parametrize(
    ("answer", "problem", "retry_after"),
    [
        (HTML_503, "status 503, text/html", None),
        (TOO_MANY_FOR_7_SECONDS, "status 429", 7),
        (SERVER_ERROR, "status 500", None),
        (REDIRECT, "status 302", None),
        (TRUNCATED, "unreadable", None),
        (Answer(b'{"metric":{"peTTM":NaN},"data":NaN}'), "unreadable", None),
        (Answer(b'"soon"'), "unreadable", None),
        (Answer(b"[" * 100_000), "unreadable", None),
        (Answer(b"<html></html>", 200, "text/html"), "text/html", None),
        (Answer.of({"error": "something"}), "in the answer|where a list should be", None),
    ],
    ids=["html 503", "429", "500", "redirect", "truncated", "NaN", "text", "nested", "html 200", "error 200"],
)
async def test_failure_is_an_upstream_error(
    fake: FakeFinnhub, what: str, answer: Answer, problem: str, retry_after: float | None
) -> None:
    """And costs one call."""
    fake.everywhere = answer
    with pytest.raises(UpstreamError, match=problem) as caught:
        await ask(provider(fake), what)
    assert caught.value.retry_after == retry_after
    assert len(fake.requests) == 1


@pytest.mark.parametrize("what", EVERYTHING)
async def test_body_over_the_bound_is_an_error(fake: FakeFinnhub, what: str) -> None:
    """Eight megabytes and a byte, or one without end."""
    for answer in (huge(), ENDLESS):
        fake.everywhere = answer
        assert "body over" in str(await failure(provider(fake), what))


@pytest.mark.parametrize("what", EVERYTHING)
async def test_silence_has_a_deadline(fake: FakeFinnhub, what: str) -> None:
    fake.everywhere = HANGING
    error = await failure(provider(fake, deadline_seconds=0.1), what)
    assert "no answer in 0.1 s" in str(error)


@pytest.mark.parametrize("what", EVERYTHING)
async def test_nobody_listening_is_an_error(what: str) -> None:
    assert "ConnectError" in str(await failure(provider(FakeFinnhub(UNUSED_PORT)), what))


@pytest.mark.parametrize("what", EVERYTHING)
async def test_answer_that_breaks_off_is_an_error(fake: FakeFinnhub, what: str) -> None:
    """Half a body is none, even if the half could be read."""

    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        writer.write(head + b"[]")
        await writer.drain()
        writer.transport.abort()

    async with await asyncio.start_server(break_off, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        error = await failure(provider(fake, url=url), what)
    assert "ProtocolError" in str(error) or "ReadError" in str(error)


async def test_price_that_cannot_be_asked_for_says_nothing_of_the_symbol(fake: FakeFinnhub) -> None:
    """An empty list is then an upstream that failed, not a symbol that is unknown."""
    fake.fail(Answer.of([]), "/stock/earnings")
    fake.fail(SERVER_ERROR, "/quote")
    assert "/quote: status 500" in str(await failure(provider(fake), "earnings"))


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "7", "X-Ratelimit-Reset": "20"}, 7),
        ({"X-Ratelimit-Reset": "20"}, 20),
        ({"X-Ratelimit-Reset": "600"}, 60),
        ({"X-Ratelimit-Reset": "now+20"}, 20),
        ({"X-Ratelimit-Reset": "now+600"}, 60),
        ({"X-Ratelimit-Reset": "now-5"}, None),
        ({"X-Ratelimit-Reset": "soon"}, None),
        ({}, None),
    ],
    ids=str,
)
async def test_upstream_is_left_alone_for_as_long_as_it_says(
    fake: FakeFinnhub, clock: Clock, headers: dict[str, str], wait: float | None
) -> None:
    """In seconds, or until a Unix time, at most a minute; meanwhile no call is made, whatever is asked."""
    told = {name: _moment(value, clock.now) for name, value in headers.items()}
    fake.everywhere = Answer(TOO_MANY.body, 429, "text/plain", told)
    upstream = provider(fake)
    assert (await failure(upstream, "metrics")).retry_after == wait
    fake.everywhere = None
    if wait:
        clock.now += wait - 1
        assert (await failure(upstream, "earnings")).retry_after == 1
        assert len(fake.requests) == 1
        clock.now += 1
    assert await upstream.earnings("AAPL")


def _moment(text: str, now: float) -> str:
    return str(int(now) + int(text[3:])) if text.startswith("now") else text


async def test_refusal_that_names_no_time_does_not_shorten_another(fake: FakeFinnhub) -> None:
    """Of calls under way at the same time."""
    fake.fail(Answer(TOO_MANY.body, 429, headers={"Retry-After": "30"}), "/stock/metric")
    fake.fail(Answer(TOO_MANY.body, 429), "/stock/earnings")
    gates = [asyncio.Event(), asyncio.Event()]
    left = iter(gates)

    async def admitted() -> None:
        await next(left).wait()

    upstream = provider(fake, admitted=admitted)
    calls = [asyncio.create_task(failure(upstream, what)) for what in ("metrics", "earnings")]
    for gate, call in zip(gates, calls, strict=True):
        gate.set()
        assert (await call).retry_after == 30
    assert (await failure(upstream, "recommendations")).retry_after == 30
    assert len(fake.requests) == 2


@pytest.mark.parametrize("limit", ["per_minute", "per_second"])
async def test_calls_beyond_the_plan_are_refusals_of_the_upstream(fake: FakeFinnhub, limit: str) -> None:
    """And ours say when to come again."""
    setattr(fake.limits, limit, 2)
    upstream = provider(fake)
    await upstream.recommendations("AAPL")
    await upstream.recommendations("AAPL")
    error = await failure(upstream, "recommendations")
    assert "status 429" in str(error)
    assert error.retry_after == 60


@pytest.mark.parametrize("what", EVERYTHING)
async def test_used_up_plan_takes_no_call(fake: FakeFinnhub, what: str) -> None:
    """The error of the budget says when it has calls again."""

    async def admitted() -> None:
        raise UpstreamError("used up", retry_after=12)

    assert (await failure(provider(fake, admitted=admitted), what)).retry_after == 12
    assert not fake.requests


@pytest.mark.parametrize("what", EVERYTHING)
@pytest.mark.parametrize("status", [200, 400, 401, 403, 429, 500])
async def test_key_that_the_upstream_repeats_is_told_nobody(
    fake: FakeFinnhub, caplog: pytest.LogCaptureFixture, what: str, status: int
) -> None:
    """Not in logs, errors or representations; it travels in a header alone."""
    caplog.set_level(logging.DEBUG)
    fake.key = CANARY
    fake.everywhere = Answer(f"no {CANARY}".encode(), status, "text/plain")
    upstream = provider(fake)
    with structlog.testing.capture_logs() as logs, pytest.raises(QuotecastError) as caught:
        await ask(upstream, what)
    error, cause = caught.value, caught.value.__cause__
    assert isinstance(error, NotOffered) == (status == 403)
    told = f"{error!r} {cause!r} {getattr(cause, 'excerpt', '')} {getattr(error, 'excerpt', '')} {logs}"
    # The fake logs what it is asked.
    logged = [record.getMessage() for record in caplog.records if record.name != "websockets.server"]
    [asked] = fake.requests
    assert CANARY not in f"{told} {logged} {upstream!r} {vars(upstream)!r} {asked.target}"
    assert asked.headers["X-Finnhub-Token"] == CANARY
