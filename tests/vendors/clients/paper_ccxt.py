"""ccxt's Binance or Kraken with keys: a bot that buys, waits for a limit, and sells."""

import json
import sys

import ccxt

name, url, symbol = sys.argv[1:4]
urls = {
    "binance": {"public": f"{url}/api/v3", "private": f"{url}/api/v3", "sapi": f"{url}/sapi/v1"},
    "kraken": {"public": url, "private": url, "zendesk": url},
}
options = {"fetchMarkets": {"types": ["spot"]}}
exchange = getattr(ccxt, name)(
    {"apiKey": "key", "secret": sys.argv[4], "urls": {"api": urls[name]}, "options": options}
)
exchange.load_markets()
quote = symbol.split("/")[1]
base = symbol.split("/")[0]
before = exchange.fetch_balance()
bought = exchange.create_order(symbol, "market", "buy", 0.01)
found = exchange.fetch_order(bought["id"], symbol)
far = exchange.create_order(symbol, "limit", "buy", 0.01, 1000.0)
held = exchange.fetch_balance()
waiting = exchange.fetch_open_orders(symbol)
exchange.cancel_order(far["id"], symbol)
sold = exchange.create_order(
    symbol, "market", "sell", exchange.amount_to_precision(symbol, held[base]["free"])
)
trades = exchange.fetch_my_trades(symbol)
try:
    exchange.create_order(symbol, "limit", "buy", 1000, 50_000)
    refused = ""
except ccxt.InsufficientFunds as error:
    refused = type(error).__name__
after = exchange.fetch_balance()
answer = {
    "currencies": len(exchange.currencies),
    "quote": [each[quote]["total"] for each in (before, held, after)],
    "used": held[quote]["used"],
    "base": held[base]["total"],
    "found": [found["status"], found["filled"], found["average"]],
    "waiting": [each["id"] == far["id"] for each in waiting],
    "sold": sold["id"] != "",
    "trades": [[each["side"], each["amount"], each["price"]] for each in trades],
    "refused": refused,
}
sys.stdout.write(json.dumps(answer))
