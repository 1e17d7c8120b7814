"""REST calls to upstreams, with checks of deadline, size, status, content type and content."""

import asyncio
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from importlib.metadata import version
from typing import Final, TypeVar
from urllib.parse import quote

import httpx
import msgspec
import structlog

from quotecast.authorities import trusted_authorities
from quotecast.errors import UpstreamCutShort, UpstreamError, UpstreamRefused
from quotecast.http_client import HttpClient
from quotecast.providers.transport import outcomes

JSON_KINDS: Final = ("application/json",)
MAX_BODY_BYTES: Final = 8 * 1024 * 1024
DEADLINE_SECONDS: Final = 15.0
LONGEST_RETRY_SECONDS: Final = 86_400.0
EXCERPT_LENGTH: Final = 500
#: Bytes and seconds for the excerpt of an error response: its status and Retry-After matter more.
SAMPLE_BYTES: Final = 4096
SAMPLE_SECONDS: Final = 1.0

#: Headers that httpx sends by itself; any other header may hold a secret.
_PUBLIC_HEADERS: Final = frozenset({"user-agent", "accept", "accept-encoding", "connection", "host"})
_MASK: Final = re.compile(r"\*{3,}")

T = TypeVar("T")

log = structlog.get_logger()


def user_agent() -> str:
    """Returns the User-Agent of every adapter; some upstreams reject requests without one."""
    return f"quotecast/{version('quotecast')}"


def open_client(url: str, headers: Mapping[str, str] = {}) -> httpx.AsyncClient:
    """Returns a client with paths relative to `url`; the caller closes it.

    Every request has `headers`, which may be secret. The client follows no redirect and accepts no encoding
    but gzip, which bounds the growth of a body in decoding.
    """
    usual = {"User-Agent": user_agent(), "Accept": "application/json, */*;q=0.5", "Accept-Encoding": "gzip"}
    return HttpClient(
        base_url=url,
        headers={**usual, **headers},
        timeout=5.0,
        follow_redirects=False,
        verify=trusted_authorities(),
    )


def segment(text: str) -> str:
    """Returns any text as one segment of a path."""
    encoded = quote(text, safe="", errors="replace")
    # `quote` leaves dots, and a segment of two dots means the parent folder.
    return encoded if encoded.strip(".") else encoded.replace(".", "%2E")


async def get_json(
    client: httpx.AsyncClient,
    path: str,
    kind: type[T],
    *,
    params: Mapping[str, str] | None = None,
    deadline_seconds: float = DEADLINE_SECONDS,
) -> T:
    """Returns the JSON body of `path` as `kind`.

    Raises UpstreamError as `get_bytes` does, and for a body that is not JSON of that shape.
    """
    body = await get_bytes(client, path, params=params, deadline_seconds=deadline_seconds)
    try:
        return msgspec.json.decode(body, type=kind)
    except (ValueError, RecursionError) as error:
        raise UpstreamError(f"{_place(client, path)}: unreadable: {error}") from error


async def get_bytes(
    client: httpx.AsyncClient,
    path: str,
    *,
    params: Mapping[str, str] | None = None,
    kinds: Collection[str] = JSON_KINDS,
    deadline_seconds: float = DEADLINE_SECONDS,
) -> bytes:
    """Returns the decoded body of `path`.

    Raises as `get_answer` does.
    """
    body, _ = await get_answer(client, path, params=params, kinds=kinds, deadline_seconds=deadline_seconds)
    return body


async def get_answer(
    client: httpx.AsyncClient,
    path: str,
    *,
    params: Mapping[str, str] | None = None,
    kinds: Collection[str] = JSON_KINDS,
    deadline_seconds: float = DEADLINE_SECONDS,
) -> tuple[bytes, Mapping[str, str]]:
    """Returns the decoded body of `path`, and the headers of the answer.

    Raises UpstreamRefused for any status but 200; its excerpt holds no value of the client's own headers.
    Raises UpstreamCutShort, with the received part, when the connection ends in the middle of the body.
    Raises UpstreamError for no answer within the deadline, a content type not among `kinds`, or a body over
    8 MB.
    """
    place = _place(client, path)
    outcome = "failed"
    try:
        async with asyncio.timeout(deadline_seconds), client.stream("GET", path, params=params) as response:
            await _check(client, response, place, kinds)
            body, headers = await _read(response, place), response.headers
        outcome = "answered"
    except UpstreamRefused:
        outcome = "refused"
        raise
    except TimeoutError as error:
        outcome = "late"
        raise UpstreamError(f"{place}: no answer in {deadline_seconds:g} s") from error
    except httpx.HTTPError as error:
        raise UpstreamError(f"{place}: {type(error).__name__}") from error
    finally:
        outcomes.calls[client.base_url.host, outcome] += 1
    return body, headers


def retry_seconds(header: str | None) -> float | None:
    """Returns the seconds of a Retry-After header; None without one, or for one that is a date.

    At most a day, so that a mistake of the upstream does not end a feed.
    """
    if header is None or not (header.isascii() and header.isdecimal()):
        return None
    return min(float(header[:12]), LONGEST_RETRY_SECONDS)


async def _check(
    client: httpx.AsyncClient, response: httpx.Response, place: str, kinds: Collection[str]
) -> None:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if response.status_code == httpx.codes.OK and kind in kinds:
        return
    excerpt = _mask_secrets(client, await _sample(response))
    log.warning("upstream refused", place=place, status=response.status_code, excerpt=excerpt)
    message = f"{place}: status {response.status_code}, {kind or 'no content type'}"
    if response.status_code == httpx.codes.OK:
        raise UpstreamError(message)
    raise UpstreamRefused(
        message,
        upstream_status=response.status_code,
        excerpt=excerpt,
        retry_after=retry_seconds(response.headers.get("retry-after")),
    )


async def _sample(response: httpx.Response) -> str:
    with suppress(httpx.HTTPError, TimeoutError):
        async with asyncio.timeout(SAMPLE_SECONDS):
            async for part in response.aiter_bytes(SAMPLE_BYTES):
                return part.decode(errors="replace")
    return ""


def _mask_secrets(client: httpx.AsyncClient, sample: str) -> str:
    """Returns the excerpt of a sample; it masks our own secrets, which an upstream may repeat."""
    values = (value for name, value in client.headers.items() if name not in _PUBLIC_HEADERS)
    words = [word for value in values for word in value.split()]
    # The longest first; `Bearer` is one beside its token.
    for secret in sorted(words, key=len, reverse=True):
        # A mask of equal length: a shorter one would pull up a secret that the sample's end cuts in half.
        sample = sample.replace(secret, "*" * max(len(secret), 3))
    return _MASK.sub("***", sample[:EXCERPT_LENGTH])


async def _read(response: httpx.Response, place: str) -> bytes:
    body = bytearray()
    try:
        async for part in response.aiter_bytes():
            body += part
            if len(body) > MAX_BODY_BYTES:
                raise UpstreamError(f"{place}: body over {MAX_BODY_BYTES} bytes")
    except (httpx.RemoteProtocolError, httpx.ReadError) as error:
        raise UpstreamCutShort(f"{place}: {type(error).__name__}", bytes(body)) from error
    return bytes(body)


def _place(client: httpx.AsyncClient, path: str) -> str:
    """Returns host and path without the query, in which some upstreams take their key."""
    return f"{client.base_url.host}{path.partition('?')[0]}"
