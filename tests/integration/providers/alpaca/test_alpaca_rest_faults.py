"""Failures of Alpaca's REST, the same for bars, news, assets and clock."""

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Final

import pytest
import structlog

from fakes.alpaca import BAD_GATEWAY, TOO_MANY, FakeAlpaca
from fakes.http import ENDLESS, HANGING, REDIRECT, SERVER_ERROR, TRUNCATED, UNUSED_PORT, Answer, huge
from fakes.http import TOO_MANY as TOO_MANY_FOR_7_SECONDS
from quotecast.errors import UpstreamError
from quotecast.providers.transport import fetch
from support.made.alpaca_rest import EVERYTHING, NOW, Upstreams, failure, local_rest

CANARY: Final = ("canary-key-5f1c", "canary-secret-9d2e")


@pytest.fixture
async def fake() -> AsyncIterator[FakeAlpaca]:
    async with local_rest() as fake:
        yield fake


@pytest.mark.parametrize("what", EVERYTHING)
@pytest.mark.parametrize(
    ("answer", "problem", "retry_after"),
    [
        (BAD_GATEWAY, "status 502, text/html", None),
        (TOO_MANY_FOR_7_SECONDS, "status 429", 7),
        (SERVER_ERROR, "status 500", None),
        (REDIRECT, "status 302", None),
        (TRUNCATED, "unreadable", None),
        (Answer(b"nu", 200), "unreadable", None),
        (Answer(b"[" * 100_000), "unreadable", None),
        (Answer(b"<html></html>", 200, "text/html"), "text/html", None),
    ],
    ids=["html 502", "429", "500", "redirect", "truncated", "half a word", "nested", "html 200"],
)
async def test_failure_is_an_upstream_error(
    fake: FakeAlpaca, what: str, answer: Answer, problem: str, retry_after: float | None
) -> None:
    """A failure raises UpstreamError after one call."""
    fake.everywhere = answer
    error = await failure(fake, what)
    assert problem in str(error)
    assert error.retry_after == retry_after
    assert len(fake.requests) == 1


@pytest.mark.parametrize("what", EVERYTHING)
async def test_body_over_the_bound_is_an_error(fake: FakeAlpaca, what: str) -> None:
    """A body of more than eight megabytes, or an endless one, is an error."""
    for answer in (huge(), ENDLESS):
        fake.everywhere = answer
        assert "body over" in str(await failure(fake, what))


@pytest.mark.parametrize("what", EVERYTHING)
async def test_silence_has_a_deadline(fake: FakeAlpaca, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch.get_json, "__kwdefaults__", {"params": None, "deadline_seconds": 0.1})
    fake.everywhere = HANGING
    assert "no answer in 0.1 s" in str(await failure(fake, what))


@pytest.mark.parametrize("what", EVERYTHING)
async def test_nobody_listening_is_an_error(fake: FakeAlpaca, what: str) -> None:
    gone = FakeAlpaca(UNUSED_PORT)
    gone.clock = fake.clock
    assert "ConnectError" in str(await failure(gone, what))


@pytest.mark.parametrize("what", EVERYTHING)
async def test_answer_that_breaks_off_is_an_error(fake: FakeAlpaca, what: str) -> None:
    """A truncated body is an error, even if its beginning is valid."""

    async def break_off(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        writer.write(head + b"[]")
        await writer.drain()
        writer.transport.abort()

    async with await asyncio.start_server(break_off, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(UpstreamError, match=r"ProtocolError|ReadError"):
            await Upstreams(fake, url=url).ask(what)


@pytest.mark.parametrize("what", EVERYTHING)
async def test_refused_keys_are_named(fake: FakeAlpaca, what: str) -> None:
    """The error names the keys for both authentication statuses, 401 and 403."""
    upstreams = Upstreams(fake)
    fake.keys = ("other", "keys")
    with pytest.raises(UpstreamError, match=r"refuses the keys: .* status 403"):
        await upstreams.ask(what)
    fake.everywhere = Answer.of({"message": "unauthorized."}, 401)
    with pytest.raises(UpstreamError, match=r"refuses the keys: .* status 401"):
        await upstreams.ask(what)


@pytest.mark.parametrize(
    ("reset", "wait"),
    [(20, 20), (600, 60), (0, None), (-5, None)],
    ids=["within a minute", "far off", "now", "past"],
)
async def test_end_of_the_rate_window_is_waited_for(fake: FakeAlpaca, reset: int, wait: float | None) -> None:
    """The retry delay comes from the header X-RateLimit-Reset and is at most a minute."""
    fake.everywhere = Answer(
        TOO_MANY.body, 429, headers={"X-RateLimit-Reset": str(int(NOW.timestamp()) + reset)}
    )
    assert (await failure(fake, "news")).retry_after == wait


async def test_calls_beyond_the_plan_are_refusals_of_the_upstream(fake: FakeAlpaca) -> None:
    """A call beyond the plan's rate raises an error with the retry delay."""
    fake.calls_per_minute = 2
    upstreams = Upstreams(fake)
    await upstreams.news.news()
    await upstreams.news.news()
    with pytest.raises(UpstreamError, match="status 429") as caught:
        await upstreams.news.news()
    assert caught.value.retry_after == 60


@pytest.mark.parametrize("what", EVERYTHING)
async def test_exhausted_budget_takes_no_call(fake: FakeAlpaca, what: str) -> None:
    """An exhausted call budget raises an error with the retry delay and makes no call."""

    async def admitted() -> None:
        raise UpstreamError("used up", retry_after=12)

    assert (await failure(fake, what, admitted=admitted)).retry_after == 12
    assert not fake.requests


async def test_every_call_is_counted(fake: FakeAlpaca) -> None:
    """Each page, and the check of an unknown symbol, consumes one call of the budget."""
    count = 0

    async def admitted() -> None:
        nonlocal count
        count += 1

    upstreams = Upstreams(fake, admitted=admitted)
    for what in EVERYTHING:
        await upstreams.ask(what)
    assert await upstreams.history.bars("AAPL", "1h", NOW - timedelta(hours=1), NOW) == []
    assert count == len(fake.requests) > len(EVERYTHING) + 2


@pytest.mark.parametrize("what", EVERYTHING)
@pytest.mark.parametrize("status", [200, 400, 403, 429, 500])
async def test_keys_that_the_upstream_repeats_are_not_leaked(
    fake: FakeAlpaca, caplog: pytest.LogCaptureFixture, what: str, status: int
) -> None:
    """Logs, errors and representations omit the keys; requests carry them in headers only."""
    caplog.set_level(logging.DEBUG)
    fake.keys = CANARY
    fake.everywhere = Answer.of({"message": f"no {' '.join(CANARY)}"}, status)
    if status == 200:
        fake.everywhere = Answer(b"{ " + " ".join(CANARY).encode())
    with structlog.testing.capture_logs() as logs:
        error = await failure(fake, what)
    cause = error.__cause__
    output = f"{error!r} {cause!r} {getattr(cause, 'excerpt', '')} {getattr(error, 'excerpt', '')} {logs}"
    upstreams = Upstreams(fake)
    # The fake logs its requests.
    logged = [record.getMessage() for record in caplog.records if record.name != "websockets.server"]
    shown = f"{output} {logged} {vars(upstreams)!r} {fake.requests[0].target}"
    assert [secret for secret in CANARY if secret in shown] == []
    assert fake.requests[0].headers["APCA-API-KEY-ID"] == CANARY[0]
