"""A fake Alpaca: the REST APIs of market data and trading on one local port.

By hand: `PYTHONPATH=tests python -m fakes.alpaca --port 8700`.
"""

import argparse
import asyncio
import contextlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final

from fakes import alpaca_rows as made
from fakes.alpaca_query import BadQuery, feed_of, limit_of, moment_of, offset_of, page_token, tickers_of
from fakes.alpaca_rows import Trade
from fakes.http import Answer, FakeHttp, HttpRequest, Row
from quotecast.market.sessions import NEW_YORK, TradingDay, trading_days_between
from quotecast.providers.reference import stocks

FORBIDDEN: Final = Answer.of({"message": "forbidden."}, 403)
RECENT_SIP: Final = Answer.of({"message": "subscription does not permit querying recent SIP data"}, 403)
TOO_MANY: Final = Answer.of({"message": "too many requests."}, 429)
BAD_GATEWAY: Final = Answer(b"<html>502 Bad Gateway</html>", 502, "text/html")
NOT_FOUND: Final = Answer.of({"code": 40410000, "message": "not found"}, 404)

#: Minimum age of data from the consolidated tape under the free plan.
FREE_DELAY: Final = timedelta(minutes=15)


@dataclass(frozen=True)
class Split:
    """A stock split: new shares for each old one from a day on; below one in a reverse split.

    Adjusted bars include it from midnight of that day on, or from `known_from`.
    """

    day: date
    ratio: float
    known_from: datetime | None = None

    @property
    def midnight(self) -> datetime:
        return datetime.combine(self.day, datetime.min.time(), NEW_YORK)


