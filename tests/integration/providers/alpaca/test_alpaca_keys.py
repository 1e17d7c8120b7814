"""Alpaca's keys reach Alpaca only."""

import logging
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
import structlog

from fakes import alpaca_stream
from fakes.http import REDIRECT, TRUNCATED, Answer
from quotecast.errors import UpstreamError
from support.servers.alpaca_local import PATH, STOCKS, LocalAlpaca, local_alpaca

CANARY = ("canary-key-5f1c", "canary-secret-9d2e")
ECHO = " ".join(CANARY)


@pytest.fixture
async def alpaca() -> AsyncIterator[LocalAlpaca]:
    async with local_alpaca() as local:
        local.rest.keys = local.stream.keys = CANARY
        yield local


async def record_output(alpaca: LocalAlpaca) -> str:
    """Returns the logs, the error and the adapter's representation after one poll and one stream attempt."""
    provider = alpaca.provider(STOCKS[:1], keys=CANARY)
    errors = ""
    with structlog.testing.capture_logs() as logs:
        async with aclosing(provider.updates()) as updates:
            try:
                await anext(updates)
                await alpaca.tries.end()
            except UpstreamError as error:
                errors = f"{error!r} {error.__cause__!r} {getattr(error.__cause__, 'excerpt', '')}"
    return f"{errors} {logs} {provider!r} {provider.statistics()}"


def leaked_secrets(text: str) -> list[str]:
    return [secret for secret in CANARY if secret in text]


@pytest.mark.parametrize(
    "answer",
    [
        Answer.of({"message": f"forbidden {ECHO}"}, 403),
        Answer(f"<html>{ECHO}</html>".encode(), 503, "text/html"),
        Answer.of({"message": "invalid symbol: AAPL"}, 400),
        TRUNCATED,
        REDIRECT,
    ],
    ids=["forbidden", "html", "bad symbol", "truncated", "redirect"],
)
async def test_keys_in_rest_errors_are_not_leaked(
    alpaca: LocalAlpaca, caplog: pytest.LogCaptureFixture, answer: Answer
) -> None:
    """Logs, errors and representations omit the keys; requests carry them in headers only."""
    caplog.set_level(logging.INFO)
    alpaca.rest.answers[PATH] = answer
    alpaca.stream.refuses = 402
    assert leaked_secrets(await record_output(alpaca) + caplog.text) == []
    [asked] = alpaca.rest.requests
    assert leaked_secrets(f"{asked.path} {asked.query}") == []
    assert asked.headers["APCA-API-KEY-ID"] == CANARY[0]


@pytest.mark.parametrize("code", [402, 406, 599])
async def test_keys_that_the_stream_repeats_are_not_leaked(
    alpaca: LocalAlpaca, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setitem(alpaca_stream.MEANINGS, code, f"failed for {ECHO}")
    alpaca.stream.refuses = code
    output = await record_output(alpaca)
    assert str(code) in output
    assert leaked_secrets(output + caplog.text) == []
