"""Alpaca's REST APIs of market data and trading: keys, rates, and the answers of all paths."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final

from msgspec.structs import replace

from quotecast.market.calendars import VenueDay
from quotecast.market.sessions import NEW_YORK, trading_day
from quotecast.simulation.vendors.alpaca.errors import (
    FORBIDDEN,
    NOT_FOUND,
    RECENT_SIP,
    TOO_MANY,
    UNAVAILABLE,
    BadQuery,
    RecentTape,
)
from quotecast.simulation.vendors.alpaca.market_data import MarketData
from quotecast.simulation.vendors.alpaca.market_source import MarketSource
from quotecast.simulation.vendors.alpaca.query import check_symbol
from quotecast.simulation.vendors.alpaca.rows import text
from quotecast.simulation.vendors.alpaca.trading import Trading
from quotecast.simulation.vendors.http import Answer, HttpRequest, Row

_DAYS_AHEAD: Final = timedelta(days=14)
#: Dates of the calendar.
_FIRST: Final = date(1970, 1, 1)
_LAST: Final = date(2029, 12, 31)
_FILTERS: Final = {"status": "status", "asset_class": "class", "exchange": "exchange"}
#: Calls per minute of the free plan and of the paid one.
FREE_CALLS: Final = 200
PAID_CALLS: Final = 10_000
#: Headers of the keys.
KEY: Final = "APCA-API-KEY-ID"
SECRET: Final = "APCA-API-SECRET-KEY"  # noqa: S105 (a header's name)
_WINDOW_SECONDS: Final = 60
_OF_STOCK: Final = re.compile(
    r"/v2/stocks/([^/]+)/(snapshot|bars|trades|quotes|bars/latest|trades/latest|quotes/latest)"
)
_ASSET: Final = "/v2/assets/"
Route = Callable[[Mapping[str, str]], Answer]


class Broker:
    """Answers the trading API as far as it is market data, at one moment: assets, clock and calendar."""

    def __init__(self, source: MarketSource, now: datetime) -> None:
        self._source = source
        self._now = now

    def routes(self) -> dict[str, Route]:
        """Returns the answers by path."""
        return {"/v2/assets": self._assets, "/v2/clock": self._clock, "/v2/calendar": self._calendar}

    def asset(self, name: str) -> Answer:
        """Returns an asset by symbol or id."""
        for row in self._source.listed_assets():
            if name in {row["symbol"], row["id"]}:
                return Answer.of(row)
        return Answer.of({"code": 40410000, "message": f"asset not found for {name}"}, 404)

    def _assets(self, query: Mapping[str, str]) -> Answer:
        wanted = {field: query[name] for name, field in _FILTERS.items() if query.get(name)}
        # Alpaca lists stocks unless the request names another class.
        if "class" not in wanted:
            wanted["class"] = "us_equity"
        rows = self._source.listed_assets()
        return Answer.of([row for row in rows if all(row[field] == value for field, value in wanted.items())])

    def _clock(self, _query: Mapping[str, str]) -> Answer:
        now = self._now
        today = now.astimezone(NEW_YORK).date()
        days = self._source.sessions(today, today + _DAYS_AHEAD)
        return Answer.of(
            {
                "timestamp": text(now, digits=9).replace("Z", "+00:00"),
                "is_open": any(day.open <= now < day.close for day in days),
                "next_open": _local(next(day.open for day in days if day.open > now)),
                "next_close": _local(next(day.close for day in days if day.close > now)),
            }
        )

    def _calendar(self, query: Mapping[str, str]) -> Answer:
        first, last = (
            _date_of(query, name, default) for name, default in (("start", _FIRST), ("end", _LAST))
        )
        if last < first:
            raise BadQuery("end date should be after start date")
        return Answer.of([_day(each) for each in self._source.sessions(max(first, _FIRST), min(last, _LAST))])


def _day(session: VenueDay) -> Row:
    opened, closed = session.open.astimezone(NEW_YORK), session.close.astimezone(NEW_YORK)
    # A day that ends at midnight has no later time of its own date.
    close = f"{closed:%H:%M}" if closed.date() == session.date else "23:59"
    extended = trading_day(session.date)
    is_usual = extended is not None and extended.open == session.open
    hours = (extended.pre_open, extended.post_close) if extended and is_usual else (opened, closed)
    names = [f"{each.astimezone(NEW_YORK):%H%M}" for each in hours]
    return {
        "date": f"{session.date}",
        "open": f"{opened:%H:%M}",
        "close": close,
        "session_open": names[0],
        "session_close": names[1],
        "settlement_date": f"{session.date + timedelta(days=1)}",
    }


def _date_of(query: Mapping[str, str], name: str, default: date) -> date:
    try:
        return datetime.fromisoformat(query[name]).date() if name in query else default
    except ValueError as error:
        raise BadQuery(f"invalid {name}") from error


def _local(moment: datetime) -> str:
    return moment.astimezone(NEW_YORK).isoformat()


class AlpacaRest:
    """Answers the requests of clients whose key and secret `accepts` accepts.

    `clock` returns Unix time. `free` selects the plan without the last 15 minutes of the consolidated tape.
    `more` has paths of a whole market.
    """

    def __init__(
        self,
        source: MarketSource,
        clock: Callable[[], float],
        accepts: Callable[[str, str], bool],
        *,
        free: bool = False,
        trading: Trading | None = None,
        more: Mapping[str, Route] | None = None,
    ) -> None:
        self.source = source
        self.clock = clock
        self._trading = trading
        self._more = more or {}
        self._accepts = accepts
        self.free = free
        self.calls_per_minute = FREE_CALLS if free else PAID_CALLS
        #: Most rows in a page, whatever `limit` the client sends.
        self.rows_per_page = 10_000
        self._used: list[float] = []

    def answer(self, request: HttpRequest) -> Answer:
        """Returns the answer to a request, with the headers of its rate limit."""
        public = request.path.startswith("/v1beta3/crypto/")
        key, secret = (request.headers.get(name, "") for name in (KEY, SECRET))
        if not public and not (secret and self._accepts(key, secret)):
            return FORBIDDEN
        now = self.clock()
        self._used = [used for used in self._used if now - used < _WINDOW_SECONDS]
        over = len(self._used) >= self.calls_per_minute
        self._used.append(now)
        return self._with_limits(TOO_MANY if over else self._answer(request), self._used[0])

    def refuse(self, *, overloaded: bool) -> Answer:
        """Returns the refusal of a request: too many of them, or maintenance."""
        self._used = self._used[-self.calls_per_minute :]
        return self._with_limits(TOO_MANY, self.clock(), left=0) if overloaded else UNAVAILABLE

    def _with_limits(self, answer: Answer, since: float, left: int | None = None) -> Answer:
        if left is None:
            left = max(self.calls_per_minute - len(self._used), 0)
        limits = {
            "X-RateLimit-Limit": str(self.calls_per_minute),
            "X-RateLimit-Remaining": str(left),
            "X-RateLimit-Reset": str(int(since) + _WINDOW_SECONDS),
        }
        return replace(answer, headers=limits)

    def _answer(self, request: HttpRequest) -> Answer:
        key = request.headers.get(KEY)
        if key and self._trading and (traded := self._trading.answer(request, key)):
            return traded
        if request.method not in {"GET", "HEAD"}:
            return NOT_FOUND
        try:
            route = self._route_of(request.path)
            return route(request.query) if route else NOT_FOUND
        except RecentTape:
            return RECENT_SIP
        except BadQuery as error:
            return Answer.of({"message": str(error)}, 400)

    def _route_of(self, path: str) -> Route | None:
        now = datetime.fromtimestamp(self.clock(), UTC)
        data = MarketData(self.source, now, free=self.free, rows_per_page=self.rows_per_page)
        broker = Broker(self.source, now)
        fixed = {**broker.routes(), **data.routes(), **self._more}
        if path in fixed:
            return fixed[path]
        if path.startswith(_ASSET):
            return lambda _: broker.asset(path.removeprefix(_ASSET))
        if found := _OF_STOCK.fullmatch(path):
            symbol = check_symbol(found[1])
            return lambda query: data.of_stock(symbol, found[2], query)
        return None
