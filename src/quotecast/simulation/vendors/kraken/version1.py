"""Kraken's WebSocket API v1: its commands, answers and messages.

Source: Kraken documentation, "WebSockets API v1".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from zlib import crc32

import msgspec

from quotecast.simulation.vendors.http import Row
from quotecast.simulation.vendors.kraken.book import Book, Side
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
from quotecast.simulation.vendors.kraken.names import by_name, kraken_pair
from quotecast.simulation.vendors.kraken.rows import (
    LOT_DECIMALS,
    average,
    rest_ticker,
    rest_trade,
    text,
    ticker_row,
)
from quotecast.simulation.vendors.market import Candle, Price
from quotecast.simulation.vendors.server import Client

VERSION: Final = 1
HEARTBEAT: Final = b'{"event":"heartbeat"}'
#: The parameter that distinguishes the feeds of a channel, and its default.
_OPTIONS: Final[Mapping[str, tuple[str, str | int]]] = {
    "ticker": ("", ""),
    "trade": ("", ""),
    "spread": ("", ""),
    "ohlc": ("interval", 1),
    "book": ("depth", 10),
}


def status(system: str) -> bytes:
    """Returns the message of the exchange's state."""
    return msgspec.json.encode(
        {"connectionID": 1, "event": "systemStatus", "status": system, "version": "1.9.6"}
    )


def obey(desk: Desk, client: Client, request: Row | None) -> None:
    """Carries out a command and answers it; None is a malformed one."""
    if request is None:
        _answer(client, {}, event="error", errorMessage="Malformed request")
        return
    event = request.get("event")
    if event == "ping":
        _answer(client, request, event="pong")
    elif event in ("subscribe", "unsubscribe"):
        _change(desk, client, request, event)
    else:
        _answer(client, request, event="error", errorMessage="Event(s) not found")


def _change(desk: Desk, client: Client, request: Row, event: str) -> None:
    """Subscribes to a channel of each pair, or unsubscribes from it."""
    wanted, pairs = request.get("subscription"), request.get("pair")
    subscription = wanted if isinstance(wanted, dict) else {}
    problem = _problem(desk, subscription, pairs)
    if problem:
        refused = {"subscription": subscription, "errorMessage": problem}
        _answer(client, request, event="subscriptionStatus", status="error", **refused)
        return
    known = by_name(desk.data.symbols())
    for name in dict.fromkeys(map(str, pairs or [])):
        pair = known.get(name) if "/" in name else None
        feed = None
        if pair:
            channel = subscription["name"]
            option, default = _OPTIONS[channel]
            feed = Feed(VERSION, channel, pair.symbol, subscription.get(option, default))
        answer = {"event": "subscriptionStatus", "pair": name, "subscription": subscription}
        if feed is None:
            refused = {"status": "error", "errorMessage": f"Currency pair not supported {name}"}
            _answer(client, request, **answer, **refused)
        elif event == "subscribe":
            _subscribe(desk, client, request, feed, answer)
        elif desk.unfollow(client, feed):
            _answer(client, request, **answer, **_named(feed), status="unsubscribed")
        else:
            _answer(client, request, **answer, status="error", errorMessage="Subscription Not Found")


def _subscribe(desk: Desk, client: Client, request: Row, feed: Feed, answer: Row) -> None:
    maker = desk.follow(client, feed, _maker(desk, feed))
    if maker is None:
        _answer(client, request, **answer, status="error", errorMessage="Already subscribed")
        return
    _answer(client, request, **answer, **_named(feed), status="subscribed")
    for part in _snapshot(desk, feed, maker):
        client.answer(_message(feed, part))


def _problem(desk: Desk, subscription: Row, pairs: Any) -> str | None:
    """Returns what is wrong with a whole subscription."""
    channel = subscription.get("name")
    if desk.system == "maintenance":
        return "EService:Unavailable"
    if not isinstance(channel, str) or channel not in _OPTIONS:
        return "Subscription name invalid"
    if not isinstance(pairs, list) or not 0 < len(pairs) <= MOST_PAIRS:
        return "Bad request"
    name, default = _OPTIONS[channel]
    return option_problem(channel, subscription.get(name, default))


