"""Company data and the earnings calendar, kept between the upstream and the clients."""

import re
from datetime import date, datetime
from functools import lru_cache
from typing import Annotated, Final

from litestar import Router, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, QueryParameter

from quotecast.api.answers import JSON, Answer, Document
from quotecast.api.edge.repeats import repeatable_read
from quotecast.api.parts import HttpRequest, Parts
from quotecast.api.reference import financial_examples as examples
from quotecast.api.reference.openapi import CachedReading, answered, refused
from quotecast.api.routes.company import UNAVAILABLE, key_of, read_all, read_part
from quotecast.api.routes.company_parts import EXAMPLE, HOUR_SECONDS, PARTS, Overview, Part
from quotecast.cache.base import Cached, Policy
from quotecast.errors import FieldProblem, InvalidValue, Problem, ProviderMissing, SymbolNotFound
from quotecast.market.codec import encode_json
from quotecast.market.feeds import Feed
from quotecast.market.financials import EarningsCalendar
from quotecast.market.instruments import canonical_symbol
from quotecast.market.sessions import NEW_YORK
from quotecast.providers.base import FinancialsProvider

GROUP: Final = "financials"
MAX_DAYS: Final = 92
#: For how long the same answer is sent again: `Age` counts whole seconds.
HELD_SECONDS: Final = 0.5
DEFAULT_DAYS: Final = 7

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_CALENDAR: Final = Policy(fresh_seconds=HOUR_SECONDS)


def _errors(*statuses: int) -> dict[int, ResponseSpec]:
    return {status: _ERRORS[status] for status in statuses}


_ERRORS: Final = {
    422: refused(
        "A date is not one, or out of bounds",
        Problem("Invalid from", "invalid", errors=[FieldProblem("from", "Not after to")]),
    ),
    503: refused(
        "The upstream failed and nothing is kept, does not offer this, or there is none",
        Problem(UNAVAILABLE, "upstream"),
        Problem("Not in the upstream's plan", "not_offered"),
        Problem("No provider configured for financials", "no_provider"),
    ),
}


def _day_parameter(name: str, description: str) -> QueryParameter:
    return QueryParameter(name=name, description=description, schema_extra={"format": "date"})


From = Annotated[str | None, _day_parameter("from", "First day; today in New York by default")]
To = Annotated[str | None, _day_parameter("to", f"Last day; {DEFAULT_DAYS} days after the first by default")]


@get(
    "/earnings-calendar",
    summary="Earnings calendar",
    operation_class=CachedReading,
    responses=answered(EarningsCalendar, examples.EARNINGS_CALENDAR, "Reports by date", 429)
    | _errors(422, 503),
)
async def earnings_calendar(request: HttpRequest, first: From = None, last: To = None) -> Answer:
    """Reports that are due or done, from one day to another, at most 92 days later; both are included.

    `coveredFrom` and `coveredTo` are the days that the upstream has: fewer where its plan or its limit ends.
    """
    return await repeatable_read(request, _calendar, _day("from", first), _day("to", last))


async def _calendar(parts: Parts, first: date | None, last: date | None) -> Answer:
    provider = _provider(parts)
    today = datetime.fromtimestamp(parts.clock(), NEW_YORK).date()
    begin, end = _span(first, last, today)

    async def fetch() -> bytes:
        return encode_json(await provider.earnings_calendar(begin, end))

    return _answer(parts, await parts.cache.read(key_of(provider, "calendar", begin, end), _CALENDAR, fetch))


@get(
    "/company/{symbol:str}/overview",
    summary="Everything about a company",
    operation_class=CachedReading,
    responses=answered(Overview, EXAMPLE, "All kinds of company data", 404, 429) | _errors(503),
)
async def overview(request: HttpRequest, symbol: FromPath[str]) -> Answer:
    """What could not be had is null and named in `errors`; `Age` is that of the oldest part."""
    return await repeatable_read(request, _overview, _ticker(symbol))


async def _overview(parts: Parts, symbol: str) -> Answer:
    return _answer(parts, await read_all(parts, _provider(parts), symbol))


def _route(part: Part) -> HTTPRouteHandler:
    @get(
        f"/company/{{symbol:str}}/{part.path}",
        summary=part.summary,
        description=part.description,
        operation_class=CachedReading,
        responses=answered(part.kind, part.example, part.description, 404, 429) | _errors(503),
    )
    async def route(request: HttpRequest, symbol: FromPath[str]) -> Answer:
        return await repeatable_read(request, _part, part, _ticker(symbol))

    return route


@get("/company/{symbol:str}/{rest:str}/{part:str}", sync_to_thread=False, include_in_schema=False)
def refuse_slash(part: FromPath[str]) -> None:
    """No company's symbol holds a slash: `BRK/B` is unknown. Raises SymbolNotFound or NotFoundException."""
    if part in {"overview", *(each.path for each in PARTS)}:
        raise SymbolNotFound
    raise NotFoundException


async def _part(parts: Parts, part: Part, symbol: str) -> Answer:
    return _answer(parts, await read_part(parts, _provider(parts), part, symbol))


def _provider(parts: Parts) -> FinancialsProvider:
    if parts.financials is None:
        raise ProviderMissing(GROUP)
    return parts.financials


def _ticker(text: str) -> str:
    symbol = canonical_symbol(Feed.STOCKS, text)
    if symbol is None:
        raise SymbolNotFound
    return symbol


def _day(field: str, text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text if _DATE.fullmatch(text) else "")
    except ValueError:
        raise InvalidValue(field, "Not a date such as 2026-11-20") from None


def _span(first: date | None, last: date | None, today: date) -> tuple[date, date]:
    """The days asked for; a week's, where one end is left open. Raises InvalidValue."""
    if first is None:
        first = today if last is None or last >= today else _moved(last, -DEFAULT_DAYS)
    if last is None:
        last = _moved(first, DEFAULT_DAYS)
    if first > last:
        raise InvalidValue("from", "Not after to")
    if (last - first).days > MAX_DAYS:
        raise InvalidValue("to", f"At most {MAX_DAYS} days after from")
    return first, last


def _moved(day: date, days: int) -> date:
    """As far as dates go."""
    return date.fromordinal(max(1, min(day.toordinal() + days, date.max.toordinal())))


def _answer(parts: Parts, cached: Cached) -> Answer:
    document = _document(cached.body)
    # The whole time to live, of which caches subtract the age; what is past its time is asked for again.
    max_age = cached.age_seconds + cached.fresh_seconds if cached.fresh_seconds else 0
    headers = [
        (b"content-type", JSON),
        (b"etag", document.tag),
        (b"cache-control", b"public, max-age=%d" % max_age),
        (b"x-cache", cached.status.encode()),
        (b"age", b"%d" % cached.age_seconds),
    ]
    until = parts.monotonic() + HELD_SECONDS
    return Answer(document, headers, tag=document.tag, is_current=lambda: parts.monotonic() < until)


@lru_cache(maxsize=256)
def _document(body: bytes) -> Document:
    """The same for all who are sent the same body, so that it is compressed once."""
    return Document(body)


ROUTER: Final = Router(
    "/api/financials",
    route_handlers=[earnings_calendar, overview, *map(_route, PARTS), refuse_slash],
    tags=["Financials"],
    opt={"limit": GROUP},
)
