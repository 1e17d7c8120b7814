"""The rows of a local Alpaca: bars and snapshots made of trades, news, assets."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from itertools import groupby
from typing import Final

from fakes.http import Row
from quotecast.market.sessions import NEW_YORK

#: Minutes of the row lengths that are counted from midnight UTC.
MINUTES: Final = {"1Min": 1, "5Min": 5, "15Min": 15, "30Min": 30, "1Hour": 60, "4Hour": 240}
#: How many minutes lie between the trades of a walk, up to an age.
_APART: Final = [(timedelta(days=1), 1), (timedelta(days=31), 5), (timedelta.max, 30)]
TIMEFRAMES: Final = {*MINUTES, "1Day", "1Week", "1Month"}


@dataclass(frozen=True)
class Trade:
    """What bars are made of; trades off IEX are on the consolidated tape alone."""

    time: datetime
    price: float
    size: int = 100
    on_iex: bool = True


def row_of(time: datetime, prices: tuple[float, float, float, float], volume: int) -> Row:
    """A bar with these prices: open, high, low, close."""
    opened, high, low, close = prices
    return {
        "t": text(time), "o": whole(opened), "h": whole(high), "l": whole(low), "c": whole(close),
        "v": volume, "n": 3, "vw": close,
    }  # fmt: skip


def rows(trades: Sequence[Trade], timeframe: str) -> list[Row]:
    """The bars that ascending trades make: extended hours count in them too, as they do there."""
    grouped = groupby(trades, key=lambda trade: begun(trade.time, timeframe))
    return [_row(start, list(group)) for start, group in grouped]


@lru_cache(maxsize=100_000)
def begun(moment: datetime, timeframe: str) -> datetime:
    """When the row that holds a moment begins: days in New York, weeks on Monday, hours in UTC."""
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
    """What ascending trades come to; None without any."""
    if not trades:
        return None
    last, days = trades[-1], rows(trades[-5000:], "1Day")
    return {
        "latestTrade": {
            "t": text(last.time, digits=9), "x": "V", "p": whole(last.price), "s": last.size,
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
    """A trade a minute on the last day before `last`, fewer before that; never on weekends.

    Prices are a function of ticker and time, so they are the same however they are asked for.
    """
    for moment in _moments(first.replace(second=0, microsecond=0), last.replace(second=0, microsecond=0)):
        yield Trade(moment, price_at(ticker, moment), on_iex=moment.minute % 2 == 0)


def price_at(ticker: str, moment: datetime) -> float:
    """What a share costs: a function of ticker and time, whoever asks."""
    base = 50 + sum(map(ord, ticker)) % 400
    seconds = moment.timestamp()
    swing = 0.05 * math.sin(seconds / 86_400 / 11) + 0.01 * math.sin(seconds / 1300 + base)
    return round(base * (1 + swing), 2)


@lru_cache(maxsize=4)
def _moments(first: datetime, last: datetime) -> list[datetime]:
    """The same for every stock."""
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
    """RFC 3339 in UTC, with as many digits of a second."""
    fraction = f".{moment.microsecond:06}{'789':<03}"[: digits + 1] if digits else ""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z"


def whole(price: float) -> float:
    """Without its point where there is nothing behind it, as it is sent."""
    return int(price) if price == int(price) else price


def _row(start: datetime, trades: Sequence[Trade]) -> Row:
    prices = [trade.price for trade in trades]
    return row_of(
        start,
        (prices[0], max(prices), min(prices), prices[-1]),
        sum(trade.size for trade in trades),
    )
