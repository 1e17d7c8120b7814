"""A fake Alpaca with a stock split on its next trading day."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from fakes.alpaca import FakeAlpaca
from fakes.alpaca_rows import Split, Trade
from quotecast.market.sessions import NEW_YORK, TradingDay, trading_days_from, trading_days_until

#: Trading days before the split.
DAYS_BEFORE: Final = 3


@dataclass(frozen=True)
class SplitMorning:
    """Raw prices of the stock at the fake, and the values that a quote must have."""

    ticker: str
    #: New shares for an old one.
    ratio: float
    #: The last price before the split, and the first one after it.
    close: float
    first_price: float
    day: TradingDay

    @property
    def first_trade(self) -> datetime:
        """Returns the time of the first trade, before the opening."""
        return self.day.pre_open + timedelta(seconds=5)

    @property
    def previous_close(self) -> float:
        return round(self.close / self.ratio, 4)

    @property
    def change_percent(self) -> float:
        return (self.first_price / self.previous_close - 1) * 100


def split_morning(
    fake: FakeAlpaca,
    now: datetime,
    *,
    ticker: str = "AAPL",
    ratio: float = 4.0,
    close: float = 499.23,
    first_price: float = 127.58,
    known_from: datetime | None = None,
) -> SplitMorning:
    """Splits a stock on the first trading day that begins after `now`, an aware moment.

    The stock trades on the days before, five seconds into the hours before that day's opening, and at the
    opening; the fake shows a price once its clock has reached it. Adjusted bars include the split from
    midnight of that day on, or from `known_from`; snapshots never do.
    """
    day = next(day for day in trading_days_from(now.astimezone(NEW_YORK).date()) if day.pre_open > now)
    before = islice(trading_days_until(day.date - timedelta(days=1)), DAYS_BEFORE)
    old = [
        Trade(moment, close, 100)
        for each in sorted(before, key=lambda each: each.date)
        for moment in (each.open, each.close - timedelta(seconds=1))
    ]
    morning = SplitMorning(ticker, ratio, close, first_price, day)
    new = [Trade(moment, first_price, 400) for moment in (morning.first_trade, day.open)]
    fake.trades = {**fake.trades, ticker: [*old, *new]}
    fake.splits = {**fake.splits, ticker: [Split(day.date, ratio, known_from)]}
    return morning
