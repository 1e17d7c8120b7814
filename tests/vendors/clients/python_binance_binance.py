"""python-binance: REST, streams in asyncio and streams of its thread, from a Binance at given addresses."""

import asyncio
import json
import queue
import sys

from binance.async_client import AsyncClient
from binance.client import Client
from binance.ws.streams import BinanceSocketManager, ThreadedWebsocketManager

REST, STREAM, START = sys.argv[1], sys.argv[2], int(sys.argv[3])
for each in (Client, AsyncClient):
    each.API_URL = f"{REST}/api"
    each.MARGIN_API_URL = f"{REST}/sapi"
BinanceSocketManager.STREAM_URL = f"{STREAM}/"


def read_rest() -> dict[str, object]:
    """Returns what the client reads by REST."""
    client = Client()
    end = START + 4 * 60_000
    return {
        "status": client.get_system_status(),
        "info": client.get_symbol_info("BTCUSDT"),
        "ticker": client.get_ticker(symbol="BTCUSDT"),
        "tickers": len(client.get_ticker()),
        "prices": len(client.get_all_tickers()),
        "klines": client.get_klines(symbol="BTCUSDT", interval="1m", startTime=START, endTime=end),
        "history": client.get_historical_klines("BTCUSDT", "1h", START, START + 2000 * 3_600_000),
        "earliest": client._get_earliest_valid_timestamp("BTCUSDT", "1d"),
        "average": client.get_avg_price(symbol="BTCUSDT"),
        "book": client.get_order_book(symbol="BTCUSDT", limit=5),
        "trades": client.get_recent_trades(symbol="BTCUSDT", limit=5),
        "aggregates": client.get_aggregate_trades(symbol="BTCUSDT", startTime=START, limit=5),
        "weight": int(client.response.headers["x-mbx-used-weight-1m"]),
    }


async def read_streams() -> dict[str, object]:
    """Returns the first messages of several streams."""
    client = await AsyncClient.create()
    manager = BinanceSocketManager(client)
    names = ["btcusdt@ticker", "ethusdt@bookTicker", "btcusdt@depth5@100ms"]
    received: dict[str, object] = {}
    async with manager.multiplex_socket(names) as socket:
        while len(received) < len(names):
            message = await socket.recv()
            received[message["stream"]] = message["data"]
    for name, single in (
        ("kline", manager.kline_socket("BTCUSDT", "1m")),
        ("trade", manager.trade_socket("BTCUSDT")),
        ("all", manager.ticker_socket()),
    ):
        async with single as socket:
            received[name] = await socket.recv()
    await client.close_connection()
    return received


def read_thread() -> list[dict[str, object]]:
    """Returns the first trades that the client's thread hands over."""
    messages: queue.Queue[dict[str, object]] = queue.Queue()
    manager = ThreadedWebsocketManager()
    manager.start()
    manager.start_trade_socket(callback=messages.put, symbol="ETHUSDT")
    trades = [messages.get(timeout=30) for _ in range(3)]
    manager.stop()
    manager.join()
    return trades


answer = {"rest": read_rest(), "thread": read_thread(), "streams": asyncio.run(read_streams())}
sys.stdout.write(json.dumps(answer))
