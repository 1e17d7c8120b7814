// ccxt's Coinbase Exchange for Node: tickers and candles by REST, tickers of its WebSocket classes.

const ccxt = require("ccxt");

const [url, websocketUrl, since] = process.argv.slice(2);

async function main() {
  const exchange = new ccxt.pro.coinbaseexchange({ urls: { api: { public: url, ws: websocketUrl } } });
  // ccxt asks for it where an address is not encrypted.
  await exchange.loadHttpProxyAgent();
  const answer = {
    ticker: await exchange.fetchTicker("BTC/USD"),
    tickers: await exchange.fetchTickers(["BTC/USD", "ETH/EUR"]),
    candles: await exchange.fetchOHLCV("BTC/USD", "1m", Number(since), 5),
    watched: [],
  };
  while (answer.watched.length < 5) {
    answer.watched.push(await exchange.watchTicker("BTC/USD"));
  }
  await exchange.close();
  console.log(JSON.stringify(answer));
}

main();
