"""Company data through the cache: one record, or the overview of all records."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from quotecast.api.market.services import Services
from quotecast.api.routes.market.company_parts import RECORDS, CompanyRecord
from quotecast.cache.base import Cached, Policy, Provisional
from quotecast.errors import NotOffered, QuotecastError, SymbolNotFound, UpstreamError
from quotecast.market.codec import encode_json, object_json
from quotecast.providers.base import FinancialsProvider

#: How long an answer is fresh that lacks its currency because the upstream failed.
PROVISIONAL_SECONDS: Final = 600
_UNLISTED: Final = Policy(fresh_seconds=86_400)
UNAVAILABLE: Final = "Upstream unavailable"

#: Which error an overview without any record raises: the first kind that occurred.
_SEVERITY: Final = (UpstreamError, SymbolNotFound, NotOffered)

Outcome = Cached | QuotecastError


def cache_key(provider: FinancialsProvider, *names: object) -> str:
    """Returns a cache key that names the provider, so that providers never share an entry."""
    return ":".join((provider.name, "financials", *map(str, names)))


async def read_record(
    services: Services, provider: FinancialsProvider, record: CompanyRecord, symbol: str
) -> Cached:
    """Returns one record of a company. Raises SymbolNotFound, NotOffered or UpstreamError.

    A listed stock without data at the upstream has an empty record.
    """
    if not services.names.has_company(symbol):
        await _find_unlisted(services, provider, symbol)

    async def fetch() -> bytes | Provisional:
        body = encode_json(await record.ask(provider, symbol))
        return Provisional(body, PROVISIONAL_SECONDS) if provider.is_provisional(symbol) else body

    try:
        cached = await services.cache.read(cache_key(provider, record.path, symbol), record.policy, fetch)
    except SymbolNotFound:
        if not services.names.is_listed(symbol):
            raise
        return Cached(encode_json(record.nothing(symbol)), "MISS", 0, 0)
    services.names.remember_company(symbol)
    return cached


async def _find_unlisted(services: Services, provider: FinancialsProvider, symbol: str) -> None:
    """Asks the upstream once whether it has a company that no list names: a typo costs one call.

    Raises SymbolNotFound, NotOffered or UpstreamError.
    """

    async def fetch() -> bytes:
        await services.unlisted()
        if not await provider.has(symbol):
            raise SymbolNotFound
        return b"true"

    await services.cache.read(cache_key(provider, "has", symbol), _UNLISTED, fetch)


async def read_overview(services: Services, provider: FinancialsProvider, symbol: str) -> Cached:
    """All kinds of data about a company, read at the same time.

    One that could not be had is null. Raises SymbolNotFound, NotOffered or UpstreamError when none could.
    """
    outcomes = await asyncio.gather(
        *(_read_outcome(services, provider, record, symbol) for record in RECORDS)
    )
    return _join(symbol, {record.member: each for record, each in zip(RECORDS, outcomes, strict=True)})


async def _read_outcome(
    services: Services, provider: FinancialsProvider, record: CompanyRecord, symbol: str
) -> Outcome:
    try:
        return await read_record(services, provider, record, symbol)
    except (SymbolNotFound, NotOffered, UpstreamError) as error:
        return error


def _join(symbol: str, outcomes: Mapping[str, Outcome]) -> Cached:
    """The overview made of what could be had. Raises when that is nothing.

    It is as old as its oldest record, and to be asked for again as soon as any record is.
    """
    had = [each for each in outcomes.values() if isinstance(each, Cached)]
    failed = {member: each for member, each in outcomes.items() if isinstance(each, QuotecastError)}
    if not had:
        raise _most_severe(failed.values())
    bodies = {member: each.body if isinstance(each, Cached) else b"null" for member, each in outcomes.items()}
    errors = {member: _error_text(error) for member, error in failed.items()}
    body = {"symbol": encode_json(symbol), **bodies, "errors": encode_json(errors)}
    passing = any(isinstance(error, UpstreamError) for error in failed.values())
    return Cached(
        object_json(body.items()),
        next(status for status in ("STALE", "MISS", "HIT") if status in {each.status for each in had}),
        max(each.age_seconds for each in had),
        0 if passing else min(each.fresh_seconds for each in had),
    )


def _most_severe(errors: Iterable[QuotecastError]) -> QuotecastError:
    def severity(error: QuotecastError) -> tuple[int, float]:
        order = next(order for order, kind in enumerate(_SEVERITY) if isinstance(error, kind))
        return order, getattr(error, "retry_after", None) or 0.0

    return min(errors, key=severity)


def _error_text(error: QuotecastError) -> str:
    # What exactly failed at the upstream is for the log.
    return UNAVAILABLE if isinstance(error, UpstreamError) else str(error)
