"""Calls to Finnhub's REST interface, within what the plan allows.

Source of the status codes: Finnhub's API documentation, "Authentication" and "Rate limits". The headers of
its limits are not documented.
"""

from collections.abc import Callable, Mapping
from typing import Final

import httpx

from quotecast.errors import NotOffered, UpstreamError, UpstreamRefused
from quotecast.providers.base import Admission
from quotecast.providers.transport.fetch import get_bytes, open_client, retry_seconds
from quotecast.providers.transport.pace import Pace

#: What a refusal says when the key is right, but the plan lacks what was asked for.
PLAN_REFUSES: Final = "have access to this resource"
#: The plan's limit is one of a minute.
LONGEST_WINDOW_SECONDS: Final = 60.0
#: A reset above is a Unix time, one below a number of seconds: which of them it is, nobody says.
_EARLIEST_TIME: Final = 1e9


class FinnhubRest:
    """The interface at `url`; `clock` is Unix time.

    Each call is made after `admitted`, in the turn that `pace` gives it, and has `deadline_seconds`. After
    one too many there is none until the upstream takes calls again, if it said when.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        admitted: Admission,
        pace: Pace,
        clock: Callable[[], float],
        deadline_seconds: float,
    ) -> None:
        self._url = url
        self._headers = {"X-Finnhub-Token": key}
        self._admitted = admitted
        self._pace = pace
        self._clock = clock
        self._deadline_seconds = deadline_seconds
        #: Until when the upstream wants to be left alone, in Unix time.
        self._closed_until = 0.0

    async def get(self, path: str, params: Mapping[str, str]) -> bytes:
        """What `path` answers. Raises NotOffered where the plan lacks it, else UpstreamError."""
        if wait := self._wait():
            raise UpstreamError("Finnhub wants to be left alone", retry_after=wait)
        await self._admitted()
        await self._pace.turn()
        async with open_client(self._url, self._headers) as client:
            client.event_hooks = {"response": [self._note]}
            try:
                return await get_bytes(client, path, params=params, deadline_seconds=self._deadline_seconds)
            except UpstreamRefused as error:
                self._explain(error)
                raise

    def _explain(self, error: UpstreamRefused) -> None:
        """Raises what a refusal means, where its status does not say all."""
        if _is_of_plan(error):
            raise NotOffered("Not in the upstream's plan") from error
        if error.upstream_status == httpx.codes.UNAUTHORIZED:
            raise UpstreamError(f"Finnhub refuses the key: {error}") from error
        if error.upstream_status == httpx.codes.TOO_MANY_REQUESTS:
            raise UpstreamError(str(error), retry_after=self._wait()) from error

    async def _note(self, response: httpx.Response) -> None:
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            now = self._clock()
            wait = retry_seconds(response.headers.get("retry-after"))
            until = now + (wait or _reset_seconds(response.headers, now))
            # Of calls at the same time each is refused, and not every refusal says until when.
            self._closed_until = max(self._closed_until, until)

    def _wait(self) -> float | None:
        wait = self._closed_until - self._clock()
        return wait if wait > 0 else None


def _is_of_plan(error: UpstreamRefused) -> bool:
    """Whether the plan lacks what was asked for: told as 403, at times as 401.

    A page of HTML is a gatekeeper's, who knows no plans.
    """
    is_page = error.excerpt.lstrip().startswith("<")
    forbidden = error.upstream_status == httpx.codes.FORBIDDEN and not is_page
    unauthorized = error.upstream_status == httpx.codes.UNAUTHORIZED and PLAN_REFUSES in error.excerpt
    return forbidden or unauthorized


def _reset_seconds(headers: httpx.Headers, now: float) -> float:
    """Until the window of the plan's limit ends; zero where that is not told."""
    told = headers.get("x-ratelimit-reset", "")
    if not (told.isascii() and told.isdecimal()):
        return 0.0
    reset = float(told[:12])
    return min(max(reset - now if reset > _EARLIEST_TIME else reset, 0.0), LONGEST_WINDOW_SECONDS)
