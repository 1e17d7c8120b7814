"""Kraken's public REST methods.

Source: Kraken documentation, "REST API: Market Data".
"""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

from quotecast.simulation.vendors.http import Answer, HttpRequest, Row
from quotecast.simulation.vendors.kraken.book import Book, Side, book_of
from quotecast.simulation.vendors.kraken.data import INTERVALS, MOST_CANDLES, KrakenData
from quotecast.simulation.vendors.kraken.names import KrakenPair, by_name, kraken_pair, long_name, short_name
from quotecast.simulation.vendors.kraken.rows import (
    LOT_DECIMALS,
    asset_row,
    moment_text,
    ohlc_row,
    pair_row,
    rest_ticker,
    rest_trade,
    text,
)

PREFIX: Final = "/0/public/"
_MOST_TRADES: Final = 1000
_MOST_LEVELS: Final = 500
_SPREADS: Final = 200
_NANOSECONDS: Final = 1_000_000


class KrakenError(Exception):
    """A refusal; its text is Kraken's own."""


def failure(*problems: str, status: int = 200) -> Answer:
    """Returns an answer with errors."""
    return Answer.of({"error": problems}, status)


UNKNOWN_METHOD: Final = failure("EGeneral:Unknown method")
UNKNOWN_PAIR: Final = "EQuery:Unknown asset pair"
WRONG: Final = "EGeneral:Invalid arguments"
RATE_LIMIT: Final = failure("EAPI:Rate limit exceeded")
TOO_MANY_CALLS: Final = failure("EGeneral:Too many requests")
UNAVAILABLE: Final = failure("EService:Unavailable", status=503)


