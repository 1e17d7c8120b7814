"""Calls to Finnhub's REST interface, within the limits of the plan.

Source of the status codes: Finnhub's API documentation, "Authentication" and "Rate limits". The documentation
does not name the headers of its limits.
"""

import time
from collections.abc import Callable, Mapping
from typing import Final

import httpx

from quotecast.errors import NotOffered, UpstreamError, UpstreamRefused
from quotecast.providers.base import Admission, unlimited
from quotecast.providers.transport.fetch import get_bytes, open_client, retry_seconds
from quotecast.providers.transport.pace import Pace

#: Words of the error for a valid key whose plan lacks the data.
PLAN_REFUSES: Final = "have access to this resource"
#: Less than the patience of the cache in front of it.
DEADLINE_SECONDS: Final = 8.0
#: The plan limits the calls of a minute.
LONGEST_WINDOW_SECONDS: Final = 60.0
#: A reset above is a Unix time, one below a number of seconds; the documentation names neither.
_EARLIEST_TIME: Final = 1e9


class FinnhubRest:
    """The interface at `url`, which ends with its version; `clock` is Unix time.

    Each call waits for `admitted`, which holds the plan's limit of a minute, and for `pace`, which holds the
    limit of 30 calls a second, and has `deadline_seconds`. After status 429 it makes no
    call until the time that the upstream named, if it named any.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        admitted: Admission = unlimited,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.time,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> None:
        self._url = url
        self._headers = {"X-Finnhub-Token": key}
        self._admitted = admitted
        self._pace = pace or Pace()
        self._clock = clock
        self._deadline_seconds = deadline_seconds
        #: The end of the pause that the upstream asked for, in Unix time.
        self._closed_until = 0.0

    async def get(self, path: str, params: Mapping[str, str]) -> bytes:
        """Returns the answer of `path`. Raises NotOffered for data outside the plan, else UpstreamError."""
        if wait := self._wait():
            raise UpstreamError("Finnhub asked for a pause", retry_after=wait)
        await self._admitted()
        await self._pace.turn()
        async with open_client(self._url, self._headers) as client:
            client.event_hooks = {"response": [self._note]}
            try:
                return await get_bytes(client, path, params=params, deadline_seconds=self._deadline_seconds)
            except UpstreamRefused as error:
                # These statuses have several meanings.
                if _is_of_plan(error):
                    raise NotOffered("Not in the upstream's plan") from error
                if error.upstream_status == httpx.codes.UNAUTHORIZED:
                    raise UpstreamError(f"Finnhub refuses the key: {error}") from error
                if error.upstream_status == httpx.codes.TOO_MANY_REQUESTS:
                    raise UpstreamError(str(error), retry_after=self._wait()) from error
                raise

    async def _note(self, response: httpx.Response) -> None:
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            now = self._clock()
            wait = retry_seconds(response.headers.get("retry-after"))
            until = now + (wait or _reset_seconds(response.headers, now))
            # Parallel calls fail together, and not every answer names the end of the pause.
            self._closed_until = max(self._closed_until, until)

    def _wait(self) -> float | None:
        wait = self._closed_until - self._clock()
        return wait if wait > 0 else None


def _is_of_plan(error: UpstreamRefused) -> bool:
    """Returns whether the plan lacks the data: status 403, at times 401.

    A page of HTML comes from a gateway, which knows no plans.
    """
    is_page = error.excerpt.lstrip().startswith("<")
    forbidden = error.upstream_status == httpx.codes.FORBIDDEN and not is_page
    unauthorized = error.upstream_status == httpx.codes.UNAUTHORIZED and PLAN_REFUSES in error.excerpt
    return forbidden or unauthorized


def _reset_seconds(headers: httpx.Headers, now: float) -> float:
    """Returns the seconds to the end of the limit's window; zero without the header."""
    header = headers.get("x-ratelimit-reset", "")
    if not (header.isascii() and header.isdecimal()):
        return 0.0
    reset = float(header[:12])
    return min(max(reset - now if reset > _EARLIEST_TIME else reset, 0.0), LONGEST_WINDOW_SECONDS)
