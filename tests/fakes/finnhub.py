"""A fake Finnhub: REST of company data.

By hand: `PYTHONPATH=tests python -m fakes.finnhub --port 8700`.
"""

import argparse
import asyncio
import contextlib
import math
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from fakes.http import Answer, FakeHttp, HttpRequest, Row
from quotecast.providers.reference import stocks

#: Path prefix of the API.
VERSION: Final = "/api/v1"

NO_KEY: Final = Answer.of({"error": "Please use an API key."}, 401)
WRONG_KEY: Final = Answer.of({"error": "Invalid API key."}, 401)
NO_ACCESS: Final = Answer.of({"error": "You don't have access to this resource."}, 403)
TOO_MANY: Final = Answer.of({"error": "API limit reached. Please try again later. Remaining Limit: 0"}, 429)
UNPROCESSABLE: Final = Answer.of({"error": "Missing parameters"}, 422)
NOT_FOUND: Final = Answer(b"404 page not found", 404, "text/plain")

#: Parameters that each path requires, besides key and symbol.
NEEDED: Final[Mapping[str, Mapping[str, set[str]]]] = {
    "/stock/metric": {"metric": {"all"}},
    "/stock/earnings": {},
    "/stock/recommendation": {},
    "/stock/revenue-estimate": {},
    "/stock/eps-estimate": {},
    "/stock/earnings-quality-score": {"freq": {"annual", "quarterly"}},
    "/stock/profile2": {},
    "/quote": {},
}
PREMIUM: Final = {"/stock/revenue-estimate", "/stock/eps-estimate", "/stock/earnings-quality-score"}
#: Answers for an unknown symbol.
NOTHING: Final[Mapping[str, Any]] = {
    "/stock/metric": {"metric": {}, "metricType": "all", "series": {}},
    "/stock/earnings": [],
    "/stock/recommendation": [],
    "/stock/revenue-estimate": {"data": [], "freq": "quarterly"},
    "/stock/eps-estimate": {"data": [], "freq": "quarterly"},
    "/stock/earnings-quality-score": {"data": [], "freq": "quarterly"},
    "/stock/profile2": {},
    "/quote": {"c": 0, "d": None, "dp": None, "h": 0, "l": 0, "o": 0, "pc": 0, "t": 0},
}
#: Symbol of a stock abroad, such as `SAP.DE`: its exchange has two letters.
_ABROAD: Final = re.compile(r".+\.[A-Z]{2,}")


