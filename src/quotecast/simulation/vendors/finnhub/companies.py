"""Company data of the simulated market, at the time of its clock."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final

from quotecast.simulation.market import ratios, records
from quotecast.simulation.market.companies import Company, companies_of
from quotecast.simulation.market.hours import new_york_date
from quotecast.simulation.market.reports import FIRST_DAY, LAST_DAY, last_reported_quarter
from quotecast.simulation.market.trading import trading_year
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.finnhub.exchange import Symbols
from quotecast.simulation.vendors.finnhub.rows import (
    dividend_row,
    filing_row,
    profile_row,
    quote_row,
    record_row,
    split_row,
)
from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.market import Market, utc

_MOST_PEERS: Final = 10
#: Most days in a calendar.
_MOST_DAYS: Final = 400


class Companies:
    """The records of the companies of a market."""

    def __init__(self, market: Market, clock: MarketClock) -> None:
        self._market = market
        self._clock = clock
        self._symbols = Symbols(market)
        self._companies = companies_of(market.seed)
        self._records: Mapping[str, Callable[[Company], Any]] = {
            "/stock/metric": self._metrics,
            "/stock/earnings": self._record(records.earnings),
            "/stock/recommendation": self._recommendations,
            "/stock/revenue-estimate": self._record(records.revenue_estimates),
            "/stock/eps-estimate": self._record(records.eps_estimates),
            "/stock/earnings-quality-score": self._record(records.earnings_quality),
            "/stock/profile2": self._profile,
            "/stock/peers": self._peers,
            "/stock/filings": self._filings,
            "/stock/split": self._splits,
            "/stock/dividend": self._dividends,
        }

    def answer(self, path: str, symbol: str) -> Any | None:
        """Returns the answer of a path for a symbol, None for an unknown one; pairs have quotes alone."""
        moment = self._clock.moment()
        name = self._symbols.find(symbol, moment)
        if name is None:
            return None
        if path == "/quote":
            return quote_row(self._market.price(name, moment))
        company = self._companies.get(name)
        return self._records[path](company) if company else None

    def events(self, first: date, last: date) -> Sequence[Row]:
        """Returns the earnings reports from a day to another, both included."""
        begin, end = max(first, FIRST_DAY), min(last, LAST_DAY)
        if begin > end or (end - begin).days > _MOST_DAYS:
            return []
        found = records.calendar(self._companies.values(), begin, end, self._now())
        return [record_row(event) for event in reversed(found)]

    def _record(self, make: Callable[[Company, int], Any]) -> Callable[[Company], Any]:
        """Returns a function from a company to its rows, as of its latest reported quarter."""

        def answer(company: Company) -> Any:
            made = make(company, self._last(company))
            return [record_row(each) for each in made] if isinstance(made, list) else record_row(made)

        return answer

    def _metrics(self, company: Company) -> Row:
        source = self._market.tapes[company.stock.ticker]
        now = self._clock.moment()
        year = trading_year(source.at(now), now)
        return record_row(ratios.metrics(company, self._last(company), source.listing.volatility, year))

    def _recommendations(self, company: Company) -> list[Row]:
        today = new_york_date(self._clock.moment())
        return [record_row(each) for each in records.recommendations(company, today)]

    def _profile(self, company: Company) -> Row:
        price = self._market.price(company.stock.ticker, self._clock.moment())
        return profile_row(company.stock, price.price)

    def _peers(self, company: Company) -> list[str]:
        """Returns the largest companies of the same industry, the company among them."""
        same = [
            each.stock for each in self._companies.values() if each.stock.industry == company.stock.industry
        ]
        names = [each.ticker for each in sorted(same, key=lambda stock: stock.shares, reverse=True)]
        others = [name for name in names if name != company.stock.ticker]
        return [company.stock.ticker, *others[: _MOST_PEERS - 1]]

    def _filings(self, company: Company) -> list[Row]:
        """Returns the reports of two years, the newest first."""
        today = new_york_date(self._clock.moment())
        found = records.events(company, today - timedelta(days=730), today, self._now())
        return [filing_row(event) for event in found][::-1]

    def _splits(self, company: Company) -> list[Row]:
        ticker = company.stock.ticker
        return [split_row(ticker, each.moment, each.ratio) for each in self._market.schedule.splits(ticker)]

    def _dividends(self, company: Company) -> list[Row]:
        """Returns all dividends until now; the server selects those of the request's days."""
        ticker, today = company.stock.ticker, new_york_date(self._clock.moment())
        return [dividend_row(ticker, each) for each in self._market.dividends(ticker, FIRST_DAY, today)]

    def _last(self, company: Company) -> int:
        return last_reported_quarter(company, self._now())

    def _now(self) -> datetime:
        return utc(self._clock.moment())
