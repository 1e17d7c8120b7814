"""Kraken's WebSocket API v2: its commands, answers and messages.

Source: Kraken documentation, "WebSockets API v2".
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.kraken.book import Book, Side
from quotecast.simulation.vendors.kraken.data import KrakenData
from quotecast.simulation.vendors.kraken.feeds import (
    MOST_PAIRS,
    SNAPSHOT_ROWS,
    BookMaker,
    CandleMaker,
    Desk,
    Feed,
    Maker,
    option_problem,
)
from quotecast.simulation.vendors.kraken.names import kraken_pair
from quotecast.simulation.vendors.kraken.rows import (
    candle_row,
    instrument_asset,
    instrument_row,
    moment_text,
    ticker_row,
    trade_row,
)
from quotecast.simulation.vendors.market import Candle, Price
from quotecast.simulation.vendors.server import Client

VERSION: Final = 2
HEARTBEAT: Final = b'{"channel":"heartbeat"}'
#: The parameter that distinguishes the feeds of a channel, and its default.
_OPTIONS: Final[Mapping[str, tuple[str, str | int]]] = {
    "ticker": ("event_trigger", "trades"),
    "trade": ("", ""),
    "ohlc": ("interval", 1),
    "book": ("depth", 10),
}
_WARNINGS: Final = {"ohlc": ["timestamp is deprecated, use interval_begin"]}
_PRIVATE: Final = frozenset({"executions", "balances", "level3"})


def status(system: str) -> bytes:
    """Returns the message of the exchange's state."""
    row = {"system": system, "api_version": "v2", "connection_id": 1, "version": "2.0.9"}
    return message("status", "update", [row])


def message(channel: str, kind: str, rows: Any) -> bytes:
    """Returns a message with rows."""
    return msgspec.json.encode({"channel": channel, "type": kind, "data": rows})


def obey(desk: Desk, client: Client, request: Row | None) -> None:
    """Carries out a command and answers it; None is a malformed one."""
    if request is None:
        _answer(desk, client, {}, error="Malformed request")
        return
    parameters = request.get("params", {})
    if not isinstance(parameters, dict):
        parameters = {}
    match request.get("method"):
        case "ping":
            _answer(desk, client, request | {"method": "pong"})
        case "subscribe" | "unsubscribe" if parameters.get("channel") == "instrument":
            _follow_instruments(desk, client, request, parameters)
        case "subscribe" | "unsubscribe" if problem := _problem(desk, parameters):
            _answer(desk, client, request, error=problem)
        case "subscribe":
            for symbol in dict.fromkeys(map(str, parameters["symbol"])):
                _subscribe(desk, client, request, parameters, symbol)
        case "unsubscribe":
            for symbol in dict.fromkeys(map(str, parameters["symbol"])):
                _unsubscribe(desk, client, request, _feed(parameters, symbol))
        case _:
            _answer(desk, client, request, error="Unsupported field: 'method'")


def _subscribe(desk: Desk, client: Client, request: Row, parameters: Row, symbol: str) -> None:
    if not desk.data.has(symbol):
        error = f"Currency pair not supported {symbol}"
        _answer(desk, client, request, error=error, symbol=symbol)
        return
    feed = _feed(parameters, symbol)
    maker = desk.follow(client, feed, _maker(desk, feed))
    if maker is None:
        _answer(desk, client, request, error="Already subscribed", symbol=symbol)
        return
    snapshot = parameters.get("snapshot", feed.channel != "trade") is True
    _answer(desk, client, request, result=_granted(feed) | {"snapshot": snapshot})
    if snapshot:
        client.answer(message(feed.channel, "snapshot", _snapshot(desk, feed, maker)))


def _unsubscribe(desk: Desk, client: Client, request: Row, feed: Feed) -> None:
    if desk.unfollow(client, feed):
        _answer(desk, client, request, result=_granted(feed))
    else:
        _answer(desk, client, request, error="Subscription Not Found", symbol=feed.symbol)


def _problem(desk: Desk, parameters: Row) -> str | None:
    """Returns what is wrong with a whole subscription."""
    channel, symbols = parameters.get("channel"), parameters.get("symbol")
    if desk.system == "maintenance":
        return "EService:Unavailable"
    if not isinstance(channel, str) or channel not in (*_OPTIONS, *_PRIVATE):
        return "Unsupported field: 'channel'"
    if channel in _PRIVATE:
        return "ESession:Invalid session"
    if not isinstance(symbols, list) or not 0 < len(symbols) <= MOST_PAIRS:
        return "Unsupported field: 'symbol'"
    name, default = _OPTIONS[channel]
    return option_problem(channel, parameters.get(name, default))


