"""ccxt's Binance: tickers, candles, trades and the book by REST."""

import json
import sys

import ccxt

URLS = {"api": {"public": f"{sys.argv[1]}/api/v3"}}
exchange = ccxt.binance({"urls": URLS, "options": {"fetchMarkets": {"types": ["spot"]}}})
candles = {
    interval: exchange.fetch_ohlcv("BTC/USDT", interval, since=int(sys.argv[2]), limit=5)
    for interval in ("1m", "6h", "1d")
}
answer = {
    "ticker": exchange.fetch_ticker("BTC/USDT"),
    "tickers": exchange.fetch_tickers(),
    "bids": exchange.fetch_bids_asks(["BTC/USDT", "ETH/USDT"]),
    "candles": candles,
    "newest": exchange.fetch_ohlcv("ETH/USDT", "1m"),
    "trades": exchange.fetch_trades("BTC/USDT", limit=10),
    "book": exchange.fetch_order_book("BTC/USDT", limit=10),
    "time": exchange.fetch_time(),
    "markets": {symbol: market["precision"]["price"] for symbol, market in exchange.markets.items()},
}
sys.stdout.write(json.dumps(answer))
