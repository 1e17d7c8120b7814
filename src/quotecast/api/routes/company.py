"""Company data as it is read through the cache: one kind, or all of them together."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from quotecast.api.parts import Parts
from quotecast.api.routes.company_parts import PARTS, Part
from quotecast.cache.base import Cached, Provisional
from quotecast.errors import NotOffered, QuotecastError, SymbolNotFound, UpstreamError
from quotecast.market.codec import encode_json, object_json
from quotecast.providers.base import FinancialsProvider

#: How long an answer is fresh that lacks its currency because the upstream failed.
PROVISIONAL_SECONDS: Final = 600
UNAVAILABLE: Final = "Upstream unavailable"

#: What to say when nothing could be had: that it is worth trying again, if it is.
_GRAVITY: Final = (UpstreamError, SymbolNotFound, NotOffered)

Outcome = Cached | QuotecastError


def key_of(provider: FinancialsProvider, *names: object) -> str:
    """What is kept of one provider is never told for another's."""
    return ":".join((provider.name, "financials", *map(str, names)))


async def read_part(parts: Parts, provider: FinancialsProvider, part: Part, symbol: str) -> Cached:
    """One kind of data about a company. Raises SymbolNotFound, NotOffered or UpstreamError.

    A stock that we know ourselves is not unknown because the upstream has no data of it.
    """

    async def fetch() -> bytes | Provisional:
        if parts.names.is_invented(symbol):
            await parts.unlisted()
        body = encode_json(await part.ask(provider, symbol))
        return Provisional(body, PROVISIONAL_SECONDS) if provider.is_provisional(symbol) else body

    try:
        cached = await parts.cache.read(key_of(provider, part.path, symbol), part.policy, fetch)
    except SymbolNotFound:
        if not parts.names.is_listed(symbol):
            raise
        return Cached(encode_json(part.nothing(symbol)), "MISS", 0, 0)
    parts.names.answered(symbol)
    return cached


async def read_all(parts: Parts, provider: FinancialsProvider, symbol: str) -> Cached:
    """All kinds of data about a company, read at the same time.

    One that could not be had is null. Raises SymbolNotFound, NotOffered or UpstreamError when none could.
    """
    outcomes = await asyncio.gather(*(_attempt(parts, provider, part, symbol) for part in PARTS))
    return _joined(symbol, {part.member: each for part, each in zip(PARTS, outcomes, strict=True)})


async def _attempt(parts: Parts, provider: FinancialsProvider, part: Part, symbol: str) -> Outcome:
    try:
        return await read_part(parts, provider, part, symbol)
    except (SymbolNotFound, NotOffered, UpstreamError) as error:
        return error


def _joined(symbol: str, outcomes: Mapping[str, Outcome]) -> Cached:
    """The overview made of what could be had. Raises when that is nothing.

    It is as old as its oldest part, and to be asked for again as soon as any part is.
    """
    had = [each for each in outcomes.values() if isinstance(each, Cached)]
    failed = {member: each for member, each in outcomes.items() if isinstance(each, QuotecastError)}
    if not had:
        raise _gravest(failed.values())
    bodies = {member: each.body if isinstance(each, Cached) else b"null" for member, each in outcomes.items()}
    errors = {member: _told(error) for member, error in failed.items()}
    body = {"symbol": encode_json(symbol), **bodies, "errors": encode_json(errors)}
    passing = any(isinstance(error, UpstreamError) for error in failed.values())
    return Cached(
        object_json(body.items()),
        next(status for status in ("STALE", "MISS", "HIT") if status in {each.status for each in had}),
        max(each.age_seconds for each in had),
        0 if passing else min(each.fresh_seconds for each in had),
    )


def _gravest(errors: Iterable[QuotecastError]) -> QuotecastError:
    def gravity(error: QuotecastError) -> tuple[int, float]:
        order = next(order for order, kind in enumerate(_GRAVITY) if isinstance(error, kind))
        return order, getattr(error, "retry_after", None) or 0.0

    return min(errors, key=gravity)


def _told(error: QuotecastError) -> str:
    # What exactly failed at the upstream is for the log.
    return UNAVAILABLE if isinstance(error, UpstreamError) else str(error)
