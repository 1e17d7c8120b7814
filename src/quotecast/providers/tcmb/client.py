"""Reads the bulletin of today, and for the change the one before it."""

import time
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Final

import httpx

from quotecast.errors import UpstreamError, UpstreamRefused
from quotecast.market.quotes import DovizQuote
from quotecast.providers.tcmb.wire import ISTANBUL, Bulletin, bulletin
from quotecast.providers.transport.fetch import get_bytes, open_client

XML_KINDS: Final = ("application/xml", "text/xml")
#: Days to search for the bulletin before: more than the longest holidays.
DAYS_BACK: Final = 10
#: The most that a bulletin's date may be ahead of our clock.
MOST_AHEAD: Final = timedelta(days=1)


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
        #: The newest bulletin read before `_last`; the bank may have published others in between.
        self._known: Bulletin | None = None

    async def read(self) -> list[DovizQuote]:
        """Returns the quotes of the newest bulletin so far. Raises UpstreamError.

        An older bulletin never replaces it: caches of the bank's site answer out of order. The change is null
        until the archive answers with the bulletin before, which every call tries again.
        """
        async with open_client(self._url) as client:
            newest = await _bulletin(client, "/kurlar/today.xml")
            today = datetime.fromtimestamp(self._clock(), ISTANBUL).date()
            if newest.date > today + MOST_AHEAD:
                # It would block every real bulletin until then.
                raise UpstreamError(f"TCMB: a bulletin of {newest.date}, on {today}")
            if self._last is None or newest.date > self._last.date:
                self._known, self._before, self._received = self._last, None, self._clock()
            if self._last is None or newest.date >= self._last.date:
                self._last = newest
            if self._before is None:
                self._before = await _earlier(client, self._last.date, self._known)
        return self._last.quotes(self._before, self._received)


async def _earlier(client: httpx.AsyncClient, day: date, known: Bulletin | None) -> Bulletin | None:
    """Returns the newest bulletin before that day, None while the archive fails.

    Weekends and holidays have none. `known` is an older bulletin that needs no request.
    """
    for back in range(1, DAYS_BACK + 1):
        earlier = day - timedelta(days=back)
        if known and known.date == earlier:
            return known
        try:
            found = await _bulletin(client, f"/kurlar/{earlier:%Y%m}/{earlier:%d%m%Y}.xml")
        except UpstreamRefused as error:
            if error.upstream_status != httpx.codes.NOT_FOUND:
                return None
        except UpstreamError:
            return None
        else:
            # A cache may answer with the bulletin of today instead of the archive's.
            return found if found.date == earlier else None
    return None


async def _bulletin(client: httpx.AsyncClient, path: str) -> Bulletin:
    body = await get_bytes(client, path, kinds=XML_KINDS)
    try:
        return bulletin(body)
    except ValueError as error:
        raise UpstreamError(f"TCMB: unreadable: {error}") from error
