"""Company data and the earnings calendar, read through the cache."""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from functools import lru_cache
from typing import Annotated, Final

from litestar import Router, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import ResponseSpec
from litestar.params import FromPath

from quotecast.api.answers.answers import Answer, SharedBody, cache_status, cached_for, document_answer
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.parameters import text_parameter
from quotecast.api.market.selection import renamed_headers
from quotecast.api.market.services import Services
from quotecast.api.reference import financial_examples as examples
from quotecast.api.reference.openapi import CompanyReading, answered, refused
from quotecast.api.routes.days import day_of, day_parameter
from quotecast.api.routes.market.company_parts import EXAMPLE, HOUR_SECONDS, RECORDS, CompanyRecord, Overview
from quotecast.asgi import Header
from quotecast.cache.base import Cached, Policy, Provisional
from quotecast.errors import (
    FieldProblem,
    InvalidValue,
    NotOffered,
    Problem,
    ProviderMissing,
    QuotecastError,
    SymbolNotFound,
    UpstreamError,
)
from quotecast.market.codec import encode_json, object_json
from quotecast.market.feeds import Feed
from quotecast.market.financials import EarningsCalendar
from quotecast.market.sessions import NEW_YORK
from quotecast.providers.base import FinancialsProvider

GROUP: Final = "financials"
MAX_DAYS: Final = 92
#: Five years of one company.
MAX_DAYS_OF_ONE: Final = 1830
#: Seconds for which an answer is sent again; `Age` counts whole seconds.
HELD_SECONDS: Final = 0.5
DEFAULT_DAYS: Final = 7

_CALENDAR: Final = Policy(fresh_seconds=HOUR_SECONDS)
#: How long an answer is fresh that lacks its currency because the upstream failed.
PROVISIONAL_SECONDS: Final = 600
_UNLISTED: Final = Policy(fresh_seconds=86_400)
#: Which error an overview without any record raises: the first kind that occurred.
_SEVERITY: Final = (UpstreamError, SymbolNotFound, NotOffered)
UNAVAILABLE: Final = "Upstream unavailable"

Outcome = Cached | QuotecastError


def _errors(*statuses: int) -> dict[int, ResponseSpec]:
    return {status: _ERRORS[status] for status in statuses}


_ERRORS: Final = {
    422: refused(
        "A date is invalid or out of bounds",
        Problem("Invalid from", "invalid", errors=[FieldProblem("from", "Must not be after to")]),
    ),
    503: refused(
        "The upstream failed with an empty cache, does not offer this, or no provider is configured",
        Problem(UNAVAILABLE, "upstream"),
        Problem("Not in the upstream's plan", "not_offered"),
        Problem("No provider configured for financials", "no_provider"),
    ),
}


From = Annotated[str | None, day_parameter("from", "First day; today in New York by default", "2026-11-23")]
To = Annotated[
    str | None, day_parameter("to", f"Last day; {DEFAULT_DAYS} days after the first by default", "2026-11-27")
]


OfSymbol = Annotated[
    str | None,
    text_parameter("symbol", f"Only the reports of this company, at most {MAX_DAYS_OF_ONE} days apart"),
]


@get(
    "/earnings-calendar",
    operation_id="getEarningsCalendar",
    summary="Earnings calendar",
    operation_class=CompanyReading,
    responses=answered(EarningsCalendar, examples.EARNINGS_CALENDAR, "Reports by date", 404, 429)
    | _errors(422, 503),
)
@repeatable
async def earnings_calendar(
    services: Services, first: From = None, last: To = None, symbol: OfSymbol = None
) -> Answer:
    """Lists past and expected reports from one day to another, both included.

    The days are at most 92 days apart, for one company five years.

    `coveredFrom` and `coveredTo` are the days that the upstream covers, which its plan may limit.
    """
    days = (
        None if first is None else day_of("from", first),
        None if last is None else day_of("to", last),
    )
    provider = _provider(services)
    today = datetime.fromtimestamp(services.clock(), NEW_YORK).date()
    begin, end = _span(*days, today, MAX_DAYS if symbol is None else MAX_DAYS_OF_ONE)
    ticker = None if symbol is None else _ticker(services, symbol)

    async def fetch() -> bytes:
        return encode_json(await provider.earnings_calendar(begin, end, ticker))

    key = cache_key(provider, "calendar", begin, end, ticker or "all")
    notes = _note(services, symbol, ticker) if symbol and ticker else []
    return _answer(services, await services.cache.read(key, _CALENDAR, fetch), *notes)


@get(
    "/company/{symbol:str}/overview",
    operation_id="getCompanyOverview",
    summary="Everything about a company",
    operation_class=CompanyReading,
    responses=answered(Overview, EXAMPLE, "All kinds of company data", 404, 429) | _errors(503),
    opt={"symbols": "path"},
)
@repeatable
async def overview(services: Services, symbol: FromPath[str]) -> Answer:
    """A record that is not available is null and named in `errors`; `Age` is that of the oldest record."""
    ticker = _ticker(services, symbol)
    cached = await read_overview(services, _provider(services), ticker)
    return _answer(services, cached, *_note(services, symbol, ticker))


