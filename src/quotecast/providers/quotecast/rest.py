"""Reads of an origin's REST interface."""

from collections.abc import Mapping
from typing import Final, TypeVar

import httpx
import msgspec
from msgspec import Struct

from quotecast.errors import NotOffered, SymbolNotFound, UpstreamError, UpstreamRefused
from quotecast.providers.transport.fetch import get_answer, open_client

#: Less than the patience of the cache in front of it.
DEADLINE_SECONDS: Final = 8.0

T = TypeVar("T")


class _Problem(Struct, frozen=True):
    """What an origin answers instead of data."""

    code: str = ""
    detail: str = ""


class OriginRest:
    """The interface of the origin at `origin`, the address of its feeds such as wss://quotes.example.com."""

    def __init__(self, origin: str) -> None:
        self._url = origin.replace("ws", "http", 1)

    def open(self) -> httpx.AsyncClient:
        """Returns a client for some calls; the caller closes it."""
        return open_client(self._url)

    async def read(self, path: str, kind: type[T], params: Mapping[str, str] | None = None) -> T:
        """Returns the body of one call. Raises as `read_page` does."""
        async with self.open() as client:
            found, _ = await self.read_page(client, path, kind, params)
        return found

    async def read_page(
        self, client: httpx.AsyncClient, path: str, kind: type[T], params: Mapping[str, str] | None = None
    ) -> tuple[T, Mapping[str, str]]:
        """Returns a body as `kind`, and the headers.

        Raises SymbolNotFound and NotOffered where the origin answers so, UpstreamError for all else.
        """
        try:
            body, headers = await get_answer(client, path, params=params, deadline_seconds=DEADLINE_SECONDS)
        except UpstreamRefused as error:
            _explain(error)
            raise
        try:
            return msgspec.json.decode(body, type=kind), headers
        except (ValueError, RecursionError) as error:
            raise UpstreamError(f"origin{path}: unreadable: {error}") from error


def _explain(error: UpstreamRefused) -> None:
    """Raises what the origin raised, if the error of another kind has a meaning here."""
    try:
        problem = msgspec.json.decode(error.excerpt, type=_Problem)
    except (ValueError, RecursionError):
        return
    if error.upstream_status == httpx.codes.NOT_FOUND and problem.code == SymbolNotFound.code:
        raise SymbolNotFound from error
    if error.upstream_status == httpx.codes.SERVICE_UNAVAILABLE and problem.code in {
        NotOffered.code,
        "no_provider",
    }:
        raise NotOffered(problem.detail or "The origin does not offer this") from error
