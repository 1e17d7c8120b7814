"""The simulated companies as a provider of company data."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import TypeVar

from quotecast.errors import SymbolNotFound
from quotecast.market.feeds import Feed
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
from quotecast.market.reference import stocks
from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market import ratios, records
from quotecast.simulation.market.companies import Company, companies_of
from quotecast.simulation.market.quoters import NAME
from quotecast.simulation.market.reports import FIRST_DAY, LAST_DAY, last_reported_quarter
from quotecast.simulation.market.scenarios.schedule import Schedule
from quotecast.simulation.market.tape import TapeSource
from quotecast.simulation.market.trading import trading_year
from quotecast.simulation.market.venues import hours_of, stock_tapes

Record = TypeVar("Record")


class SimulatorFinancials:
    """Company data of every simulated stock at the clock's Unix time.

    It is a pure function of seed and time and consistent with the simulated quotes: market capitalisation and
    ratios follow the tape's price at that time. `always_open` selects the venue's hours.
    """

    name = NAME

    def __init__(
        self,
        seed: int,
        clock: Callable[[], float] = time.time,
        *,
        always_open: bool = True,
        schedule: Schedule | None = None,
    ) -> None:
        self._clock = clock
        self._schedule = schedule or Schedule()
        self._companies = companies_of(seed)
        self._tapes: dict[str, TapeSource] = stock_tapes(
            stocks(), seed, hours_of(Feed.STOCKS, always_open=always_open), schedule
        )

    async def has(self, symbol: str) -> bool:
        """See FinancialsProvider."""
        self._admit()
        return symbol in self._companies

    async def metrics(self, symbol: str) -> Metrics:
        """See FinancialsProvider."""
        return await self._compute_record(symbol, self._metrics)

    async def earnings(self, symbol: str) -> Sequence[Earnings]:
        """See FinancialsProvider."""
        return await self._compute_record(symbol, records.earnings)

    async def recommendations(self, symbol: str) -> Sequence[Recommendation]:
        """See FinancialsProvider."""
        return records.recommendations(self._company(symbol), self._now().astimezone(NEW_YORK).date())

    async def revenue_estimates(self, symbol: str) -> Estimates[RevenueEstimate]:
        """See FinancialsProvider."""
        return await self._compute_record(symbol, records.revenue_estimates)

    async def eps_estimates(self, symbol: str) -> Estimates[EpsEstimate]:
        """See FinancialsProvider."""
        return await self._compute_record(symbol, records.eps_estimates)

    async def earnings_quality(self, symbol: str) -> EarningsQuality:
        """See FinancialsProvider."""
        return await self._compute_record(symbol, records.earnings_quality)

    def is_provisional(self, symbol: str) -> bool:  # noqa: ARG002 - no answer lacks anything
        """See FinancialsProvider."""
        return False

    async def earnings_calendar(self, first: date, last: date, symbol: str | None = None) -> EarningsCalendar:
        """See FinancialsProvider; there are reports from 1995 to 2099."""
        self._admit()
        companies = [*self._companies.values()] if symbol is None else [self._company(symbol)]
        reach = max(first, FIRST_DAY), min(last, LAST_DAY)
        if reach[0] > reach[1]:
            return EarningsCalendar([])
        events = await asyncio.to_thread(records.calendar, companies, *reach, self._now())
        return EarningsCalendar(events, *map(date.isoformat, reach))

    async def _compute_record(self, symbol: str, make_record: Callable[[Company, int], Record]) -> Record:
        """Returns a company's record, computed in a thread.

        A year of trading or of the exchange's calendar takes too long for the event loop.
        """
        company = self._company(symbol)
        return await asyncio.to_thread(
            lambda: make_record(company, last_reported_quarter(company, self._now()))
        )

    def _metrics(self, company: Company, last: int) -> Metrics:
        tape = self._tapes[company.stock.ticker]
        now = int(self._clock() * 1000)
        year = trading_year(tape.at(now), now)
        if not year.days:
            raise SymbolNotFound
        return ratios.metrics(company, last, tape.listing.volatility, year)

    def _company(self, symbol: str) -> Company:
        company = self._companies.get(symbol)
        if company is None:
            raise SymbolNotFound
        self._admit()
        return company

    def _admit(self) -> None:
        self._schedule.admit(int(self._clock() * 1000))

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)
