"""REST client for Alpaca's market data and trading hosts, within the plan's rate limit."""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final, TypeVar

import httpx

from quotecast.errors import UpstreamError, UpstreamRefused
from quotecast.providers.alpaca.rest_wire import BarPage
from quotecast.providers.base import Admission, unlimited
from quotecast.providers.transport.fetch import get_json, open_client

KEYS_REFUSED: Final = frozenset({httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN})
#: Text of a 403 response whose keys are valid, but whose plan does not include the requested data.
PLAN_REFUSAL: Final = "subscription does not permit"
#: Alpaca limits calls per minute, so no rate-limit window is longer.
LONGEST_WINDOW_SECONDS: Final = 60.0
ROWS_PER_PAGE: Final = 10_000

T = TypeVar("T")


class AlpacaRest:
    """A REST host at `url`; awaits `admitted` before each call, and `clock` returns Unix time.

    Its adapters share the keys in `headers`, the budget and the clock.
    """

    def __init__(
        self,
        url: str,
        key: str,
        secret: str,
        *,
        admitted: Admission = unlimited,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.headers = {"APCA-API-KEY-ID": key, "APCA-API-SECRET-KEY": secret}
        self.admitted = admitted
        self.clock = clock
        self._url = url
        #: Unix time at which the rate-limit window of the latest response ends; 0 without one.
        self._window_ends = 0.0

    def open(self) -> httpx.AsyncClient:
        """Returns an HTTP client for calls of `get`; the caller closes it."""
        client = open_client(self._url, self.headers)
        client.event_hooks = {"response": [self._store_window_end]}
        return client

    async def get(
        self,
        client: httpx.AsyncClient,
        path: str,
        kind: type[T],
        params: Mapping[str, str] | None = None,
    ) -> T:
        """Returns the JSON response of `path`, decoded as `kind`.

        Raises UpstreamRefused when Alpaca rejects the call for the plan, a parameter or the rate limit, and
        UpstreamError when it rejects the keys.
        """
        await self.admitted()
        try:
            return await get_json(client, path, kind, params=params)
        except UpstreamRefused as error:
            if error.upstream_status in KEYS_REFUSED and PLAN_REFUSAL not in error.excerpt:
                raise UpstreamError(f"Alpaca refuses the keys: {error}") from error
            if error.upstream_status == httpx.codes.TOO_MANY_REQUESTS and error.retry_after is None:
                wait = self._window_ends - self.clock()
                raise UpstreamRefused(
                    str(error),
                    upstream_status=error.upstream_status,
                    excerpt=error.excerpt,
                    retry_after=min(wait, LONGEST_WINDOW_SECONDS) if wait > 0 else None,
                ) from error
            raise

    async def get_once(self, path: str, kind: type[T], params: Mapping[str, str] | None = None) -> T:
        """Returns the JSON response of `path` like `get`, over a connection for this call only."""
        async with self.open() as client:
            return await self.get(client, path, kind, params)

    async def bar_pages(
        self, client: httpx.AsyncClient, params: Mapping[str, str], most: int
    ) -> AsyncIterator[BarPage]:
        """Yields pages of bars until one has no next token; a short page may not be the last.

        Raises UpstreamError as `get` does, and for more than `most` pages.
        """
        query = {**params, "sort": "asc", "limit": str(ROWS_PER_PAGE)}
        for _ in range(most):
            page = await self.get(client, "/v2/stocks/bars", BarPage, query)
            yield page
            if not page.next_page_token:
                return
            query["page_token"] = page.next_page_token
        raise UpstreamError(f"Alpaca sent more than {most} pages of bars")

    async def _store_window_end(self, response: httpx.Response) -> None:
        reset = response.headers.get("x-ratelimit-reset", "")
        self._window_ends = float(reset[:12]) if reset.isascii() and reset.isdecimal() else 0.0
