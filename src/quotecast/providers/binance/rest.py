"""Calls to Binance's REST interface, within what it allows one address."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, TypeVar

import httpx
from websockets.exceptions import InvalidStatus

from quotecast.errors import UpstreamError, UpstreamRefused
from quotecast.providers.base import Admission
from quotecast.providers.transport.fetch import get_json, open_client, retry_seconds

#: What an address may use in a minute, of which the last part is left to other processes.
WEIGHT_LIMIT: Final = 6000
WEIGHT_RESERVE: Final = 600
MINUTE_SECONDS: Final = 60.0
#: How long to stay away, by status, when the upstream does not say: a minute's window, its shortest ban.
AWAY_SECONDS: Final = {429: 60.0, 418: 120.0}
#: Where the upstream does not serve, asking again helps only after a move.
ELSEWHERE: Final = 451
ELSEWHERE_SECONDS: Final = 3600.0

T = TypeVar("T")


class BinanceRest:
    """The interface at `url`; asks `admitted` before each call.

    It calls nothing while the upstream wants to be left alone, nor when the address has used up most of
    what it may in this minute: the upstream bans those who go on.
    """

    def __init__(self, url: str, admitted: Admission, clock: Callable[[], float]) -> None:
        self._url = url
        self._admitted = admitted
        self._clock = clock
        self._calm_from = 0.0

    async def get(self, path: str, kind: type[T], params: Mapping[str, str] | None = None) -> T:
        """What `path` answers, as `kind`. Raises UpstreamError or UpstreamRefused."""
        wait = self._calm_from - self._clock()
        if wait > 0:
            raise UpstreamError("Binance wants to be left alone", retry_after=wait)
        await self._admitted()
        with location_errors():
            async with open_client(self._url) as client:
                client.event_hooks = {"response": [self._note]}
                return await get_json(client, path, kind, params=params)

    async def _note(self, response: httpx.Response) -> None:
        """Learns from an answer until when to call nothing."""
        now = self._clock()
        if response.status_code in AWAY_SECONDS:
            told = retry_seconds(response.headers.get("retry-after"))
            self._calm_from = now + (AWAY_SECONDS[response.status_code] if told is None else told)
        elif _weight(response) >= WEIGHT_LIMIT - WEIGHT_RESERVE:
            self._calm_from = now + MINUTE_SECONDS - now % MINUTE_SECONDS


@contextmanager
def location_errors() -> Iterator[None]:
    """Says so where Binance does not serve the place that is called from."""
    try:
        yield
    except UpstreamRefused as error:
        if error.upstream_status != ELSEWHERE:
            raise
        raise _location_error() from error
    except InvalidStatus as error:
        if error.response.status_code != ELSEWHERE:
            raise
        raise _location_error() from error


def _location_error() -> UpstreamError:
    return UpstreamError("Binance does not serve the place we call from", retry_after=ELSEWHERE_SECONDS)


def _weight(response: httpx.Response) -> int:
    told = response.headers.get("x-mbx-used-weight-1m", "")
    return int(told) if told.isascii() and told.isdecimal() and len(told) < 10 else 0
