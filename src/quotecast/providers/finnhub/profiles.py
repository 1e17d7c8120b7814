"""Company profiles: the listing and the currency of Finnhub's figures.

Source of the format: Finnhub's OpenAPI document, `/stock/profile2`: `currency` is that of filings and
financials, `estimateCurrency` that of estimates, `ticker` the symbol on the listed exchange.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from msgspec import Struct

from quotecast.errors import NotOffered, UpstreamError
from quotecast.market.feeds import Feed
from quotecast.market.instruments import canonical_symbol

#: Seconds for which a profile is valid, and the failure to get one.
DAY_SECONDS: Final = 86_400.0
FAILURE_SECONDS: Final = 600.0
#: Seconds that figures wait for a profile.
PATIENCE_SECONDS: Final = 2.0
MOST_PROFILES: Final = 10_000

_CURRENCY: Final = re.compile(r"[A-Z]{3}")


class CompanyProfile(Struct, frozen=True, rename="camel"):
    """A company's listing at home and its currencies; None for unknown ones."""

    ticker: str | None = None
    currency: str | None = None
    estimate_currency: str | None = None
    #: Whether the upstream failed; the next call may bring the profile.
    missed: bool = False


UNKNOWN: Final = CompanyProfile()
MISSED: Final = CompanyProfile(missed=True)
_profile: Final = msgspec.json.Decoder(CompanyProfile)


class Profiles:
    """Profiles of companies, each fetched once a day; `ask` returns the upstream's answer."""

    def __init__(self, ask: Callable[[str], Awaitable[bytes]], clock: Callable[[], float]) -> None:
        self._ask = ask
        self._clock = clock
        #: The time of the last call for each, and the task of that call.
        self._known: OrderedDict[str, tuple[float, asyncio.Task[CompanyProfile]]] = OrderedDict()

    async def find(self, symbol: str) -> CompanyProfile:
        """Returns the profile of a company; UNKNOWN without one, MISSED after a failure."""
        asked_at, task = self._known.get(symbol, (0.0, None))
        lacks_profile = task is not None and task.done() and task.result() in {UNKNOWN, MISSED}
        lifetime = FAILURE_SECONDS if lacks_profile else DAY_SECONDS
        if task is None or self._clock() - asked_at >= lifetime:
            task = asyncio.create_task(self._read(symbol))
            self._known[symbol] = self._clock(), task
            self._known.move_to_end(symbol)
            if len(self._known) > MOST_PROFILES:
                self._known.popitem(last=False)
        # `wait` keeps the call alive for other readers when this one is cancelled.
        await asyncio.wait([task])
        return task.result()

    def is_missed(self, symbol: str) -> bool:
        """Returns whether the last call for a profile failed, some minutes ago at most."""
        asked_at, task = self._known.get(symbol, (0.0, None))
        recent = self._clock() - asked_at < FAILURE_SECONDS
        return task is not None and task.done() and task.result().missed and recent

    async def _read(self, symbol: str) -> CompanyProfile:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                profile = _profile.decode(await self._ask(symbol))
        except NotOffered:
            return UNKNOWN
        except (TimeoutError, UpstreamError, ValueError, RecursionError):
            return MISSED
        return CompanyProfile(
            profile.ticker, _currency(profile.currency), _currency(profile.estimate_currency)
        )


def home_symbol(asked: str, *answered: str | None) -> str | None:
    """Returns the first answered symbol that differs from the asked one: that of the home listing."""
    found = (canonical_symbol(Feed.STOCKS, symbol) for symbol in answered if symbol)
    return next((symbol for symbol in found if symbol and symbol != asked), None)


def _currency(text: str | None) -> str | None:
    return text if _CURRENCY.fullmatch(text or "") else None