def _channel_name(feed: Feed) -> str:
    return f"{feed.channel}-{feed.option}" if feed.option else feed.channel


def _named(feed: Feed) -> Row:
    return {"channelID": _number(feed), "channelName": _channel_name(feed)}


def _number(feed: Feed) -> int:
    """Returns the number of a channel, which clients no longer use."""
    return crc32(feed.topic.encode()) >> 16


def _message(feed: Feed, *parts: Any) -> bytes:
    pair = kraken_pair(feed.symbol).wsname
    return msgspec.json.encode([_number(feed), *parts, _channel_name(feed), pair])


def _maker(desk: Desk, feed: Feed) -> Callable[[], Maker]:
    decimals = desk.data.decimals(feed.symbol)

    def ticker(price: Price) -> bytes:
        return _message(feed, _ticker(ticker_row(price), decimals))

    def trade(price: Price) -> bytes:
        return _message(feed, [_trade(price, decimals)])

    def spread(price: Price) -> bytes:
        return _message(feed, _spread(price, decimals))

    def candle(found: Sequence[Candle]) -> bytes:
        return _message(feed, _candle(found[-1], int(feed.option), decimals, desk.data.clock.moment()))

    def book(book: Book, bids: Side, asks: Side, time: int) -> bytes:
        sides = {"a": _levels(book, asks, time), "b": _levels(book, bids, time)}
        parts: list[Row] = [{name: levels} for name, levels in sides.items() if levels]
        parts[-1]["c"] = str(book.checksum())
        return _message(feed, *parts)

    match feed.channel:
        case "ohlc":
            return lambda: CandleMaker(desk.data, feed, candle)
        case "book":
            return lambda: BookMaker(desk.data, feed, book)
        case _:
            return lambda: {"ticker": ticker, "trade": trade, "spread": spread}[feed.channel]


def _snapshot(desk: Desk, feed: Feed, maker: Maker) -> Sequence[Any]:
    """Returns the contents of a feed's first messages."""
    data, symbol = desk.data, feed.symbol
    decimals = data.decimals(symbol)
    if isinstance(maker, BookMaker):
        book = maker.book
        return [{"as": _levels(book, book.asks, maker.time), "bs": _levels(book, book.bids, maker.time)}]
    match feed.channel:
        case "ticker":
            return [_ticker(data.ticker(symbol), decimals)]
        case "trade":
            return [[_trade(each, decimals) for each in data.trades(symbol, SNAPSHOT_ROWS)]]
        case "spread":
            return [_spread(data.price(symbol, data.clock.moment()), decimals)]
        case _:
            minutes, now = int(feed.option), data.clock.moment()
            return [_candle(each, minutes, decimals, now) for each in data.candles(symbol, minutes, 1)]


def _ticker(row: Row, decimals: int) -> Row:
    content = rest_ticker(row, decimals)
    return content | {"o": [content["o"]] * 2}


def _trade(price: Price, decimals: int) -> list[Any]:
    cost, quantity, _, side, kind, misc, _ = rest_trade(price, decimals)
    return [cost, quantity, _seconds(price.time), side, kind, misc]


def _spread(price: Price, decimals: int) -> list[str]:
    quantity = text(price.size, LOT_DECIMALS)
    offers = (text(price.bid, decimals), text(price.ask, decimals))
    return [*offers, _seconds(price.time), quantity, quantity]


def _candle(candle: Candle, minutes: int, decimals: int, moment: int) -> list[Any]:
    prices = (candle.open, candle.high, candle.low, candle.close, average(candle))
    return [
        _seconds(moment),
        _seconds(candle.start + minutes * 60_000),
        *(text(each, decimals) for each in prices),
        text(candle.volume, LOT_DECIMALS),
        candle.trades,
    ]


def _levels(book: Book, side: Side, time: int) -> list[list[str]]:
    return [
        [text(book.price(tick), book.decimals), text(quantity, LOT_DECIMALS), _seconds(time)]
        for tick, quantity in side.items()
    ]


def _seconds(moment: int) -> str:
    return f"{moment / 1000:.6f}"


def _answer(client: Client, request: Row, **parts: Any) -> None:
    named = {"reqid": request["reqid"]} if "reqid" in request else {}
    client.answer(msgspec.json.encode(named | parts))
