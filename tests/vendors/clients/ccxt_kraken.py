"""ccxt: tickers and candles of a Kraken at the given address, as a line of JSON."""

import json
import sys

import ccxt

kraken = ccxt.kraken({"urls": {"api": {"public": sys.argv[1], "private": sys.argv[1]}}})
sys.stdout.write(
    json.dumps(
        {
            "markets": sorted(kraken.load_markets()),
            "status": kraken.fetch_status()["status"],
            "ticker": kraken.fetch_ticker("BTC/USD"),
            "tickers": kraken.fetch_tickers(["BTC/USD", "ETH/USD", "DOGE/USD"]),
            "candles": kraken.fetch_ohlcv("BTC/USD", "1h", limit=50),
            "trades": kraken.fetch_trades("BTC/USD", limit=20),
            "book": kraken.fetch_order_book("BTC/USD", 10),
        }
    )
)