def _feed(parameters: Row, symbol: str) -> Feed:
    channel = parameters["channel"]
    name, default = _OPTIONS[channel]
    return Feed(VERSION, channel, symbol, parameters.get(name, default))


def _granted(feed: Feed) -> Row:
    name, _ = _OPTIONS[feed.channel]
    granted: Row = {"channel": feed.channel, "symbol": feed.symbol}
    if name:
        granted[name] = feed.option
    if feed.channel in _WARNINGS:
        granted["warnings"] = _WARNINGS[feed.channel]
    return granted


def _maker(desk: Desk, feed: Feed) -> Callable[[], Maker]:
    def ticker(price: Price) -> bytes:
        return message("ticker", "update", [ticker_row(price)])

    def trade(price: Price) -> bytes:
        return message("trade", "update", [trade_row(price)])

    def candles(found: Sequence[Candle]) -> bytes:
        return message("ohlc", "update", [candle_row(feed.symbol, int(feed.option), each) for each in found])

    def book(book: Book, bids: Side, asks: Side, time: int) -> bytes:
        row = _book_row(feed.symbol, book, bids, asks) | {"timestamp": moment_text(time)}
        return message("book", "update", [row])

    match feed.channel:
        case "ohlc":
            return lambda: CandleMaker(desk.data, feed, candles)
        case "book":
            return lambda: BookMaker(desk.data, feed, book)
        case _:
            return lambda: ticker if feed.channel == "ticker" else trade


def _snapshot(desk: Desk, feed: Feed, maker: Maker) -> Sequence[Row]:
    """Returns the rows of a feed's first message."""
    data, symbol = desk.data, feed.symbol
    if isinstance(maker, BookMaker):
        return [_book_row(symbol, maker.book, maker.book.bids, maker.book.asks)]
    match feed.channel:
        case "ticker":
            return [data.ticker(symbol)]
        case "ohlc":
            minutes = int(feed.option)
            return [
                candle_row(symbol, minutes, each) for each in data.candles(symbol, minutes, SNAPSHOT_ROWS)
            ]
        case _:
            return [trade_row(each) for each in data.trades(symbol, SNAPSHOT_ROWS)]


def _book_row(symbol: str, book: Book, bids: Side, asks: Side) -> Row:
    def levels(side: Side) -> list[Row]:
        return [{"price": book.price(tick), "qty": quantity} for tick, quantity in side.items()]

    return {"symbol": symbol, "bids": levels(bids), "asks": levels(asks), "checksum": book.checksum()}


def _follow_instruments(desk: Desk, client: Client, request: Row, parameters: Row) -> None:
    wanted = request["method"] == "subscribe"
    if client.state.has_pairs == wanted:
        error = "Already subscribed" if wanted else "Subscription Not Found"
        _answer(desk, client, request, error=error)
        return
    client.state.has_pairs = wanted
    snapshot = wanted and parameters.get("snapshot", True) is True
    granted = {"channel": "instrument"} | ({"snapshot": snapshot} if wanted else {})
    _answer(desk, client, request, result=granted)
    if snapshot:
        symbols = [*desk.data.symbols()]
        names = sorted({asset for symbol in symbols for asset in symbol.split("/")})
        rows = {"assets": [instrument_asset(name) for name in names], "pairs": pair_rows(desk.data, symbols)}
        client.answer(message("instrument", "snapshot", rows))


def pair_rows(data: KrakenData, symbols: Iterable[str]) -> list[Row]:
    """Returns pairs of the channel `instrument`."""
    return [instrument_row(kraken_pair(each), data.decimals(each), data.status(each)) for each in symbols]


def _answer(desk: Desk, client: Client, request: Row, **parts: Any) -> None:
    """Sends an answer; one to a command other than ping says whether it succeeded."""
    named = {name: request[name] for name in ("method", "req_id") if name in request}
    outcome = {"success": "error" not in parts} if parts else {}
    now = moment_text(desk.data.clock.moment())
    client.answer(msgspec.json.encode({**named, **parts, **outcome, "time_in": now, "time_out": now}))
