"""Finnhub's REST paths: what each one requires, and who answers it.

Source: Finnhub documentation, "API reference".
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

from quotecast.simulation.vendors.finnhub.companies import Companies
from quotecast.simulation.vendors.finnhub.errors import (
    NO_ACCESS,
    NOT_FOUND,
    UNPROCESSABLE,
    NoAccess,
    WrongParameters,
)
from quotecast.simulation.vendors.finnhub.exchange import Exchange
from quotecast.simulation.vendors.finnhub.parameters import day_of, number_of, text_of
from quotecast.simulation.vendors.finnhub.rows import NO_QUOTE
from quotecast.simulation.vendors.http import Answer

#: Parameters that paths of a company require besides its symbol.
_NEEDED: Final[Mapping[str, Mapping[str, set[str]]]] = {
    "/stock/metric": {"metric": {"all"}},
    "/stock/earnings-quality-score": {"freq": {"annual", "quarterly"}},
}
PREMIUM: Final = frozenset(
    {
        "/stock/revenue-estimate",
        "/stock/eps-estimate",
        "/stock/earnings-quality-score",
        "/stock/candle",
        "/crypto/candle",
        "/stock/split",
        "/stock/dividend",
    }
)
#: Paths of a company, and their answers for an unknown symbol.
NOTHING: Final[Mapping[str, Any]] = {
    "/stock/metric": {"metric": {}, "metricType": "all", "series": {}},
    "/stock/earnings": [],
    "/stock/recommendation": [],
    "/stock/revenue-estimate": {"data": [], "freq": "quarterly"},
    "/stock/eps-estimate": {"data": [], "freq": "quarterly"},
    "/stock/earnings-quality-score": {"data": [], "freq": "quarterly"},
    "/stock/profile2": {},
    "/stock/peers": [],
    "/stock/filings": [],
    "/stock/split": [],
    "/stock/dividend": [],
    "/quote": NO_QUOTE,
}
#: Lists by date, and the field of that; those of the paid plan need both bounds.
_DATED: Final = {"/stock/filings": "filedDate", "/stock/split": "date", "/stock/dividend": "date"}
#: Reported quarters that the free plan shows.
_FREE_QUARTERS: Final = 4
#: Symbol of a stock abroad, such as `SAP.DE`: its exchange has two letters.
_ABROAD: Final = re.compile(r".+\.[A-Z]{2,}")

Query = Mapping[str, str]


class FinnhubRest:
    """Answers paths; without `premium` the plan is the free one."""

    def __init__(self, companies: Companies, exchange: Exchange, *, premium: bool) -> None:
        self.companies = companies
        self.premium = premium
        #: Most reports in a calendar, of which the latest remain, and the first day that it covers.
        self.most_events = 1500
        self.events_from = date.min
        self._paths: Mapping[str, Callable[[Query], Any]] = {
            "/calendar/earnings": self._calendar,
            "/stock/symbol": exchange.symbols,
            "/stock/candle": exchange.candles,
            "/crypto/candle": exchange.candles,
            "/crypto/symbol": exchange.pairs,
            "/crypto/exchange": lambda _: ["BINANCE"],
            "/stock/market-status": exchange.status,
            "/stock/market-holiday": exchange.holidays,
            "/company-news": exchange.company_news,
            "/news": exchange.news,
            "/search": exchange.search,
        }

    def answer(self, path: str, query: Query) -> Answer:
        """Returns the answer of a path without its prefix."""
        if path not in self._paths and path not in NOTHING:
            return NOT_FOUND
        try:
            if path in NOTHING:
                return Answer.of(self._company(path, query))
            if path in PREMIUM and not self.premium:
                return NO_ACCESS
            return Answer.of(self._paths[path](query))
        except WrongParameters:
            return UNPROCESSABLE
        except NoAccess:
            return NO_ACCESS

    def _company(self, path: str, query: Query) -> Any:
        # A company may be named by its ISIN, which an invented one lacks.
        if path == "/stock/profile2" and "symbol" not in query and {"isin", "cusip"} & query.keys():
            return NOTHING[path]
        symbol = text_of(query, "symbol")
        if any(query.get(name) not in good for name, good in _NEEDED.get(path, {}).items()):
            raise WrongParameters
        if _ABROAD.fullmatch(symbol) or (path in PREMIUM and not self.premium):
            raise NoAccess
        found = self.companies.answer(path, symbol)
        if found is None:
            nothing = NOTHING[path]
            return nothing | {"symbol": symbol} if {"freq", "metricType"} & {*nothing} else nothing
        if path == "/stock/earnings":
            most = len(found) if self.premium else _FREE_QUARTERS
            return found[: number_of(query, "limit", most)][:most]
        if path in _DATED:
            first, last = (
                (day_of(query, name).isoformat() for name in ("from", "to"))
                if path in PREMIUM
                else (query.get("from", ""), query.get("to") or "9")
            )
            return [row for row in found if first <= row[_DATED[path]][:10] <= last]
        return found

    def _calendar(self, query: Query) -> Any:
        first, last = day_of(query, "from"), day_of(query, "to")
        found = self.companies.events(max(first, self.events_from), last)
        if query.get("symbol"):
            found = [row for row in found if row["symbol"] == query["symbol"]]
        if len(found) > self.most_events:
            found = sorted(found, key=lambda row: str(row["date"]), reverse=True)[: self.most_events]
        return {"earningsCalendar": found}
