// ccxt's Alpaca: pairs by REST.
"use strict";
const ccxt = require("ccxt");

const [url, since] = process.argv.slice(2);

async function main() {
  const api = { trader: url, market: url, broker: url };
  const exchange = new ccxt.alpaca({ apiKey: "key", secret: "secret", urls: { api } });
  const found = {
    ticker: await exchange.fetchTicker("BTC/USD"),
    tickers: await exchange.fetchTickers(["BTC/USD", "ETH/USD"]),
    candles: await exchange.fetchOHLCV("BTC/USD", "1h", Number(since), 5),
  };
  process.stdout.write(JSON.stringify(found) + "\n", () => process.exit(0));
}

main().catch((error) => {
  process.stderr.write(`${error.stack ?? error}\n`, () => process.exit(1));
});
