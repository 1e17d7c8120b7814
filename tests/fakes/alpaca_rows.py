"""Rows of the fake Alpaca: bars and snapshots computed from trades, news, assets, trading days."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from itertools import groupby
from typing import Final

from fakes.http import Row
from quotecast.market.sessions import NEW_YORK

#: Minutes of the bar lengths that are aligned to midnight UTC.
MINUTES: Final = {"1Min": 1, "5Min": 5, "15Min": 15, "30Min": 30, "1Hour": 60, "4Hour": 240}
#: Minutes between the trades of a walk, up to an age.
_APART: Final = [(timedelta(days=1), 1), (timedelta(days=31), 5), (timedelta.max, 30)]
TIMEFRAMES: Final = {*MINUTES, "1Day", "1Week", "1Month"}


@dataclass(frozen=True)
class Trade:
    """A trade; those outside of IEX are on the consolidated tape only."""

    time: datetime
    price: float
    size: int = 100
    on_iex: bool = True


def row_of(time: datetime, prices: tuple[float, float, float, float], volume: int) -> Row:
    """Returns a bar with these prices: open, high, low, close."""
    opened, high, low, close = prices
    return {
        "t": text(time), "o": without_point(opened), "h": without_point(high), "l": without_point(low),
        "c": without_point(close),
        "v": volume, "n": 3, "vw": close,
    }  # fmt: skip


def rows(trades: Sequence[Trade], timeframe: str) -> list[Row]:
    """Returns the bars of ascending trades; as at Alpaca, daily bars include extended hours."""
    grouped = groupby(trades, key=lambda trade: row_start(trade.time, timeframe))
    return [_row(start, list(group)) for start, group in grouped]


@lru_cache(maxsize=100_000)
def row_start(moment: datetime, timeframe: str) -> datetime:
    """Returns when the bar of a moment begins: days in New York, weeks on Monday, hours in UTC."""
    if timeframe in MINUTES:
        midnight = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return moment - (moment - midnight) % timedelta(minutes=MINUTES[timeframe])
    day = moment.astimezone(NEW_YORK).date()
    if timeframe == "1Week":
        day -= timedelta(days=day.weekday())
    if timeframe == "1Month":
        day = day.replace(day=1)
    return datetime.combine(day, time(), NEW_YORK).astimezone(UTC)


def snapshot(trades: Sequence[Trade]) -> Row | None:
    """Returns the snapshot of ascending trades, or None without trades."""
    if not trades:
        return None
    last, days = trades[-1], rows(trades[-5000:], "1Day")
    return {
        "latestTrade": {
            "t": text(last.time, digits=9), "x": "V", "p": without_point(last.price), "s": last.size,
            "c": ["@"], "i": 7, "z": "C",
        },
        "latestQuote": {
            "t": text(last.time), "ax": "V", "ap": round(last.price + 0.05, 4), "as": 100,
            "bx": "V", "bp": round(last.price - 0.05, 4), "bs": 300, "c": ["R"], "z": "C",
        },
        "minuteBar": rows(trades[-60:], "1Min")[-1],
        "dailyBar": days[-1],
        "prevDailyBar": days[-2] if len(days) > 1 else None,
    }  # fmt: skip


def asset(ticker: str, name: str = "Example Inc. Common Stock", **changes: object) -> Row:
    return {
        "id": "00000000-0000-4000-8000-000000000001", "class": "us_equity", "exchange": "NASDAQ",
        "symbol": ticker, "name": name, "status": "active", "tradable": True, "marginable": True,
        "shortable": True, "fractionable": True, "attributes": ["has_options"], "cusip": None,
        "maintenance_margin_requirement": 30, "margin_requirement_long": "30", **changes,
    }  # fmt: skip


def story(number: int = 40_000_001, **changes: object) -> Row:
    return {
        "id": number, "headline": "Example &amp; headline", "author": "A. Writer",
        "created_at": "2026-11-19T14:00:01Z", "updated_at": "2026-11-19T14:00:02Z",
        "summary": "", "content": "", "url": f"https://www.example.com/{number}",
        "images": [{"size": "thumb", "url": "https://img.example.com/t.jpg"}],
        "symbols": ["AAPL", "BTCUSD"], "source": "benzinga", **changes,
    }  # fmt: skip


def walk(ticker: str, first: datetime, last: datetime) -> Iterator[Trade]:
    """Returns a trade a minute on the last day before `last`, fewer before that; none on weekends.

    Prices are a function of ticker and time, so every query returns the same ones.
    """
    for moment in _moments(first.replace(second=0, microsecond=0), last.replace(second=0, microsecond=0)):
        yield Trade(moment, price_at(ticker, moment), on_iex=moment.minute % 2 == 0)


def price_at(ticker: str, moment: datetime) -> float:
    """Returns the price of a share: a function of ticker and time."""
    base = 50 + sum(map(ord, ticker)) % 400
    seconds = moment.timestamp()
    swing = 0.05 * math.sin(seconds / 86_400 / 11) + 0.01 * math.sin(seconds / 1300 + base)
    return round(base * (1 + swing), 2)


@lru_cache(maxsize=4)
def _moments(first: datetime, last: datetime) -> list[datetime]:
    """Returns the times of a walk's trades, the same for every stock."""
    moments = []
    moment = first
    while moment <= last:
        apart = next(minutes for age, minutes in _APART if last - moment < age)
        local = moment.astimezone(NEW_YORK)
        if local.weekday() < 5 and 4 <= local.hour < 20:
            moments.append(moment)
        moment += timedelta(minutes=apart - moment.minute % apart)
    return moments


def text(moment: datetime, digits: int = 0) -> str:
    """Returns RFC 3339 in UTC, with that many digits of a second."""
    fraction = f".{moment.microsecond:06}{'789':<03}"[: digits + 1] if digits else ""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z"


def without_point(price: float) -> float:
    """Returns a whole number without its decimal point, as Alpaca sends it."""
    return int(price) if price == int(price) else price


def _row(start: datetime, trades: Sequence[Trade]) -> Row:
    prices = [trade.price for trade in trades]
    return row_of(
        start,
        (prices[0], max(prices), min(prices), prices[-1]),
        sum(trade.size for trade in trades),
    )
