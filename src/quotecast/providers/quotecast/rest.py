"""Reads of an origin's REST interface, and its company data: the records are ours."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, TypeVar

import httpx
import msgspec
from msgspec import Struct

from quotecast.errors import NotOffered, SymbolNotFound, UpstreamError, UpstreamRefused
from quotecast.market.financials import (
    Earnings,
    EarningsCalendar,
    EarningsQuality,
    EpsEstimate,
    Estimates,
    Metrics,
    Recommendation,
    RevenueEstimate,
)
from quotecast.providers.transport.fetch import get_answer, open_client, segment

#: Less than the patience of the cache in front of it.
DEADLINE_SECONDS: Final = 8.0

T = TypeVar("T")


class _Problem(Struct, frozen=True):
    """The answer of an origin instead of data."""

    code: str = ""
    detail: str = ""


class OriginRest:
    """The interface of the origin at `origin`, the address of its feeds such as wss://quotes.example.com."""

    def __init__(self, origin: str) -> None:
        self._url = origin.replace("ws", "http", 1)

    def open(self) -> httpx.AsyncClient:
        """Returns a client for some calls; the caller closes it."""
        return open_client(self._url)

    async def read(self, path: str, kind: type[T], params: Mapping[str, str] | None = None) -> T:
        """Returns the body of one call. Raises as `read_page` does."""
        async with self.open() as client:
            found, _ = await self.read_page(client, path, kind, params)
        return found

    async def read_page(
        self, client: httpx.AsyncClient, path: str, kind: type[T], params: Mapping[str, str] | None = None
    ) -> tuple[T, Mapping[str, str]]:
        """Returns a body as `kind`, and the headers.

        Raises SymbolNotFound and NotOffered where the origin answers so, UpstreamError for all else.
        """
        try:
            body, headers = await get_answer(client, path, params=params, deadline_seconds=DEADLINE_SECONDS)
        except UpstreamRefused as error:
            _explain(error)
            raise
        try:
            return msgspec.json.decode(body, type=kind), headers
        except (ValueError, RecursionError) as error:
            raise UpstreamError(f"origin{path}: unreadable: {error}") from error


def _explain(error: UpstreamRefused) -> None:
    """Raises what the origin raised, if the error of another kind has a meaning here."""
    try:
        problem = msgspec.json.decode(error.excerpt, type=_Problem)
    except (ValueError, RecursionError):
        return
    if error.upstream_status == httpx.codes.NOT_FOUND and problem.code == SymbolNotFound.code:
        raise SymbolNotFound from error
    if error.upstream_status == httpx.codes.SERVICE_UNAVAILABLE and problem.code in {
        NotOffered.code,
        "no_provider",
    }:
        raise NotOffered(problem.detail or "The origin does not offer this") from error


class OriginFinancials:
    """Company data of the origin."""

    name = "quotecast"

    def __init__(self, rest: OriginRest) -> None:
        self._rest = rest

    async def has(self, symbol: str) -> bool:
        """See FinancialsProvider; the origin decides with its records."""
        del symbol
        return True

    async def metrics(self, symbol: str) -> Metrics:
        """See FinancialsProvider."""
        return await self._rest.read(_path(symbol, "metrics"), Metrics)

    async def earnings(self, symbol: str) -> Sequence[Earnings]:
        """See FinancialsProvider."""
        return await self._rest.read(_path(symbol, "earnings"), list[Earnings])

    async def recommendations(self, symbol: str) -> Sequence[Recommendation]:
        """See FinancialsProvider."""
        return await self._rest.read(_path(symbol, "recommendations"), list[Recommendation])

    async def revenue_estimates(self, symbol: str) -> Estimates[RevenueEstimate]:
        """See FinancialsProvider."""
        return await self._rest.read(_path(symbol, "revenue-estimates"), Estimates[RevenueEstimate])

    async def eps_estimates(self, symbol: str) -> Estimates[EpsEstimate]:
        """See FinancialsProvider."""
        return await self._rest.read(_path(symbol, "eps-estimates"), Estimates[EpsEstimate])

    async def earnings_quality(self, symbol: str) -> EarningsQuality:
        """See FinancialsProvider."""
        return await self._rest.read(_path(symbol, "earnings-quality"), EarningsQuality)

    def is_provisional(self, symbol: str) -> bool:
        """See FinancialsProvider; the origin does not say so."""
        del symbol
        return False

    async def earnings_calendar(self, first: date, last: date, symbol: str | None = None) -> EarningsCalendar:
        """See FinancialsProvider."""
        of_one = {} if symbol is None else {"symbol": symbol}
        params = {"from": first.isoformat(), "to": last.isoformat(), **of_one}
        return await self._rest.read("/api/financials/earnings-calendar", EarningsCalendar, params)


def _path(symbol: str, record: str) -> str:
    return f"/api/financials/company/{segment(symbol)}/{record}"
