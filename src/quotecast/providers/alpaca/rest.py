"""Calls to Alpaca's REST interfaces, market data and trading, within what the plan allows."""

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

import httpx

from quotecast.errors import UpstreamError, UpstreamRefused
from quotecast.providers.base import Admission
from quotecast.providers.transport.fetch import get_json, open_client

KEYS_REFUSED: Final = frozenset({httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN})
#: What a refusal says when the keys are right, but the plan lacks what was asked for.
PLAN_REFUSAL: Final = "subscription does not permit"
#: The plan's limits are those of a minute.
LONGEST_WINDOW_SECONDS: Final = 60.0

T = TypeVar("T")


class AlpacaRest:
    """The interface at `url`; asks `admitted` before each call, and tells `clock` (Unix time) from theirs."""

    def __init__(
        self, url: str, key: str, secret: str, admitted: Admission, clock: Callable[[], float]
    ) -> None:
        self._url = url
        self._headers = {"APCA-API-KEY-ID": key, "APCA-API-SECRET-KEY": secret}
        self._admitted = admitted
        self._clock = clock
        #: Until when the newest answer asks to be left alone, in Unix time.
        self._window_ends = 0.0

    def open(self) -> httpx.AsyncClient:
        """A client for some calls of `get`; to be closed by the caller."""
        client = open_client(self._url, self._headers)
        client.event_hooks = {"response": [self._store_window_end]}
        return client

    async def get(
        self,
        client: httpx.AsyncClient,
        path: str,
        kind: type[T],
        params: Mapping[str, str] | None = None,
    ) -> T:
        """What `path` answers, as `kind`.

        Raises UpstreamRefused where the plan, a parameter or the rate is refused, and UpstreamError where the
        keys are.
        """
        await self._admitted()
        try:
            return await get_json(client, path, kind, params=params)
        except UpstreamRefused as error:
            if error.upstream_status in KEYS_REFUSED and PLAN_REFUSAL not in error.excerpt:
                raise UpstreamError(f"Alpaca refuses the keys: {error}") from error
            if error.upstream_status == httpx.codes.TOO_MANY_REQUESTS and error.retry_after is None:
                raise self._with_retry_after(error) from error
            raise

    async def get_once(self, path: str, kind: type[T], params: Mapping[str, str] | None = None) -> T:
        """Likewise, over a connection of its own."""
        async with self.open() as client:
            return await self.get(client, path, kind, params)

    async def _store_window_end(self, response: httpx.Response) -> None:
        reset = response.headers.get("x-ratelimit-reset", "")
        self._window_ends = float(reset[:12]) if reset.isascii() and reset.isdecimal() else 0.0

    def _with_retry_after(self, error: UpstreamRefused) -> UpstreamRefused:
        """The same, with the end of the rate's window for a Retry-After."""
        wait = self._window_ends - self._clock()
        return UpstreamRefused(
            str(error),
            upstream_status=error.upstream_status,
            excerpt=error.excerpt,
            retry_after=min(wait, LONGEST_WINDOW_SECONDS) if wait > 0 else None,
        )
