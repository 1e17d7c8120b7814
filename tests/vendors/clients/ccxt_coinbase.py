"""ccxt's Coinbase Exchange: tickers, candles, trades and the book by REST."""

import json
import sys

import ccxt

exchange = ccxt.coinbaseexchange({"urls": {"api": {"public": sys.argv[1]}}})
candles = {
    interval: exchange.fetch_ohlcv("BTC/USD", interval, since=int(sys.argv[2]), limit=5)
    for interval in ("1m", "6h", "1d")
}
ticker = exchange.fetch_ticker("BTC/USD")
exchange.options["fetchTickerMethod"] = "publicGetProductsIdStats"
answer = {
    "ticker": ticker,
    "stats": exchange.fetch_ticker("BTC/USD"),
    "tickers": exchange.fetch_tickers(),
    "candles": candles,
    "newest": exchange.fetch_ohlcv("ETH/USD", "1m"),
    "trades": exchange.fetch_trades("BTC/USD", limit=10),
    "book": exchange.fetch_order_book("BTC/USD"),
    "time": exchange.fetch_time(),
    "currency": exchange.currencies["BTC"]["name"],
    "markets": {symbol: market["active"] for symbol, market in exchange.markets.items()},
}
sys.stdout.write(json.dumps(answer))