def _route(record: CompanyRecord) -> HTTPRouteHandler:
    @get(
        f"/company/{{symbol:str}}/{record.path}",
        operation_id=f"getCompany{record.member[0].upper()}{record.member[1:]}",
        summary=record.summary,
        description=record.description,
        operation_class=CompanyReading,
        responses=answered(record.kind, record.example, record.description, 404, 429) | _errors(503),
        opt={"symbols": "path"},
    )
    @repeatable
    async def route(services: Services, symbol: FromPath[str]) -> Answer:
        return await record_answer(services, record, symbol)

    return route


async def record_answer(services: Services, record: CompanyRecord, symbol: str) -> Answer:
    """Returns one record. Raises ProviderMissing, SymbolNotFound, NotOffered or UpstreamError."""
    ticker = _ticker(services, symbol)
    cached = await read_record(services, _provider(services), record, ticker)
    return _answer(services, cached, *_note(services, symbol, ticker))


@get(
    "/company/{symbol:str}/{rest:str}/{part:str}",
    sync_to_thread=False,
    include_in_schema=False,
    opt={"symbols": "path"},
)
def refuse_slash(part: FromPath[str]) -> None:
    """Raises SymbolNotFound for a symbol with a slash such as `BRK/B`, else NotFoundException."""
    if part in {"overview", *(each.path for each in RECORDS)}:
        raise SymbolNotFound
    raise NotFoundException


def _provider(services: Services) -> FinancialsProvider:
    if services.financials is None:
        raise ProviderMissing(GROUP)
    return services.financials


def _ticker(services: Services, text: str) -> str:
    symbol = services.names.company(text)
    if symbol is None:
        raise SymbolNotFound
    return symbol


def _span(first: date | None, last: date | None, today: date, most: int) -> tuple[date, date]:
    """Returns the first and last day; an open end is a week from the other. Raises InvalidValue."""
    if first is None:
        first = today if last is None or last >= today else _shift(last, -DEFAULT_DAYS)
    if last is None:
        last = _shift(first, DEFAULT_DAYS)
    if first > last:
        raise InvalidValue("from", "Must not be after to")
    if (last - first).days > most:
        raise InvalidValue("to", f"Must be at most {most} days after from")
    return first, last


def _shift(day: date, days: int) -> date:
    """Returns the day moved by `days`, within the range of dates."""
    return date.fromordinal(max(1, min(day.toordinal() + days, date.max.toordinal())))


def _note(services: Services, symbol: str, ticker: str) -> list[Header]:
    return renamed_headers(services.mirrors[Feed.STOCKS], [(symbol, ticker)])


def _answer(services: Services, cached: Cached, *more: Header) -> Answer:
    document = _document(cached.body)
    # The whole time to live: caches subtract `Age`. A stale answer has none.
    max_age = cached.age_seconds + cached.fresh_seconds if cached.fresh_seconds else 0
    answer = document_answer(
        document,
        cached_for(max_age),
        (b"x-cache", cached.status.encode()),
        (b"age", b"%d" % cached.age_seconds),
        *more,
    )
    until = services.monotonic() + HELD_SECONDS
    answer.is_current = lambda: services.monotonic() < until
    return answer


@lru_cache(maxsize=256)
def _document(body: bytes) -> SharedBody:
    """Returns one shared document for equal bodies, so that each is compressed once."""
    return SharedBody(body)


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

    async def read(record: CompanyRecord) -> Outcome:
        try:
            return await read_record(services, provider, record, symbol)
        except (SymbolNotFound, NotOffered, UpstreamError) as error:
            return error

    outcomes = await asyncio.gather(*map(read, RECORDS))
    return _join(symbol, {record.member: each for record, each in zip(RECORDS, outcomes, strict=True)})


def _join(symbol: str, outcomes: Mapping[str, Outcome]) -> Cached:
    """The overview made of what could be had. Raises when that is nothing.

    It is as old as its oldest record, and to be asked for again as soon as any record is.
    """
    had = [each for each in outcomes.values() if isinstance(each, Cached)]
    failed = {member: each for member, each in outcomes.items() if isinstance(each, QuotecastError)}
    if not had:
        raise _most_severe(failed.values())
    bodies = {member: each.body if isinstance(each, Cached) else b"null" for member, each in outcomes.items()}
    # What exactly failed at the upstream is for the log.
    errors = {
        member: UNAVAILABLE if isinstance(error, UpstreamError) else str(error)
        for member, error in failed.items()
    }
    body = {"symbol": encode_json(symbol), **bodies, "errors": encode_json(errors)}
    passing = any(isinstance(error, UpstreamError) for error in failed.values())
    return Cached(
        object_json(body.items()),
        cache_status({each.status for each in had}),
        max(each.age_seconds for each in had),
        0 if passing else min(each.fresh_seconds for each in had),
    )


def _most_severe(errors: Iterable[QuotecastError]) -> QuotecastError:
    def severity(error: QuotecastError) -> tuple[int, float]:
        order = next(order for order, kind in enumerate(_SEVERITY) if isinstance(error, kind))
        return order, getattr(error, "retry_after", None) or 0.0

    return min(errors, key=severity)


ROUTER: Final = Router(
    "/api/financials",
    route_handlers=[earnings_calendar, overview, *map(_route, RECORDS), refuse_slash],
    tags=["Financials"],
    opt={
        "tag": "Company data and the earnings calendar, cached from one hour to a day.",
        "feed": Feed.STOCKS,
        "door": "financials",
        "limit": GROUP,
    },
)
