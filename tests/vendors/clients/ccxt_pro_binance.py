"""ccxt's WebSocket classes for Binance: tickers, trades, candles and the book."""

import asyncio
import json
import sys

import ccxt.pro

URLS = {"api": {"public": f"{sys.argv[1]}/api/v3", "ws": {"spot": f"{sys.argv[2]}/ws"}}}


async def main() -> None:
    """Prints what the streams sent."""
    exchange = ccxt.pro.binance({"urls": URLS, "options": {"fetchMarkets": {"types": ["spot"]}}})
    try:
        tickers = [await exchange.watch_ticker("BTC/USDT") for _ in range(5)]
        trades = [(await exchange.watch_trades("ETH/USDT"))[-1] for _ in range(3)]
        candles = await exchange.watch_ohlcv("BTC/USDT", "1m")
        books = []
        for _ in range(4):
            book = await exchange.watch_order_book("BTC/USDT")
            books.append([book["bids"][0][0], book["asks"][0][0], len(book["bids"])])
        answer = {"tickers": tickers, "trades": trades, "candles": candles, "books": books}
        sys.stdout.write(json.dumps(answer))
    finally:
        await exchange.close()


asyncio.run(main())
