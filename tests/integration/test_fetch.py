"""JSON from upstreams that misbehave."""

import gzip
from collections.abc import AsyncIterator

import pytest

from fakes.coinbase import HANGING, HTML_503, REDIRECT, TOO_MANY, TRUNCATED, Answer, FakeCoinbase, huge
from quotecast.errors import UpstreamError
from quotecast.providers.fetch import LONGEST_RETRY_SECONDS, get_json, open_client, retry_seconds


@pytest.fixture
async def fake() -> AsyncIterator[FakeCoinbase]:
    async with FakeCoinbase([{"id": "BTC-USD"}]) as fake:
        yield fake


async def fetch(fake: FakeCoinbase, deadline_seconds: float = 5.0) -> list[dict[str, str]]:
    async with open_client(fake.url) as client:
        return await get_json(client, "/products", list[dict[str, str]], deadline_seconds=deadline_seconds)


async def test_answer_is_decoded_and_the_client_introduces_itself(fake: FakeCoinbase) -> None:
    """Some upstreams refuse clients without a User-Agent."""
    assert await fetch(fake) == [{"id": "BTC-USD"}]
    assert fake.requests[0].headers["User-Agent"].startswith("quotecast/")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (HTML_503, "status 503, text/html"),
        (REDIRECT, "status 302"),
        (TRUNCATED, "unreadable"),
        (Answer(b"[]", content_type="text/html"), "status 200, text/html"),
        (Answer(b'{"id":1}'), "unreadable"),
        (Answer(b"[" * 100_000), "unreadable"),
        (Answer(b"no gzip", headers={"Content-Encoding": "gzip"}), "DecodingError"),
    ],
)
async def test_bad_answer_is_an_upstream_error(fake: FakeCoinbase, answer: Answer, problem: str) -> None:
    """Status and type are looked at before the content, and redirects lead nowhere."""
    fake.answers["/products"] = answer
    with pytest.raises(UpstreamError, match=problem) as caught:
        await fetch(fake)
    assert caught.value.retry_after is None
    assert len(fake.requests) == 1


async def test_retry_after_is_carried(fake: FakeCoinbase) -> None:
    """Who reconnects learns how long the upstream wants to be left alone."""
    fake.answers["/products"] = TOO_MANY
    with pytest.raises(UpstreamError, match="status 429") as caught:
        await fetch(fake)
    assert caught.value.retry_after == 7


@pytest.mark.parametrize("packed", [False, True])
async def test_body_over_the_cap_is_given_up(fake: FakeCoinbase, packed: bool) -> None:  # noqa: FBT001 - a case
    """What counts is the size after decoding."""
    answer = huge()
    if packed:
        answer = Answer(gzip.compress(answer.body or b""), headers={"Content-Encoding": "gzip"})
    fake.answers["/products"] = answer
    with pytest.raises(UpstreamError, match="body over 8388608 bytes"):
        await fetch(fake)


async def test_answer_that_does_not_come_is_not_waited_for(fake: FakeCoinbase) -> None:
    """The deadline covers the whole request."""
    fake.answers["/products"] = HANGING
    with pytest.raises(UpstreamError, match=r"127\.0\.0\.1/products: no answer in 0\.05 s"):
        await fetch(fake, deadline_seconds=0.05)


async def test_nobody_listening_is_an_upstream_error() -> None:
    """The error names the kind of failure, not the address in full."""
    async with FakeCoinbase([]) as gone:
        pass
    with pytest.raises(UpstreamError, match="ConnectError"):
        await fetch(gone)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("9" * 400, LONGEST_RETRY_SECONDS),
        (None, None),
        ("", None),
        ("-1", None),
        ("soon", None),
        ("٣", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
    ],
)
def test_retry_after_is_believed_up_to_a_day(header: str | None, seconds: float | None) -> None:
    """Only plain seconds are understood."""
    assert retry_seconds(header) == seconds
