"""ccxt's WebSocket classes for Coinbase Exchange: tickers, trades and the book."""

import asyncio
import json
import sys

import ccxt.pro

URLS = {"api": {"public": sys.argv[1], "ws": sys.argv[2]}}
LOGIN = {"apiKey": "key", "secret": "c2VjcmV0", "password": "passphrase"}


async def main() -> None:
    """Prints what the feed sent."""
    exchange = ccxt.pro.coinbaseexchange({"urls": URLS, **LOGIN})
    try:
        tickers = [await exchange.watch_ticker("BTC/USD") for _ in range(5)]
        trades = [(await exchange.watch_trades("ETH/USD"))[-1] for _ in range(3)]
        book = {}
        for _ in range(3):
            book = await exchange.watch_order_book("BTC/USD")
        answer = {"tickers": tickers, "trades": trades, "bids": book["bids"], "asks": book["asks"]}
        sys.stdout.write(json.dumps(answer))
    finally:
        await exchange.close()


asyncio.run(main())