class FakeAlpaca(FakeHttp):
    """A fake Alpaca, which serves inside `async with`; tests may change every attribute while it serves.

    Bars and snapshots are computed from `trades`, in ascending order; a stock without trades has none.
    Trades are raw. Bars with `adjustment` apply the `splits` since then, snapshots never do.
    `free` selects the plan without the last 15 minutes of the consolidated tape.
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.keys = ("key", "secret")
        self.free = True
        self.clock: Callable[[], float] = time.time
        self.trades_of: Callable[[str, datetime, datetime], Sequence[Trade]] = self._trades_of
        self.trades: Mapping[str, Sequence[Trade]] = {}
        self.splits: Mapping[str, Sequence[Split]] = {}
        self.stories: Sequence[Row] = ()
        self.assets: Sequence[Row] = ()
        #: Unforeseen changes of the calendar: days without a session, and days with other hours.
        self.closed_days: set[date] = set()
        self.special_days: list[TradingDay] = []
        #: Whether trading is halted for the rest of the day.
        self.halted = False
        #: Most rows in a page, whatever `limit` the client sends.
        self.rows_per_page = 10_000
        self.calls_per_minute = 200
        self._used: list[float] = []

    def respond(self, request: HttpRequest) -> Answer:
        given = request.headers.get("APCA-API-KEY-ID"), request.headers.get("APCA-API-SECRET-KEY")
        if given != self.keys:
            return FORBIDDEN
        now = self.clock()
        self._used = [used for used in self._used if now - used < 60]
        over = len(self._used) >= self.calls_per_minute
        self._used.append(now)
        answer = TOO_MANY if over else self._answer(request)
        left = max(self.calls_per_minute - len(self._used), 0)
        limits = {
            "X-RateLimit-Limit": str(self.calls_per_minute),
            "X-RateLimit-Remaining": str(left),
            "X-RateLimit-Reset": str(int(self._used[0]) + 60),
        }
        return Answer(answer.body, answer.status, answer.content_type, limits)

    def _answer(self, request: HttpRequest) -> Answer:
        paths: dict[str, Callable[[Mapping[str, str]], Answer]] = {
            "/v2/stocks/snapshots": self._snapshots,
            "/v2/stocks/bars": self._bars,
            "/v1beta1/news": self._news,
            "/v2/assets": self._assets,
            "/v2/clock": self._clock,
        }
        try:
            return paths[request.path](request.query) if request.path in paths else NOT_FOUND
        except BadQuery as error:
            return Answer.of({"message": str(error)}, 400)

    def _snapshots(self, query: Mapping[str, str]) -> Answer:
        feed, now = feed_of(query, "iex" if self.free else "sip"), self._now()
        return Answer.of(
            {
                ticker: made.snapshot(self._visible_trades(ticker, feed, now - timedelta(days=5), now))
                for ticker in tickers_of(query)
            }
        )

    def _bars(self, query: Mapping[str, str]) -> Answer:
        tickers, feed, timeframe = tickers_of(query), feed_of(query, "sip"), query.get("timeframe", "")
        if timeframe not in made.TIMEFRAMES:
            raise BadQuery(f"invalid timeframe: {timeframe}")
        adjustment = query.get("adjustment", "raw")
        if adjustment not in {"raw", "split", "dividend", "all"}:
            raise BadQuery("invalid adjustment")
        now = self._now()
        start, end = moment_of(query, "start", now.replace(hour=0)), moment_of(query, "end", now)
        if self.free and feed == "sip" and end > now - FREE_DELAY:
            return RECENT_SIP
        found = [
            (ticker, row)
            for ticker in sorted(tickers)
            for row in self._rows(
                ticker, feed, timeframe, (start, end), adjusted=adjustment in {"split", "all"}
            )
        ]
        return self._page(found, query)

    def _rows(
        self, ticker: str, feed: str, timeframe: str, limits: tuple[datetime, datetime], *, adjusted: bool
    ) -> list[Row]:
        """Returns the trades between the query's start and end, both included."""
        trades = self._visible_trades(ticker, feed, made.row_start(limits[0], timeframe), self._now())
        if adjusted:
            trades = self._adjust(ticker, trades)
        first, last = map(made.text, limits)
        return [row for row in made.rows(trades, timeframe) if first <= row["t"] <= last]

    def _adjust(self, ticker: str, trades: list[Trade]) -> list[Trade]:
        """Returns the trades converted to today's shares."""
        for split in self.splits.get(ticker, ()):
            if self._now() >= (split.known_from or split.midnight):
                trades = [_split(trade, split) if trade.time < split.midnight else trade for trade in trades]
        return trades

    def _page(self, found: Sequence[tuple[str, Row]], query: Mapping[str, str]) -> Answer:
        """Returns a page, ordered by symbol, then time: the first page may hold the first symbol alone."""
        size = min(limit_of(query, 1000, 10_000), self.rows_per_page)
        first = offset_of(query)
        bars: dict[str, list[Row]] = {}
        for ticker, row in found[first : first + size]:
            bars.setdefault(ticker, []).append(row)
        more = first + size < len(found)
        return Answer.of({"bars": bars, "next_page_token": page_token(first + size) if more else None})

    def _news(self, query: Mapping[str, str]) -> Answer:
        size, first = limit_of(query, 10, 50), offset_of(query)
        newest = sorted(self.stories, key=lambda row: str(row["updated_at"]), reverse=True)
        more = first + size < len(newest)
        return Answer.of(
            {
                "news": newest[first : first + size],
                "next_page_token": page_token(first + size) if more else None,
            }
        )

    def _assets(self, query: Mapping[str, str]) -> Answer:
        wanted = {"status": query.get("status"), "class": query.get("asset_class")}
        return Answer.of(
            [row for row in self.assets if all(value in {None, row[name]} for name, value in wanted.items())]
        )

    def _clock(self, _query: Mapping[str, str]) -> Answer:
        now = self._now()
        today = now.astimezone(NEW_YORK).date()
        days = self._days(today, today + timedelta(days=14))
        if self.halted:
            days = [day for day in days if day.date != today]
        return Answer.of(
            {
                "timestamp": made.text(now, digits=9).replace("Z", "+00:00"),
                "is_open": any(day.open <= now < day.close for day in days),
                "next_open": _local(next(day.open for day in days if day.open > now)),
                "next_close": _local(next(day.close for day in days if day.close > now)),
            }
        )

    def _days(self, first: date, last: date) -> list[TradingDay]:
        special = {day.date for day in self.special_days} | self.closed_days
        scheduled = [day for day in trading_days_between(first, last) if day.date not in special]
        own = [day for day in self.special_days if first <= day.date <= last]
        return sorted([*scheduled, *own], key=lambda day: day.date)

    def _visible_trades(self, ticker: str, feed: str, first: datetime, last: datetime) -> list[Trade]:
        return [trade for trade in self.trades_of(ticker, first, last) if feed == "sip" or trade.on_iex]

    def _trades_of(self, ticker: str, first: datetime, last: datetime) -> Sequence[Trade]:
        return [trade for trade in self.trades.get(ticker, ()) if first <= trade.time <= last]

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock(), UTC)


def _split(trade: Trade, split: Split) -> Trade:
    return replace(trade, price=round(trade.price / split.ratio, 4), size=round(trade.size * split.ratio))


def _local(moment: datetime) -> str:
    return moment.astimezone(NEW_YORK).isoformat()


def _fill(fake: FakeAlpaca) -> None:
    """Fills a fake with the stocks of the reference table, random-walk prices, and a news story a minute."""
    tickers = {stock.ticker for stock in stocks()}
    fake.trades_of = lambda ticker, first, last: (
        [*made.walk(ticker, first, last)] if ticker in tickers else []
    )
    fake.assets = [made.asset(stock.ticker, stock.name, exchange=stock.exchange) for stock in stocks()]
    minute = int(fake.clock()) // 60
    fake.stories = [
        made.story(number, created_at=stamp, updated_at=stamp)
        for number in range(minute - 100, minute)
        for stamp in [made.text(datetime.fromtimestamp(number * 60, UTC))]
    ]


async def _serve(keys: tuple[str, str], port: int, *, free: bool) -> None:
    async with FakeAlpaca(port) as fake:
        fake.keys, fake.free = keys, free
        _fill(fake)
        sys.stdout.write(f"{fake.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="Serves an invented Alpaca (REST) on a local port.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default="key")
    parser.add_argument("--secret", default="secret")
    parser.add_argument("--paid", action="store_true", help="with the whole consolidated tape")
    arguments = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        keys = arguments.key, arguments.secret
        asyncio.run(_serve(keys, arguments.port, free=not arguments.paid))


if __name__ == "__main__":
    main()
