"""ccxt's Alpaca: pairs by REST, and ccxt.pro's by stream."""

import asyncio
import json
import sys

import ccxt
import ccxt.pro

url, websocket_url, since = sys.argv[1], sys.argv[2], int(sys.argv[3])
options = {
    "apiKey": "key",
    "secret": "secret",
    "urls": {
        "api": {
            "trader": url,
            "market": url,
            "broker": url,
            "ws": {"crypto": f"{websocket_url}/v1beta3/crypto/us"},
        }
    },
}
exchange = ccxt.alpaca(options)
answer = {
    "ticker": exchange.fetch_ticker("BTC/USD"),
    "tickers": exchange.fetch_tickers(["BTC/USD", "ETH/USD"]),
    "all": len(exchange.fetch_tickers()),
    "candles": {
        interval: exchange.fetch_ohlcv("BTC/USD", interval, since=since, limit=5)
        for interval in ("1m", "15m", "1h", "4h", "1d")
    },
    "trades": exchange.fetch_trades("BTC/USD", since=since, limit=5),
    "book": exchange.fetch_order_book("BTC/USD"),
    "time": exchange.fetch_time(),
    "precision": exchange.market("BTC/USD")["precision"]["price"],
}


async def watched() -> dict:
    exchange = ccxt.pro.alpaca(options)
    try:
        return {
            "tickers": [await exchange.watch_ticker("BTC/USD") for _ in range(5)],
            "trades": [await exchange.watch_trades("ETH/USD") for _ in range(3)][-1],
            "book": await exchange.watch_order_book("BTC/USD"),
        }
    finally:
        await exchange.close()


answer["watched"] = asyncio.run(watched())
sys.stdout.write(json.dumps(answer) + "\n")