class KrakenRest:
    """Answers the public methods."""

    def __init__(self, data: KrakenData) -> None:
        self._data = data
        self._methods: Mapping[str, Callable[[Mapping[str, str]], Any]] = {
            "Time": self._time,
            "Assets": self._assets,
            "AssetPairs": self._pairs,
            "Ticker": self._tickers,
            "OHLC": self._candles,
            "Trades": self._trades,
            "Depth": self._depth,
            "Spread": self._spread,
        }

    def answer(self, request: HttpRequest) -> Answer:
        """Returns the answer of a method."""
        method = self._methods.get(request.path.removeprefix(PREFIX))
        if method is None or not request.path.startswith(PREFIX):
            return UNKNOWN_METHOD
        try:
            form = dict(parse_qsl(request.body.decode("utf-8", "replace"), keep_blank_values=True))
            return Answer.of({"error": [], "result": method({**request.query, **form})})
        except KrakenError as error:
            return failure(str(error))

    def status(self, system: str) -> Answer:
        """Returns the answer of `SystemStatus`."""
        now = moment_text(self._data.clock.moment() // 1000 * 1000).replace(".000000", "")
        return Answer.of({"error": [], "result": {"status": system, "timestamp": now}})

    def _time(self, _query: Mapping[str, str]) -> Row:
        moment = self._data.clock.moment()
        return {"unixtime": moment // 1000, "rfc1123": moment_text(moment)}

    def _assets(self, query: Mapping[str, str]) -> Row:
        names = {asset for symbol in self._data.symbols() for asset in symbol.split("/")}
        shorts = sorted(short_name(name) for name in names)
        rows = {long_name(short): asset_row(short) for short in shorts}
        if "asset" not in query:
            return rows
        known = rows | {row["altname"]: row for row in rows.values()}
        wanted = query["asset"].split(",")
        if not {*wanted} <= known.keys():
            raise KrakenError("EQuery:Unknown asset")
        return {long_name(known[each]["altname"]): known[each] for each in wanted}

    def _pairs(self, query: Mapping[str, str]) -> Row:
        data = self._data
        return {
            name: pair_row(pair, data.decimals(pair.symbol), data.status(pair.symbol))
            for name, pair in self._wanted(query).items()
        }

    def _tickers(self, query: Mapping[str, str]) -> Row:
        data = self._data
        return {
            name: rest_ticker(data.ticker(pair.symbol), data.decimals(pair.symbol))
            for name, pair in self._wanted(query).items()
        }

    def _candles(self, query: Mapping[str, str]) -> Row:
        (name, pair), minutes = self._pair(query), _number(query, "interval", 1)
        if minutes not in INTERVALS:
            raise KrakenError(WRONG)
        since = _number(query, "since", 0)
        found = self._data.candles(pair.symbol, minutes)[-MOST_CANDLES:]
        decimals = self._data.decimals(pair.symbol)
        rows = [ohlc_row(each, decimals) for each in found if each.start > since * 1000 or not since]
        # The last one that is complete: a client that asks for what came since gets the one in progress.
        return {name: rows, "last": found[-2:][0].start // 1000 if found else since}

    def _trades(self, query: Mapping[str, str]) -> Row:
        (name, pair), count = self._pair(query), _number(query, "count", _MOST_TRADES)
        if not 0 < count <= _MOST_TRADES:
            raise KrakenError(WRONG)
        since = _number(query, "since", 0) if query.get("since") else None
        if since is not None:
            # Kraken accepts seconds and nanoseconds.
            since = since // _NANOSECONDS if since > 10**15 else since * 1000
        found = self._data.trades(pair.symbol, count, since)
        decimals = self._data.decimals(pair.symbol)
        last = found[-1].time if found else since or self._data.clock.moment()
        return {
            name: [rest_trade(each, decimals) for each in found],
            "last": str(last * _NANOSECONDS),
        }

    def _depth(self, query: Mapping[str, str]) -> Row:
        (name, pair), count = self._pair(query), _number(query, "count", 100)
        if not 0 < count <= _MOST_LEVELS:
            raise KrakenError(WRONG)
        now = self._data.clock.moment()
        book = book_of(self._data.price(pair.symbol, now), self._data.decimals(pair.symbol), count)
        return {
            name: {"asks": _levels(book, book.asks, now), "bids": _levels(book, book.bids, now)},
        }

    def _spread(self, query: Mapping[str, str]) -> Row:
        (name, pair), since = self._pair(query), _number(query, "since", 0)
        decimals = self._data.decimals(pair.symbol)
        found = [each for each in self._data.trades(pair.symbol, _SPREADS) if each.time >= since * 1000]
        rows = [[each.time // 1000, text(each.bid, decimals), text(each.ask, decimals)] for each in found]
        return {name: rows, "last": rows[-1][0] if rows else since}

    def _wanted(self, query: Mapping[str, str]) -> Mapping[str, KrakenPair]:
        """Returns the pairs that a request names, by the names in the answer; all if it names none."""
        symbols = self._data.symbols()
        if not query.get("pair"):
            return {pair.key: pair for pair in map(kraken_pair, symbols)}
        known = by_name(symbols)
        names = query["pair"].split(",")
        if not {*names} <= known.keys():
            raise KrakenError(UNKNOWN_PAIR)
        return {_answered_name(name, known[name]): known[name] for name in names}

    def _pair(self, query: Mapping[str, str]) -> tuple[str, KrakenPair]:
        """Returns the one pair that a request names, after its name in the answer."""
        name = query.get("pair", "")
        pair = by_name(self._data.symbols()).get(name)
        if pair is None:
            raise KrakenError(UNKNOWN_PAIR if name else WRONG)
        return _answered_name(name, pair), pair


def _answered_name(name: str, pair: KrakenPair) -> str:
    """Returns the name of a pair in an answer: a name with a slash as the request has it."""
    return name if "/" in name else pair.key


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    """Returns a whole number of a request."""
    try:
        number = int(float(query.get(name) or default))
    except (ValueError, OverflowError) as error:
        raise KrakenError(WRONG) from error
    if not 0 <= number < 1 << 63:
        raise KrakenError(WRONG)
    return number


def _levels(book: Book, side: Side, moment: int) -> list[list[Any]]:
    return [
        [text(book.price(tick), book.decimals), text(quantity, LOT_DECIMALS), moment // 1000]
        for tick, quantity in side.items()
    ]