class FakeFinnhub(FakeHttp):
    """A fake Finnhub, which serves inside `async with`; tests may change every attribute while it serves.

    `companies` has the answer of each path by symbol; other paths and symbols get the answer for an
    unknown symbol. Without `premium` the plan is the free one.
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.key = "key"
        self.premium = True
        self.clock: Callable[[], float] = time.time
        self.companies: dict[str, dict[str, Any]] = {}
        self.company_of: Callable[[str], Mapping[str, Any]] = lambda symbol: self.companies.get(symbol, {})
        self.events: Sequence[Row] = ()
        #: Most reports in a calendar, of which the latest remain, and the first day that it covers.
        self.most_events = 1500
        self.events_from = date.min
        self.calls_per_minute = 60
        self.calls_per_second = 30
        self._used: list[float] = []

    @property
    def base(self) -> str:
        return self.url + VERSION

    def fail(self, answer: Answer, *paths: str) -> None:
        """Returns this answer from those paths from now on."""
        self.answers |= {VERSION + path: answer for path in paths}

    def respond(self, request: HttpRequest) -> Answer:
        given = request.headers.get("X-Finnhub-Token") or request.query.get("token")
        if given != self.key:
            return WRONG_KEY if given else NO_KEY
        now = self.clock()
        self._used = [used for used in self._used if now - used < 60]
        in_a_second = sum(now - used < 1 for used in self._used)
        over = len(self._used) >= self.calls_per_minute or in_a_second >= self.calls_per_second
        if not over:
            self._used.append(now)
        answer = TOO_MANY if over else self._answer(request.path.removeprefix(VERSION), request.query)
        limits = {
            "X-Ratelimit-Limit": str(self.calls_per_minute),
            "X-Ratelimit-Remaining": str(self.calls_per_minute - len(self._used)),
            "X-Ratelimit-Reset": str(int(self._used[0]) + 60),
        }
        return Answer(answer.body, answer.status, answer.content_type, limits)

    def _answer(self, path: str, query: Mapping[str, str]) -> Answer:
        if path == "/calendar/earnings":
            return self._calendar(query)
        if path not in NEEDED:
            return NOT_FOUND
        symbol = query.get("symbol", "")
        if not symbol or any(query.get(name) not in good for name, good in NEEDED[path].items()):
            return UNPROCESSABLE
        if _ABROAD.fullmatch(symbol) or (path in PREMIUM and not self.premium):
            return NO_ACCESS
        nothing = NOTHING[path]
        named = nothing | {"symbol": symbol} if {"freq", "metricType"} & {*nothing} else nothing
        return Answer.of(self.company_of(symbol).get(path, named))

    def _calendar(self, query: Mapping[str, str]) -> Answer:
        try:
            first, last = date.fromisoformat(query["from"]), date.fromisoformat(query["to"])
        except (KeyError, ValueError):
            return UNPROCESSABLE
        begin = max(first, self.events_from)
        found = [row for row in self.events if begin <= date.fromisoformat(row["date"]) <= last]
        if len(found) > self.most_events:
            found = sorted(found, key=lambda row: str(row["date"]), reverse=True)[: self.most_events]
        return Answer.of({"earningsCalendar": found})


def company(symbol: str, now: float = 0.0) -> dict[str, Any]:
    """Returns the answer of each path for a fictional company; its price moves about 1 % in an hour."""
    size = 1 + zlib.crc32(symbol.encode()) % 400
    price = round(size * (1 + math.sin(now / 600 + size) / 100), 2)
    day = datetime.fromtimestamp(now, UTC).date()
    quarters = [*_quarter_ends(day, 4)]
    return {
        "/stock/metric": {
            "symbol": symbol,
            "metricType": "all",
            "metric": {
                "10DayAverageTradingVolume": 48.1,
                "52WeekHigh": round(size * 1.1, 2),
                "52WeekHighDate": (day - timedelta(days=23)).isoformat(),
                "52WeekLow": str(round(size * 0.7, 2)),
                "beta": 1.2,
                "dividendYieldIndicatedAnnual": None,
                "longTermDebt/equityAnnual": 1.1,
                "marketCapitalization": round(price * 15_000, 1),
                "peTTM": round(price / size * 33.1, 2),
            },
            "series": {
                "annual": {"eps": [{"period": quarters[0].isoformat(), "v": 6.9}]},
                "quarterly": {"eps": [{"period": each.isoformat(), "v": 1.6} for each in quarters]},
            },
        },
        "/stock/earnings": [_earnings(symbol, each) for each in quarters],
        "/stock/recommendation": [_recommendation(symbol, day.replace(day=1))],
        "/stock/revenue-estimate": _estimates(
            symbol, day, {"revenueAvg": 117_840_000_000, "revenueHigh": 121.5e9, "revenueLow": 110.2e9}
        ),
        "/stock/eps-estimate": _estimates(symbol, day, {"epsAvg": 2.11, "epsHigh": 2.4, "epsLow": 1.9}),
        "/stock/earnings-quality-score": {
            "symbol": symbol,
            "freq": "quarterly",
            "data": [_quality(each) for each in quarters],
        },
        "/stock/profile2": profile(symbol),
        "/quote": {
            "c": price,
            "d": 2.3,
            "dp": 1.0,
            "h": 232,
            "l": 228.5,
            "o": 229,
            "pc": 229.1,
            "t": int(now),
        },
    }


def profile(symbol: str, currency: str = "USD") -> Row:
    """Returns the profile of a company; `symbol` is that of its home listing."""
    return {
        "country": currency[:2],
        "currency": currency,
        "estimateCurrency": currency,
        "exchange": "NASDAQ NMS - GLOBAL MARKET",
        "finnhubIndustry": "Technology",
        "ipo": "1980-12-12",
        "marketCapitalization": 3_287_742.6,
        "name": f"{symbol} Inc",
        "shareOutstanding": 15_037.87,
        "ticker": symbol,
    }


def company_abroad(home: str, currency: str) -> dict[str, Any]:
    """Returns a company like `company` with the home listing's symbol in every row, and no currency."""
    return company(home) | {"/stock/profile2": profile(home, currency)}


