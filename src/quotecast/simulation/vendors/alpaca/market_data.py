"""Alpaca's market-data API: bars, trades, quotes and snapshots, news and corporate actions.

Corporate actions are the splits and dividends of the simulated market, and true renames. Source: Alpaca's
documentation, "Market data: corporate actions".
"""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any, Final

from quotecast.market.renames import well_known_renames
from quotecast.market.sessions import NEW_YORK
from quotecast.simulation.market.hours import new_york_date
from quotecast.simulation.vendors.alpaca.errors import NOT_FOUND, BadQuery, RecentTape
from quotecast.simulation.vendors.alpaca.market_source import MarketSource
from quotecast.simulation.vendors.alpaca.query import (
    DEFAULT_ROWS,
    FEEDS,
    MOST_ROWS,
    Span,
    choice_of,
    limit_of,
    moment_of,
    page_of,
    page_of_stories,
    tickers_of,
    token_of,
)
from quotecast.simulation.vendors.alpaca.timeframes import timeframe_of
from quotecast.simulation.vendors.http import Answer, Row
from quotecast.simulation.vendors.market import Market, utc

#: Minimum age of data from the consolidated tape under the free plan.
FREE_DELAY: Final = timedelta(minutes=15)
_ADJUSTMENTS: Final = ("raw", "split", "dividend", "all")
_STOCKS: Final = "/v2/stocks"
_CRYPTO: Final = "/v1beta3/crypto/us"
#: The part of a snapshot that `latest` answers with.
_PARTS: Final = {"trades": "latestTrade", "quotes": "latestQuote", "bars": "minuteBar"}
#: The prices of a bar.
_PRICES: Final = ("o", "h", "l", "c", "vw")
_EARLIEST: Final = datetime(1900, 1, 1, tzinfo=UTC)
#: The types of corporate actions that the market has, and the lists of their rows.
_ACTION_LISTS: Final = {
    "forward_split": "forward_splits",
    "reverse_split": "reverse_splits",
    "stock_dividend": "stock_dividends",
    "cash_dividend": "cash_dividends",
    "name_change": "name_changes",
}
_ABSENT_ACTIONS: Final = frozenset(
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
_MOST_ACTIONS: Final = 1000
_SPACE: Final = uuid.UUID(int=0)

Query = Mapping[str, str]


class MarketData:
    """Answers at one moment, under a plan."""

    def __init__(self, source: MarketSource, now: datetime, *, free: bool, rows_per_page: int) -> None:
        self._source = source
        self._now = now
        self._free = free
        self._rows_per_page = rows_per_page

    def routes(self) -> dict[str, Callable[[Query], Answer]]:
        """Returns the answers by path."""
        routes: dict[str, Callable[[Query], Answer]] = {
            f"{_STOCKS}/snapshots": self._snapshots,
            f"{_CRYPTO}/snapshots": partial(self._pairs, "snapshots", None),
            f"{_CRYPTO}/latest/orderbooks": self._books,
            "/v1beta1/news": self._news,
        }
        for what, part in _PARTS.items():
            routes[f"{_STOCKS}/{what}"] = partial(self._list, what)
            routes[f"{_STOCKS}/{what}/latest"] = partial(self._latest, what)
            routes[f"{_CRYPTO}/{what}"] = partial(self._list_of_pairs, what)
            routes[f"{_CRYPTO}/latest/{what}"] = partial(self._pairs, what, part)
        return routes

    def of_stock(self, symbol: str, what: str, query: Query) -> Answer:
        """Returns the snapshot, the newest row or the list of one stock."""
        query = {**query, "symbols": symbol}
        if what in _PARTS:
            rows, token = self._page(what, query)
            return Answer.of({what: rows.get(symbol), "symbol": symbol, "next_page_token": token})
        snapshot = self._source.snapshot(symbol, self._newest_feed(query))
        if snapshot is None:
            return NOT_FOUND
        if what == "snapshot":
            return Answer.of({"symbol": symbol, **snapshot})
        kind = what.removesuffix("/latest")
        return Answer.of({kind.removesuffix("s"): snapshot[_PARTS[kind]], "symbol": symbol})

    def _newest_feed(self, query: Query) -> str:
        feed = choice_of(query, "feed", "iex" if self._free else "sip", FEEDS)
        if self._free and feed == "sip":
            raise RecentTape
        return feed

    def _snapshots(self, query: Query) -> Answer:
        feed = self._newest_feed(query)
        return Answer.of({ticker: self._source.snapshot(ticker, feed) for ticker in tickers_of(query)})

    def _latest(self, what: str, query: Query) -> Answer:
        feed = self._newest_feed(query)
        found = {ticker: self._source.snapshot(ticker, feed) for ticker in tickers_of(query)}
        return Answer.of({what: {ticker: each[_PARTS[what]] for ticker, each in found.items() if each}})

    def _list(self, what: str, query: Query) -> Answer:
        rows, token = self._page(what, query)
        return Answer.of({what: rows, "next_page_token": token})

    def _page(self, what: str, query: Query) -> tuple[dict[str, list[Row]], str | None]:
        """Returns a page of stocks. Raises RecentTape under the free plan."""
        tickers, feed = tickers_of(query), choice_of(query, "feed", "sip", FEEDS)
        rows_of = self._rows_of(what, query, feed)
        span = self._span(query)
        if self._free and feed == "sip" and span.end > self._now - FREE_DELAY:
            raise RecentTape
        return self._page_of(tickers, rows_of, span, query)

    def _page_of(
        self, symbols: Sequence[str], rows_of: Callable[[str, Span], Iterator[Row]], span: Span, query: Query
    ) -> tuple[dict[str, list[Row]], str | None]:
        size = min(limit_of(query, DEFAULT_ROWS, MOST_ROWS), self._rows_per_page)
        listed = [symbol for symbol in symbols if self._source.is_listed(symbol)]
        return page_of(listed, rows_of, span, size, token_of(query))

    def _rows_of(self, what: str, query: Query, feed: str) -> Callable[[str, Span], Iterator[Row]]:
        if what == "trades":
            return lambda symbol, span: self._source.trades(symbol, span, feed)
        if what == "quotes":
            return lambda symbol, span: self._source.quotes(symbol, span, feed)
        timeframe = timeframe_of(query.get("timeframe", ""))
        adjustment = choice_of(query, "adjustment", "raw", _ADJUSTMENTS)
        adjusted, paid = adjustment in {"split", "all"}, adjustment in {"dividend", "all"}

        def rows_of(symbol: str, span: Span) -> Iterator[Row]:
            rows = self._source.bars(symbol, timeframe, span, feed, adjusted=adjusted)
            return map(partial(self._without_dividends, symbol), rows) if paid else rows

        return rows_of

    def _without_dividends(self, symbol: str, row: Row) -> Row:
        """Returns a bar whose prices are less by the dividends since then."""
        factor = self._source.dividend_factor(symbol, row["t"].astimezone(NEW_YORK).date())
        return row if factor == 1 else row | {name: round(row[name] * factor, 4) for name in _PRICES}

    def _span(self, query: Query) -> Span:
        midnight = self._now.replace(hour=0, minute=0, second=0, microsecond=0)
        start, end = moment_of(query, "start", midnight), moment_of(query, "end", self._now)
        if end < start:
            raise BadQuery("end should not be before start")
        return Span(start, end, choice_of(query, "sort", "asc", ("asc", "desc")) == "desc")

    def _list_of_pairs(self, what: str, query: Query) -> Answer:
        symbols = tickers_of(query, pairs=True)
        rows, token = self._page_of(symbols, self._rows_of(what, query, ""), self._span(query), query)
        return Answer.of({what: rows, "next_page_token": token})

    def _pairs(self, name: str, part: str | None, query: Query) -> Answer:
        """Returns the snapshots of pairs, or a part of each."""
        found = {symbol: self._source.snapshot(symbol, "") for symbol in tickers_of(query, pairs=True)}
        listed: dict[str, Any] = {symbol: each for symbol, each in found.items() if each}
        if part:
            listed = {symbol: each[part] for symbol, each in listed.items()}
        return Answer.of({name: listed})

    def _books(self, query: Query) -> Answer:
        symbols = [each for each in tickers_of(query, pairs=True) if self._source.is_listed(each)]
        return Answer.of({"orderbooks": {symbol: self._source.book(symbol) for symbol in symbols}})

    def _news(self, query: Query) -> Answer:
        start, end = moment_of(query, "start", _EARLIEST), moment_of(query, "end", self._now)
        span = Span(start, end, choice_of(query, "sort", "desc", ("asc", "desc")) == "desc")
        wanted = {each for each in query.get("symbols", "").split(",") if each}
        stories = [each for each in self._source.stories() if not wanted or wanted & {*each["symbols"]}]
        found, token = page_of_stories(stories, span, query)
        if query.get("include_content", "false") != "true":
            found = [story | {"content": ""} for story in found]
        return Answer.of({"news": found, "next_page_token": token})


def corporate_actions(market: Market, query: Mapping[str, str]) -> Answer:
    """Answers `/v1/corporate-actions`: those whose day lies in the span of the query, today by default."""
    today = utc(market.present)
    first, last = (moment_of(query, name, today).date() for name in ("start", "end"))
    types = query["types"].split(",") if query.get("types") else [*_ACTION_LISTS]
    if not {*types} <= _ACTION_LISTS.keys() | _ABSENT_ACTIONS:
        raise BadQuery("invalid types")
    wanted = {_ACTION_LISTS[name] for name in types if name in _ACTION_LISTS}
    # One page holds all: a market has few splits.
    limit_of(query, _MOST_ACTIONS, _MOST_ACTIONS)
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
            row = _action_row(symbol, each.ex_day, each.payable_day) | {"cusip": "", "rate": each.amount}
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
        row = _action_row(symbol, day, day)
        if each.is_stock_dividend:
            yield "stock_dividends", row | {"cusip": "", "rate": round(ratio - 1, 6)}
        elif ratio >= 1:
            yield "forward_splits", row | {"cusip": "", "new_rate": ratio, "old_rate": 1}
        else:
            yield (
                "reverse_splits",
                row | {"old_cusip": "", "new_cusip": "", "new_rate": 1, "old_rate": round(1 / ratio, 6)},
            )


def _action_row(symbol: str, ex_day: date, paid: date) -> Row:
    days = dict.fromkeys(("ex_date", "record_date"), f"{ex_day}")
    paid_on = dict.fromkeys(("process_date", "payable_date"), f"{paid}")
    return {"id": str(uuid.uuid5(_SPACE, f"{symbol} {ex_day} {paid}")), "symbol": symbol, **days, **paid_on}
