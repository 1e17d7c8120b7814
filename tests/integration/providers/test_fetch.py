"""What upstreams that misbehave answer."""

import gzip
from collections.abc import AsyncIterator
from urllib.parse import unquote

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from fakes.http import (
    ENDLESS,
    HANGING,
    HTML_503,
    REDIRECT,
    SERVER_ERROR,
    TOO_MANY,
    TRUNCATED,
    UNUSED_PORT,
    Answer,
    FakeHttp,
    HttpRequest,
    huge,
)
from quotecast.errors import UpstreamError, UpstreamRefused
from quotecast.providers.transport.fetch import (
    EXCERPT_LENGTH,
    LONGEST_RETRY_SECONDS,
    get_bytes,
    get_json,
    open_client,
    retry_seconds,
    segment,
)

SECRET = "canary/7F+q=="
UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"


class Upstream(FakeHttp):
    """Lists one row, wherever it is asked."""

    def respond(self, asked: HttpRequest) -> Answer:
        return Answer.of([{"id": asked.path}])


@pytest.fixture
async def fake() -> AsyncIterator[Upstream]:
    async with Upstream() as fake:
        yield fake


async def fetch(fake: FakeHttp, path: str = "/rows", deadline_seconds: float = 5.0) -> list[dict[str, str]]:
    async with open_client(fake.url) as client:
        return await get_json(client, path, list[dict[str, str]], deadline_seconds=deadline_seconds)


async def refusal(fake: FakeHttp, **headers: str) -> UpstreamRefused:
    """How a request with secrets ends."""
    async with open_client(fake.url, headers) as client:
        with pytest.raises(UpstreamRefused) as caught:
            await get_bytes(client, "/rows", params={"token": SECRET})
    return caught.value


async def test_answer_is_decoded_and_the_client_introduces_itself(fake: Upstream) -> None:
    """Some upstreams refuse clients without a User-Agent."""
    assert await fetch(fake) == [{"id": "/rows"}]
    assert fake.requests[0].headers["User-Agent"].startswith("quotecast/")


async def test_path_headers_and_parameters_reach_the_upstream(fake: Upstream) -> None:
    """The path continues that of the address."""
    async with open_client(f"{fake.url}/api/v1", {"X-Key": SECRET}) as client:
        await get_json(client, "/rows", list[dict[str, str]], params={"symbol": "A&B", "to": "2026-11-19"})
    [asked] = fake.requests
    assert asked.path == "/api/v1/rows"
    assert asked.query == {"symbol": "A&B", "to": "2026-11-19"}
    assert asked.headers["X-Key"] == SECRET


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (HTML_503, "status 503, text/html"),
        (SERVER_ERROR, "status 500, application/json"),
        (REDIRECT, "status 302"),
        (TRUNCATED, "unreadable"),
        (Answer(b"[]", content_type="text/html"), "status 200, text/html"),
        (Answer(b'{"id":1}'), "unreadable"),
        (Answer(b"[" * 100_000), "unreadable"),
        (Answer(b"no gzip", headers={"Content-Encoding": "gzip"}), "DecodingError"),
    ],
)
async def test_bad_answer_is_an_upstream_error(fake: Upstream, answer: Answer, problem: str) -> None:
    """Status and type are looked at before the content, and redirects lead nowhere."""
    fake.answers["/rows"] = answer
    with pytest.raises(UpstreamError, match=problem) as caught:
        await fetch(fake)
    assert caught.value.retry_after is None
    assert len(fake.requests) == 1


async def test_refusal_tells_status_excerpt_and_when_to_come_back(fake: Upstream) -> None:
    """Who reconnects learns how long the upstream wants to be left alone."""
    fake.everywhere = TOO_MANY
    refused = await refusal(fake)
    assert (refused.upstream_status, refused.retry_after) == (429, 7)
    assert refused.excerpt == '{"message":"too many requests"}'


async def test_wrong_content_type_is_no_refusal(fake: Upstream) -> None:
    """The status said that all is well."""
    fake.answers["/rows"] = Answer(b"<html>", content_type="text/html")
    with pytest.raises(UpstreamError) as caught:
        await fetch(fake)
    assert not isinstance(caught.value, UpstreamRefused)