def event(symbol: str, day: date, hour: str = "amc") -> Row:
    """Returns a row of the earnings calendar: an expected report."""
    return {
        "symbol": symbol,
        "date": day.isoformat(),
        "hour": hour,
        "year": day.year,
        "quarter": (day.month - 1) // 3 or 4,
        "epsEstimate": 1.45,
        "epsActual": None,
        "revenueEstimate": 102_000_000_000,
        "revenueActual": None,
    }


def _quote(price: float, close: float, now: float) -> Row:
    """Returns a quote; `close` is the previous session's."""
    change = round(price - close, 2)
    extremes = {"h": max(price, close), "l": min(price, close), "o": close, "pc": close}
    return {"c": price, "d": change, "dp": round(100 * change / close, 4), **extremes, "t": int(now)}


def _earnings(symbol: str, period: date) -> Row:
    return {
        "symbol": symbol,
        "period": period.isoformat(),
        "quarter": period.month // 3,
        "year": period.year,
        "actual": 1.5,
        "estimate": 1.45,
        "surprise": 0.05,
        "surprisePercent": 3.45,
    }


def _recommendation(symbol: str, period: date) -> Row:
    counts = {"strongBuy": 10, "buy": 20, "hold": 9, "sell": 2, "strongSell": 0}
    return {"symbol": symbol, "period": period.isoformat(), **counts}


def _estimates(symbol: str, day: date, values: Row) -> Row:
    """Returns estimates of the coming four quarters, the furthest first."""
    periods = _quarter_ends(day + timedelta(days=366), 4)
    data = [
        {
            "period": each.isoformat(),
            "quarter": each.month // 3,
            "year": each.year,
            "numberAnalysts": 28,
            **values,
        }
        for each in periods
    ]
    return {"symbol": symbol, "freq": "quarterly", "data": data}


def _quality(period: date) -> Row:
    return {
        "period": period.isoformat(),
        "growth": 50.5,
        "profitability": 72.2,
        "capitalAllocation": 84,
        "leverage": 89.9,
        "score": 74.15,
        "letterScore": "A-",
    }


def _quarter_ends(day: date, count: int) -> Iterable[date]:
    """Returns the last days of past quarters, newest first."""
    for _ in range(count):
        day = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1) - timedelta(days=1)
        yield day


def _fill(fake: FakeFinnhub) -> None:
    """Fills a fake with the stocks of the reference table, each of which reports within a quarter."""
    tickers = [stock.ticker for stock in stocks()]
    fake.company_of = lambda symbol: company(symbol, fake.clock()) if symbol in tickers else {}
    today = datetime.fromtimestamp(fake.clock(), UTC).date()
    fake.events = [
        event(ticker, today + timedelta(days=number % 90), ("bmo", "amc", "dmh", "")[number % 4])
        for number, ticker in enumerate(tickers)
    ]


async def _serve(key: str, port: int, *, premium: bool) -> None:
    async with FakeFinnhub(port) as fake:
        fake.key, fake.premium = key, premium
        _fill(fake)
        sys.stdout.write(f"{fake.base}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="Serves an invented Finnhub (REST) on a local port.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default="key")
    parser.add_argument("--premium", action="store_true", help="with estimates and quality scores")
    arguments = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(arguments.key, arguments.port, premium=arguments.premium))


if __name__ == "__main__":
    main()
