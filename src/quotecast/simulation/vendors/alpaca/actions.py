"""Alpaca's corporate actions: the splits and dividends of the simulated market, and true renames.

Source: Alpaca's documentation, "Market data: corporate actions".
"""

import uuid
from collections.abc import Iterator, Mapping
from datetime import date
from itertools import chain
from typing import Final

from quotecast.market.renames import well_known_renames
from quotecast.simulation.market.hours import new_york_date
from quotecast.simulation.vendors.alpaca.errors import BadQuery
from quotecast.simulation.vendors.alpaca.query import limit_of, moment_of
from quotecast.simulation.vendors.http import Answer, Row
from quotecast.simulation.vendors.market import Market, utc

#: The types that the market has, and the lists of their rows.
_TYPES: Final = {
    "forward_split": "forward_splits",
    "reverse_split": "reverse_splits",
    "stock_dividend": "stock_dividends",
    "cash_dividend": "cash_dividends",
    "name_change": "name_changes",
}
_ABSENT: Final = frozenset(
    [
        "unit_split",
        "spin_off",
        "cash_merger",
        "stock_merger",
        "stock_and_cash_merger",
        "redemption",
        "worthless_removal",
        "rights_distribution",
    ]
)
_MOST: Final = 1000
_SPACE: Final = uuid.UUID(int=0)


def corporate_actions(market: Market, query: Mapping[str, str]) -> Answer:
    """Answers `/v1/corporate-actions`: those whose day lies in the span of the query, today by default."""
    today = utc(market.present)
    first, last = (moment_of(query, name, today).date() for name in ("start", "end"))
    types = query["types"].split(",") if query.get("types") else [*_TYPES]
    if not {*types} <= _TYPES.keys() | _ABSENT:
        raise BadQuery("invalid types")
    wanted = {_TYPES[name] for name in types if name in _TYPES}
    # One page holds all: a market has few splits.
    limit_of(query, _MOST, _MOST)
    symbols = frozenset(filter(None, query.get("symbols", "").split(",")))
    found: dict[str, list[Row]] = {}
    for kind, row in chain(_stocks_actions(market, symbols, first, last), _renames(symbols, first, last)):
        if kind in wanted:
            found.setdefault(kind, []).append(row)
    return Answer.of({"corporate_actions": found, "next_page_token": None})


def _stocks_actions(
    market: Market, symbols: frozenset[str], first: date, last: date
) -> Iterator[tuple[str, Row]]:
    listed = market.stocks.keys()
    for symbol in sorted(listed & symbols if symbols else listed):
        yield from _splits(market, symbol, first, last)
        for each in market.dividends(symbol, first, last):
            row = _row(symbol, each.ex_day, each.payable_day) | {"cusip": "", "rate": each.amount}
            yield "cash_dividends", row | {"special": False, "foreign": False}


def _renames(symbols: frozenset[str], first: date, last: date) -> Iterator[tuple[str, Row]]:
    for each in sorted(well_known_renames("stock"), key=lambda each: each.day):
        names = {"old_symbol": each.former, "new_symbol": each.symbol}
        if first <= each.day <= last and (not symbols or symbols & {*names.values()}):
            row = {"id": str(uuid.uuid5(_SPACE, f"{each.former} {each.day}")), "process_date": f"{each.day}"}
            yield "name_changes", row | names | {"old_cusip": "", "new_cusip": ""}


def _splits(market: Market, symbol: str, first: date, last: date) -> Iterator[tuple[str, Row]]:
    for each in market.schedule.splits(symbol):
        day, ratio = new_york_date(each.moment), each.ratio
        if not first <= day <= last:
            continue
        row = _row(symbol, day, day)
        if each.is_stock_dividend:
            yield "stock_dividends", row | {"cusip": "", "rate": round(ratio - 1, 6)}
        elif ratio >= 1:
            yield "forward_splits", row | {"cusip": "", "new_rate": ratio, "old_rate": 1}
        else:
            yield (
                "reverse_splits",
                row | {"old_cusip": "", "new_cusip": "", "new_rate": 1, "old_rate": round(1 / ratio, 6)},
            )


def _row(symbol: str, ex_day: date, paid: date) -> Row:
    days = dict.fromkeys(("ex_date", "record_date"), f"{ex_day}")
    paid_on = dict.fromkeys(("process_date", "payable_date"), f"{paid}")
    return {"id": str(uuid.uuid5(_SPACE, f"{symbol} {ex_day} {paid}")), "symbol": symbol, **days, **paid_on}
