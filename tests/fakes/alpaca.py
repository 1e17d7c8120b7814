"""A simulated Alpaca with the trades, splits and stories of a test: its REST APIs on one local port."""

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

from fakes import alpaca_rows as made
from fakes.alpaca_rows import Split, Trade
from fakes.http import Answer, FakeHttp, HttpRequest, Row
from quotecast.market.calendars import VenueDay
from quotecast.market.sessions import NEW_YORK, TradingDay
from quotecast.simulation.vendors.alpaca.errors import TOO_MANY
from quotecast.simulation.vendors.alpaca.market_source import MarketSource
from quotecast.simulation.vendors.alpaca.query import Span
from quotecast.simulation.vendors.alpaca.rest import AlpacaRest
from quotecast.simulation.vendors.alpaca.timeframes import Timeframe
from quotecast.simulation.vendors.clock import MarketClock
from quotecast.simulation.vendors.market import Market
from support.made.alpaca import trading_days_between

__all__ = ["BAD_GATEWAY", "TOO_MANY", "FakeAlpaca", "Split"]

BAD_GATEWAY: Final = Answer(b"<html>502 Bad Gateway</html>", 502, "text/html")
_SNAPSHOT_DAYS: Final = timedelta(days=5)
_MARKET: Final = Market(0)


class FakeAlpaca(AlpacaRest, FakeHttp):
    """A fake Alpaca, which serves inside `async with`; tests may change every attribute while it serves.

    Bars and snapshots are computed from `trades`, in ascending order; a stock without trades has none.
    Trades are raw. Bars with `adjustment` apply the `splits` since then, snapshots never do.
    """

    def __init__(self, port: int = 0) -> None:
        FakeHttp.__init__(self, port)
        AlpacaRest.__init__(
            self, GivenRows(self), time.time, lambda key, secret: (key, secret) == self.keys, free=True
        )
        self.keys = ("key", "secret")
        self.trades: Mapping[str, Sequence[Trade]] = {}
        self.splits: Mapping[str, Sequence[Split]] = {}
        self.stories: Sequence[Row] = ()
        self.assets: Sequence[Row] = ()
        #: Unforeseen changes of the calendar: days without a session, and days with other hours.
        self.closed_days: set[date] = set()
        self.special_days: list[TradingDay] = []
        #: Whether trading is halted for the rest of the day.
        self.halted = False

    def respond(self, request: HttpRequest) -> Answer:
        answer = self.answer(request)
        return Answer(answer.body, answer.status, answer.content_type, answer.headers)


class GivenRows(MarketSource):
    """The rows of a fake, as a source of Alpaca's data."""

    def __init__(self, fake: FakeAlpaca) -> None:
        super().__init__(_MARKET, MarketClock())
        self._fake = fake

    @property
    def _moment(self) -> datetime:
        return datetime.fromtimestamp(self._fake.clock(), UTC)

    def is_listed(self, symbol: str) -> bool:
        del symbol
        return True

    def bars(
        self, symbol: str, timeframe: Timeframe, span: Span, feed: str, *, adjusted: bool
    ) -> Iterator[Row]:
        trades = self._trades(symbol, feed, timeframe.start_of(span.start, NEW_YORK), self._moment)
        if adjusted:
            trades = made.adjust(trades, self._fake.splits.get(symbol, ()), self._moment)
        rows = [row for row in made.bars(trades, timeframe) if span.start <= row["t"] <= span.end]
        return reversed(rows) if span.descending else iter(rows)

    def dividend_factor(self, symbol: str, day: date) -> float:
        del symbol, day
        return 1.0

    def trades(self, symbol: str, span: Span, feed: str) -> Iterator[Row]:
        rows = [made.trade_row(trade) for trade in self._trades(symbol, feed, span.start, span.end)]
        return reversed(rows) if span.descending else iter(rows)

    def quotes(self, symbol: str, span: Span, feed: str) -> Iterator[Row]:
        raise NotImplementedError

    def snapshot(self, symbol: str, feed: str) -> Row | None:
        return made.snapshot(self._trades(symbol, feed, self._moment - _SNAPSHOT_DAYS, self._moment))

    def book(self, symbol: str) -> Row:
        raise NotImplementedError

    def stories(self) -> Sequence[Row]:
        return self._fake.stories

    def listed_assets(self) -> Sequence[Row]:
        return self._fake.assets

    def sessions(self, first: date, last: date) -> list[VenueDay]:
        fake = self._fake
        special = {day.date for day in fake.special_days} | fake.closed_days
        if fake.halted:
            special.add(self._moment.astimezone(NEW_YORK).date())
        scheduled = [day for day in trading_days_between(first, last) if day.date not in special]
        own = [day for day in fake.special_days if first <= day.date <= last]
        days = sorted([*scheduled, *own], key=lambda day: day.date)
        return [VenueDay(day.date, day.pre_open, day.open, day.close) for day in days]

    def _trades(self, symbol: str, feed: str, first: datetime, last: datetime) -> list[Trade]:
        trades = self._fake.trades.get(symbol, ())
        return [each for each in trades if first <= each.time <= last and (feed == "sip" or each.on_iex)]
