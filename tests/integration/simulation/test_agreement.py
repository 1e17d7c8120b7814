"""The simulated vendors sell one market: at one moment each shows the same price of BTC, and of AAPL."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import httpx
import msgspec
import pytest
from websockets.asyncio.client import connect

from quotecast.commands.simulate import VENDORS, server_of
from quotecast.simulation.vendors.market import Market, Price
from quotecast.simulation.vendors.server import VendorServer
from support.runs.manual_clock import ManualClock

#: 2026-11-19T15:00:00Z, in New York's session.
NOW: Final = 1_795_100_400_000
#: A step of the time in which every price is of its last moment.
STEP_MS: Final = 20
KEYS: Final = {"APCA-API-KEY-ID": "key", "APCA-API-SECRET-KEY": "secret"}

#: Time in Unix milliseconds, and price.
Trade = tuple[float, float]


def _milliseconds(time: str) -> float:
    return round(datetime.fromisoformat(time).timestamp() * 1000)


def _of_coinbase(message: Any) -> Iterator[Trade]:
    if message["type"] == "ticker":
        yield _milliseconds(message["time"]), float(message["price"])


def _of_binance(message: Any) -> Iterator[Trade]:
    if message.get("e") == "trade":
        yield message["T"], float(message["p"])


def _of_kraken(message: Any) -> Iterator[Trade]:
    if message.get("channel") == "trade":
        for row in message["data"]:
            yield _milliseconds(row["timestamp"]), float(row["price"])


def _of_alpaca(message: Any) -> Iterator[Trade]:
    for row in message:
        if row["T"] == "t":
            yield _milliseconds(row["t"]), row["p"]


def _of_finnhub(message: Any) -> Iterator[Trade]:
    for row in message.get("data", ()):
        yield row["t"], row["p"]


@dataclass(frozen=True)
class Shop:
    """Where a vendor shows a price: `path` and its parts, the stream, its commands, and their trades."""

    vendor: str
    symbol: str
    path: str
    parts: Sequence[str | int]
    stream: str
    commands: Sequence[Any]
    trades: Callable[[Any], Iterator[Trade]]
    headers: dict[str, str] = field(default_factory=dict)


_LOGIN: Final = {"action": "auth", "key": "key", "secret": "secret"}
SHOPS: Final = (
    Shop(
        "coinbase",
        "BTC/USD",
        "/products/BTC-USD/ticker",
        ("price",),
        "/",
        [{"type": "subscribe", "product_ids": ["BTC-USD"], "channels": ["ticker"]}],
        _of_coinbase,
    ),
    Shop(
        "binance",
        "BTC/USDT",
        "/api/v3/ticker/price?symbol=BTCUSDT",
        ("price",),
        "/ws/btcusdt@trade",
        [],
        _of_binance,
    ),
    Shop(
        "kraken",
        "BTC/USD",
        "/0/public/Ticker?pair=XBTUSD",
        ("result", "XXBTZUSD", "c", 0),
        "/v2",
        [{"method": "subscribe", "params": {"channel": "trade", "symbol": ["BTC/USD"], "snapshot": True}}],
        _of_kraken,
    ),
    Shop(
        "alpaca",
        "BTC/USD",
        "/v1beta3/crypto/us/latest/trades?symbols=BTC/USD",
        ("trades", "BTC/USD", "p"),
        "/v1beta3/crypto/us",
        [_LOGIN, {"action": "subscribe", "trades": ["BTC/USD"]}],
        _of_alpaca,
        KEYS,
    ),
    Shop(
        "alpaca",
        "AAPL",
        "/v2/stocks/AAPL/trades/latest?feed=sip",
        ("trade", "p"),
        "/v2/sip",
        [_LOGIN, {"action": "subscribe", "trades": ["AAPL"]}],
        _of_alpaca,
        KEYS,
    ),
    Shop(
        "finnhub",
        "AAPL",
        "/api/v1/quote?symbol=AAPL&token=key",
        ("c",),
        "/?token=key",
        [{"type": "subscribe", "symbol": "AAPL"}],
        _of_finnhub,
    ),
)


def _spread(price: Price) -> float:
    return price.ask - price.bid


async def _rest_price(shop: Shop, server: VendorServer) -> float:
    async with httpx.AsyncClient(base_url=server.url, headers=shop.headers) as http:
        answer = await http.get(shop.path)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    for part in shop.parts:
        found = found[part]
    return float(found)


async def _stream_price(shop: Shop, server: VendorServer, clock: ManualClock) -> float:
    """Returns the price of the newest moment in a vendor's stream."""
    async with connect(server.websocket_url + shop.stream, compression=None) as connection:
        for command in shop.commands:
            await connection.send(msgspec.json.encode(command).decode())
        while not server.followed():  # noqa: ASYNC110 (the server has no event for it)
            await asyncio.sleep(0)
        clock.advance(STEP_MS)
        server.tick()
        while True:
            for time, price in shop.trades(msgspec.json.decode(await connection.recv())):
                if time >= NOW + STEP_MS:
                    return price


def _names() -> list[str]:
    return [f"{shop.vendor}-{shop.symbol}" for shop in SHOPS]


@pytest.mark.parametrize("shop", SHOPS, ids=_names())
async def test_vendor_shows_the_price_of_the_market(shop: Shop) -> None:
    """REST and the stream agree with the market, and so with all other vendors."""
    market, clock = Market(4), ManualClock(NOW)
    server = server_of(shop.vendor)(market, clock, rate=1000)
    async with server:
        rest = await _rest_price(shop, server)
        streamed = await _stream_price(shop, server, clock)
    before, after = market.price(shop.symbol, NOW), market.price(shop.symbol, NOW + STEP_MS)
    assert rest == pytest.approx(before.price, abs=_spread(before))
    assert streamed == pytest.approx(after.price, abs=_spread(after))


@pytest.mark.parametrize("stem", ["BTC/", "AAPL"])
async def test_vendors_agree_with_one_another(stem: str) -> None:
    """Each server has a market of its own, of the same seed."""
    prices: dict[str, float] = {}
    async with AsyncExitStack() as stack:
        for shop in SHOPS:
            if shop.symbol.startswith(stem):
                server = server_of(shop.vendor)(Market(4), ManualClock(NOW))
                await stack.enter_async_context(server)
                prices[shop.vendor] = await _rest_price(shop, server)
    assert len(prices) > 1
    allowed = _spread(Market(4).price("AAPL" if stem == "AAPL" else "BTC/USD", NOW))
    assert max(prices.values()) - min(prices.values()) <= allowed, prices


def test_every_vendor_is_compared() -> None:
    """A new vendor needs an entry here."""
    assert {shop.vendor for shop in SHOPS} == VENDORS.keys()
