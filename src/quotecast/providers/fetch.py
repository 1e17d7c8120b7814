"""JSON from an upstream's REST interface, read with suspicion: deadline, size, status, type, then content."""

import asyncio
from importlib.metadata import version
from typing import Final, TypeVar

import httpx
import msgspec
import structlog

from quotecast.errors import UpstreamError

MAX_BODY_BYTES: Final = 8 * 1024 * 1024
DEADLINE_SECONDS: Final = 15.0
LONGEST_RETRY_SECONDS: Final = 86_400.0
EXCERPT_BYTES: Final = 500

T = TypeVar("T")

log = structlog.get_logger()


def user_agent() -> str:
    """How every adapter introduces itself; some upstreams refuse the anonymous."""
    return f"quotecast/{version('quotecast')}"


def open_client(url: str) -> httpx.AsyncClient:
    """A client whose paths are relative to `url`; to be closed by the caller.

    It follows no redirect and accepts no encoding but gzip, so that a body's growth in decoding is bounded.
    """
    headers = {"User-Agent": user_agent(), "Accept": "application/json", "Accept-Encoding": "gzip"}
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=5.0, follow_redirects=False)


async def get_json(
    client: httpx.AsyncClient, path: str, kind: type[T], *, deadline_seconds: float = DEADLINE_SECONDS
) -> T:
    """What `path` answers, as `kind`.

    Raises UpstreamError, with `retry_after` where the upstream gave one: no answer within the deadline,
    any status but 200, a body that is not JSON of that shape or is over 8 MB once decoded.
    """
    try:
        async with asyncio.timeout(deadline_seconds), client.stream("GET", path) as response:
            await _check(response)
            body = await _read(response)
    except TimeoutError as error:
        raise UpstreamError(f"{_place(client, path)}: no answer in {deadline_seconds:g} s") from error
    except httpx.HTTPError as error:
        raise UpstreamError(f"{_place(client, path)}: {type(error).__name__}") from error
    try:
        return msgspec.json.decode(body, type=kind)
    except (ValueError, RecursionError) as error:
        raise UpstreamError(f"{_place(client, path)}: unreadable: {error}") from error


def retry_seconds(header: str | None) -> float | None:
    """What a Retry-After header asks for; None when it is absent or not in seconds.

    At most a day, so that a slip of the upstream does not end a feed.
    """
    if header is None or not (header.isascii() and header.isdecimal()):
        return None
    return min(float(header[:12]), LONGEST_RETRY_SECONDS)


async def _check(response: httpx.Response) -> None:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if response.status_code == httpx.codes.OK and kind == "application/json":
        return
    place = f"{response.url.host}{response.url.path}"
    log.warning(
        "upstream refused", place=place, status=response.status_code, excerpt=await _excerpt(response)
    )
    raise UpstreamError(
        f"{place}: status {response.status_code}, {kind or 'no content type'}",
        retry_after=retry_seconds(response.headers.get("retry-after")),
    )


async def _excerpt(response: httpx.Response) -> str:
    async for part in response.aiter_bytes(EXCERPT_BYTES):
        return part.decode(errors="replace")
    return ""


async def _read(response: httpx.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise UpstreamError(f"{response.url.host}{response.url.path}: body over {MAX_BODY_BYTES} bytes")
    return bytes(body)


def _place(client: httpx.AsyncClient, path: str) -> str:
    """Host and path, never a query: some upstreams want their key there."""
    return f"{client.base_url.host}{path.partition('?')[0]}"
