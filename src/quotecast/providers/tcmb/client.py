"""Reads the bulletin of today, and the one before it for the change."""

import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final

import httpx

from quotecast.errors import UpstreamError, UpstreamRefused
from quotecast.market.quotes import DovizQuote
from quotecast.providers.fetch import get_bytes, open_client
from quotecast.providers.tcmb.wire import Bulletin, bulletin

XML_KINDS: Final = ("application/xml", "text/xml")
#: The longest holidays are shorter.
DAYS_BACK: Final = 10


class Tcmb:
    """The bulletins at `url`."""

    #: Bulletins come once a day.
    every_seconds = 900.0

    def __init__(self, url: str, *, clock: Callable[[], float] = time.time) -> None:
        self._url = url
        self._clock = clock
        self._received = 0.0
        self._last: Bulletin | None = None
        self._before: Bulletin | None = None

    async def read(self) -> list[DovizQuote]:
        """The quotes of the newest bulletin. Raises UpstreamError.

        Without the bulletin before, they tell no change, and it is looked for again the next time.
        """
        async with open_client(self._url) as client:
            newest = await _bulletin(client, "/kurlar/today.xml")
            if self._last is None or newest.date != self._last.date:
                # The last one, if it is known, is the one before: none is left out.
                self._before = self._last
                self._received = self._clock()
            self._last = newest
            if self._before is None:
                self._before = await _earlier(client, newest.date)
        return newest.quotes(self._before, self._received)


async def _earlier(client: httpx.AsyncClient, day: date) -> Bulletin | None:
    """The newest bulletin before that day; there is none of weekends and holidays."""
    for path in _archive(day):
        try:
            return await _bulletin(client, path)
        except UpstreamRefused as error:
            if error.upstream_status != httpx.codes.NOT_FOUND:
                return None
        except UpstreamError:
            return None
    return None


def _archive(day: date) -> Iterator[str]:
    for back in range(1, DAYS_BACK + 1):
        earlier = day - timedelta(days=back)
        yield f"/kurlar/{earlier:%Y%m}/{earlier:%d%m%Y}.xml"


async def _bulletin(client: httpx.AsyncClient, path: str) -> Bulletin:
    body = await get_bytes(client, path, kinds=XML_KINDS)
    try:
        return bulletin(body)
    except ValueError as error:
        raise UpstreamError(f"TCMB: unreadable: {error}") from error
