"""Company data of Finnhub, by REST."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import date
from typing import Final, Protocol, TypeVar

from msgspec.structs import replace

from quotecast.errors import NotOffered, SymbolNotFound
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
from quotecast.providers.finnhub import answers, wire
from quotecast.providers.finnhub.answers import Answer, decode, member, to_metrics
from quotecast.providers.finnhub.profiles import UNKNOWN, Profiles, home_symbol
from quotecast.providers.finnhub.rest import FinnhubRest
from quotecast.providers.refusals import RefusalCounter

QUARTERLY: Final = "quarterly"
#: A century of quarters.
MOST_PERIODS: Final = 400


class _HasPeriod(Protocol):
    @property
    def period(self) -> date: ...


R = TypeVar("R", bound=_HasPeriod)
T = TypeVar("T")


class FinnhubFinancials:
    """Company data of Finnhub.

    A method takes one call, and a second one after an empty list: the upstream answers so for a fund, which
    has no earnings, and for an unknown symbol, and only the latter is SymbolNotFound. Once a day a company's
    amounts take one more call, for the profile with their currency. `clock` is Unix time.
    """

    name = "finnhub"

    def __init__(self, rest: FinnhubRest, *, clock: Callable[[], float] = time.time) -> None:
        self._rest = rest
        self._profiles = Profiles(lambda symbol: self._rest.get("/stock/profile2", {"symbol": symbol}), clock)
        self._refused = RefusalCounter(self.name)

    async def has(self, symbol: str) -> bool:
        """See FinancialsProvider; an exchange of which the plan has no prices may have it."""
        try:
            return answers.is_priced(await self._ask("/quote", symbol))
        except NotOffered:
            return True

    async def metrics(self, symbol: str) -> Metrics:
        """See FinancialsProvider."""
        answer = await self._ask("/stock/metric", symbol, metric="all")
        # In a thread: the event loop would wait for thousands of figures.
        metrics = await asyncio.to_thread(to_metrics, answer, symbol, self._refused)
        if metrics is None:
            raise SymbolNotFound
        profile = await self._profiles.find(symbol)
        home = home_symbol(symbol, answers.symbol_of(answer), profile.ticker)
        return replace(metrics, currency=profile.currency, home_symbol=home)

    async def earnings(self, symbol: str) -> Sequence[Earnings]:
        """See FinancialsProvider; with as many quarters as the plan has."""
        answer = await self._ask("/stock/earnings", symbol)
        rows = await self._periods(answer, symbol, wire.EarningsRow)
        profile = await self._profiles.find(symbol) if rows else UNKNOWN
        return [row.to_record(symbol, profile, self._refused) for row in rows]

    async def recommendations(self, symbol: str) -> Sequence[Recommendation]:
        """See FinancialsProvider."""
        answer = await self._ask("/stock/recommendation", symbol)
        rows = await self._periods(answer, symbol, wire.RecommendationRow)
        return [row.to_record(symbol, self._refused) for row in rows]

    async def revenue_estimates(self, symbol: str) -> Estimates[RevenueEstimate]:
        """See FinancialsProvider."""
        rows, answered = await self._quarters("/stock/revenue-estimate", symbol, wire.RevenueRow)
        return await self._estimates(symbol, answered, [row.to_record(self._refused) for row in rows])

    async def eps_estimates(self, symbol: str) -> Estimates[EpsEstimate]:
        """See FinancialsProvider."""
        rows, answered = await self._quarters("/stock/eps-estimate", symbol, wire.EpsRow)
        return await self._estimates(symbol, answered, [row.to_record(self._refused) for row in rows])

    async def earnings_quality(self, symbol: str) -> EarningsQuality:
        """See FinancialsProvider."""
        rows, _ = await self._quarters("/stock/earnings-quality-score", symbol, wire.QualityRow)
        return EarningsQuality(symbol, QUARTERLY, [row.to_record(self._refused) for row in rows])

    def is_provisional(self, symbol: str) -> bool:
        """See FinancialsProvider."""
        return self._profiles.is_missed(symbol)

    async def earnings_calendar(self, first: date, last: date, symbol: str | None = None) -> EarningsCalendar:
        """See FinancialsProvider; of US companies, as far as the plan reaches."""
        of_one = {} if symbol is None else {"symbol": symbol}
        query = {"from": first.isoformat(), "to": last.isoformat(), **of_one}
        body = await self._rest.get("/calendar/earnings", query)
        pause = answers.LONGEST_PAUSE if symbol is None else answers.LONGEST_PAUSE_OF_ONE
        return await asyncio.to_thread(
            lambda: answers.calendar(decode(body), first, last, self._refused, pause)
        )

    async def _estimates(self, symbol: str, answered: str | None, records: list[T]) -> Estimates[T]:
        """Returns records with their currency; `answered` is the symbol in the upstream's answer."""
        profile = await self._profiles.find(symbol) if records else UNKNOWN
        home = home_symbol(symbol, answered, profile.ticker)
        return Estimates(symbol, QUARTERLY, records, profile.estimate_currency, home)

    async def _quarters(self, path: str, symbol: str, kind: type[R]) -> tuple[list[R], str | None]:
        """Returns the rows, and the symbol in the answer."""
        answer = await self._ask(path, symbol, freq=QUARTERLY)
        return await self._periods(member(answer, "data"), symbol, kind), answers.symbol_of(answer)

    async def _periods(self, answer: Answer, symbol: str, kind: type[R]) -> list[R]:
        """Returns the rows, the newest first. Raises SymbolNotFound for an unknown symbol."""
        rows = answers.rows(answer, kind, self._refused)
        if not rows and not answers.is_priced(await self._ask("/quote", symbol)):
            raise SymbolNotFound
        return sorted(rows, key=lambda row: row.period, reverse=True)[:MOST_PERIODS]

    async def _ask(self, path: str, symbol: str, **more: str) -> Answer:
        return decode(await self._rest.get(path, {"symbol": symbol, **more}))
