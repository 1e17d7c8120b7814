"""A fake Finnhub: REST of company data.

By hand: `PYTHONPATH=tests python -m fakes.finnhub --port 8700`.
"""

import argparse
import asyncio
import contextlib
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from fakes.finnhub_rows import company, event
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
