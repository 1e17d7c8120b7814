"""Trades that a test gives, and the rows that Alpaca makes of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import groupby

from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.vendors.alpaca.rows import asset, number_of, row_of, stock_trade, text
from quotecast.simulation.vendors.alpaca.timeframes import DAY, MINUTE, Timeframe
from quotecast.simulation.vendors.http import Row

__all__ = ["Split", "Trade", "adjust", "asset", "bars", "row_of", "snapshot", "story", "trade_row"]


@dataclass(frozen=True)
class Trade:
    """A trade; those outside of IEX are on the consolidated tape only."""

    time: datetime
    price: float
    size: int = 100
    on_iex: bool = True


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


def bars(trades: Sequence[Trade], timeframe: Timeframe) -> list[Row]:
    """Returns the bars of ascending trades; as at Alpaca, daily bars include extended hours."""
    grouped = groupby(trades, key=lambda trade: timeframe.start_of(trade.time, NEW_YORK))
    return [_bar(start, list(group)) for start, group in grouped]


def adjust(trades: Sequence[Trade], splits: Sequence[Split], now: datetime) -> list[Trade]:
    """Returns the trades converted to the shares of an aware moment."""
    found = list(trades)
    for split in splits:
        if now >= (split.known_from or split.midnight):
            found = [_split(trade, split) if trade.time < split.midnight else trade for trade in found]
    return found


def snapshot(trades: Sequence[Trade]) -> Row | None:
    """Returns the snapshot of ascending trades, or None without trades."""
    if not trades:
        return None
    last, days = trades[-1], bars(trades[-5000:], DAY)
    return {
        "latestTrade": trade_row(last),
        "latestQuote": {
            "t": text(last.time), "ax": "V", "ap": round(last.price + 0.05, 4), "as": 100,
            "bx": "V", "bp": round(last.price - 0.05, 4), "bs": 300, "c": ["R"], "z": "C",
        },
        "minuteBar": bars(trades[-60:], MINUTE)[-1],
        "dailyBar": days[-1],
        "prevDailyBar": days[-2] if len(days) > 1 else None,
    }  # fmt: skip


def trade_row(trade: Trade) -> Row:
    """Returns a trade's row, with nanoseconds."""
    return stock_trade(text(trade.time, digits=9), number_of(trade.price), trade.size, number=7)


def story(number: int = 40_000_001, **changes: object) -> Row:
    """Returns an invented article."""
    return {
        "id": number, "headline": "Example &amp; headline", "author": "A. Writer",
        "created_at": "2026-11-19T14:00:01Z", "updated_at": "2026-11-19T14:00:02Z",
        "summary": "", "content": "", "url": f"https://www.example.com/{number}",
        "images": [{"size": "thumb", "url": "https://img.example.com/t.jpg"}],
        "symbols": ["AAPL", "BTCUSD"], "source": "benzinga", **changes,
    }  # fmt: skip


def _bar(start: datetime, trades: Sequence[Trade]) -> Row:
    prices = [trade.price for trade in trades]
    return row_of(
        start,
        (prices[0], max(prices), min(prices), prices[-1]),
        sum(trade.size for trade in trades),
    )


def _split(trade: Trade, split: Split) -> Trade:
    return replace(trade, price=round(trade.price / split.ratio, 4), size=round(trade.size * split.ratio))
