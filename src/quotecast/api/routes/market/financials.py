"""Company data and the earnings calendar, read through the cache."""

from datetime import date, datetime
from functools import lru_cache
from typing import Annotated, Final

from litestar import Router, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import ResponseSpec
from litestar.params import FromPath

from quotecast.api.answers.answers import Answer, SharedBody, cached_for, document_answer
from quotecast.api.limits.repeats import repeatable
from quotecast.api.market.parameters import text_parameter
from quotecast.api.market.selection import renamed_headers
from quotecast.api.market.services import Services
from quotecast.api.reference import financial_examples as examples
from quotecast.api.reference.openapi import CompanyReading, answered, refused
from quotecast.api.routes.days import day_of, day_parameter
from quotecast.api.routes.market.company import UNAVAILABLE, cache_key, read_overview, read_record
from quotecast.api.routes.market.company_parts import EXAMPLE, HOUR_SECONDS, RECORDS, CompanyRecord, Overview
from quotecast.asgi import Header
from quotecast.cache.base import Cached, Policy
from quotecast.errors import FieldProblem, InvalidValue, Problem, ProviderMissing, SymbolNotFound
from quotecast.market.codec import encode_json
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
