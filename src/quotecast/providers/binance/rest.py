"""Calls to Binance's REST interface, within its limits of an address."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, TypeVar

import httpx
from websockets.exceptions import InvalidStatus

from quotecast.errors import UpstreamError, UpstreamRefused
from quotecast.providers.transport.fetch import get_json, open_client, retry_seconds

#: The weight that an address may use in a minute; the reserve is for other processes.
WEIGHT_LIMIT: Final = 6000
WEIGHT_RESERVE: Final = 600
MINUTE_SECONDS: Final = 60.0
#: Seconds without calls after a status without Retry-After: the minute of the limit, the shortest ban.
AWAY_SECONDS: Final = {429: 60.0, 418: 120.0}
#: The status in countries that the upstream does not serve; a retry helps only after a move.
ELSEWHERE: Final = 451
ELSEWHERE_SECONDS: Final = 3600.0

T = TypeVar("T")


class BinanceRest:
    """The interface at `url`.

    It makes no call during a pause that the upstream asked for, nor when the address has used most of its
    weight of this minute: the upstream bans clients that continue.
    """

    def __init__(self, url: str, clock: Callable[[], float]) -> None:
        self._url = url
        self._clock = clock
        self._paused_until = 0.0

    async def get(self, path: str, kind: type[T], params: Mapping[str, str] | None = None) -> T:
        """Returns the answer of `path` as `kind`. Raises UpstreamError or UpstreamRefused."""
        wait = self._paused_until - self._clock()
        if wait > 0:
            raise UpstreamError("Binance asked for a pause", retry_after=wait)
        with location_errors():
            async with open_client(self._url) as client:
                client.event_hooks = {"response": [self._note]}
                return await get_json(client, path, kind, params=params)

    async def _note(self, response: httpx.Response) -> None:
        """Sets the end of the pause that a response asks for."""
        now = self._clock()
        text = response.headers.get("x-mbx-used-weight-1m", "")
        weight = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
        if response.status_code in AWAY_SECONDS:
            asked = retry_seconds(response.headers.get("retry-after"))
            self._paused_until = now + (AWAY_SECONDS[response.status_code] if asked is None else asked)
        elif weight >= WEIGHT_LIMIT - WEIGHT_RESERVE:
            self._paused_until = now + MINUTE_SECONDS - now % MINUTE_SECONDS


@contextmanager
def location_errors() -> Iterator[None]:
    """Raises a clear UpstreamError where Binance does not serve this country."""
    try:
        yield
    except (UpstreamRefused, InvalidStatus) as error:
        status = error.upstream_status if isinstance(error, UpstreamRefused) else error.response.status_code
        if status != ELSEWHERE:
            raise
        raise UpstreamError("Binance does not serve this country", retry_after=ELSEWHERE_SECONDS) from error