async def test_other_content_types_are_taken_where_they_are_named(fake: Upstream) -> None:
    """Letter case and character set do not matter."""
    fake.answers["/rows"] = Answer("<çeyrek/>".encode(), content_type="Text/XML; charset=utf-8")
    async with open_client(fake.url) as client:
        body = await get_bytes(client, "/rows", kinds={"text/xml", "application/xml"})
    assert body.decode() == "<çeyrek/>"


@pytest.mark.parametrize("before", [0, 200, EXCERPT_LENGTH - len(SECRET), EXCERPT_LENGTH - 3, EXCERPT_LENGTH])
async def test_secrets_are_told_nowhere(fake: Upstream, before: int) -> None:
    """Neither whole nor in part, though the upstream repeats them: not in errors, nor in logs."""
    fake.everywhere = Answer(b"x" * before + f"{SECRET} {SECRET}, {SECRET}".encode(), 403)
    with structlog.testing.capture_logs() as logs:
        refused = await refusal(fake, **{"X-Key": SECRET, "Authorization": f"Bearer {SECRET}"})
    assert len(refused.excerpt) <= EXCERPT_LENGTH
    assert refused.excerpt.startswith("x" * before + "***"[: EXCERPT_LENGTH - before])
    assert logs
    for told in (refused.excerpt, str(refused), str(logs)):
        assert SECRET[:3] not in told
        assert "token" not in told


async def test_half_a_secret_is_not_told_either(fake: Upstream) -> None:
    """Of a long body only the beginning is read, which may end in the middle of one."""
    fake.everywhere = Answer((30 * SECRET).encode() * 20, 403)
    assert (await refusal(fake, **{"X-Key": 30 * SECRET})).excerpt == "***"


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"no gzip", 429, headers={"Content-Encoding": "gzip", "Retry-After": "7"}),
        Answer("\N{SNOWMAN}".encode()[:2], 429, headers={"Retry-After": "7"}),
        Answer(b"", 429, headers={"Retry-After": "7"}),
    ],
    ids=["no gzip", "no text", "empty"],
)
async def test_unreadable_refusal_is_still_one(fake: Upstream, answer: Answer) -> None:
    """Its status and Retry-After matter more than its body."""
    fake.everywhere = answer
    assert (await refusal(fake)).retry_after == 7


@pytest.mark.parametrize("packed", [False, True])
async def test_body_over_the_cap_is_given_up(fake: Upstream, packed: bool) -> None:  # noqa: FBT001 - a case
    """What counts is the size after decoding."""
    answer = huge()
    if packed:
        answer = Answer(gzip.compress(answer.body or b""), headers={"Content-Encoding": "gzip"})
    fake.answers["/rows"] = answer
    with pytest.raises(UpstreamError, match="body over 8388608 bytes"):
        await fetch(fake)


async def test_body_without_an_end_is_given_up(fake: Upstream) -> None:
    """Nobody says beforehand how long it will be."""
    fake.answers["/rows"] = ENDLESS
    with pytest.raises(UpstreamError, match="body over 8388608 bytes"):
        await fetch(fake)


async def test_answer_that_does_not_come_is_not_waited_for(fake: Upstream) -> None:
    """The deadline covers the whole request."""
    fake.answers["/rows"] = HANGING
    with pytest.raises(UpstreamError, match=r"127\.0\.0\.1/rows: no answer in 0\.05 s"):
        await fetch(fake, deadline_seconds=0.05)


async def test_nobody_listening_is_an_upstream_error() -> None:
    """The error names the kind of failure, not the address in full."""
    with pytest.raises(UpstreamError, match="ConnectError"):
        await fetch(Upstream(UNUSED_PORT))


@pytest.mark.parametrize(
    "text", ["../admin", "..", ".", "A/../B", "A?x=1", "A#b", "%2e%2E", "A\r\nX: y", "\ud800", ""]
)
async def test_segment_stays_in_its_place(fake: Upstream, text: str) -> None:
    """Whatever a client wrote, the upstream is asked for what it was meant to be."""
    await fetch(fake, f"/rows/{segment(text)}/candles")
    [asked] = fake.requests
    assert asked.target == f"/rows/{segment(text)}/candles"
    assert asked.path == f"/rows/{text.encode(errors='replace').decode()}/candles"


@given(st.text())
def test_segment_holds_unreserved_characters_alone(text: str) -> None:
    """And can be read back."""
    encoded = segment(text)
    assert set(encoded) <= set(UNRESERVED + "%")
    assert unquote(encoded) == text.encode(errors="replace").decode()
    assert encoded not in {".", ".."}


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
