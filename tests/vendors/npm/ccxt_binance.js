// ccxt's Binance for Node: tickers and candles by REST, tickers of its WebSocket classes.

const ccxt = require("ccxt");

const [url, websocketUrl, since] = process.argv.slice(2);

async function main() {
  const exchange = new ccxt.pro.binance({
    urls: { api: { public: `${url}/api/v3`, ws: { spot: `${websocketUrl}/ws` } } },
    options: { fetchMarkets: { types: ["spot"] } },
  });
  // ccxt asks for it where an address is not encrypted.
  await exchange.loadHttpProxyAgent();
  const answer = {
    ticker: await exchange.fetchTicker("BTC/USDT"),
    tickers: await exchange.fetchTickers(["BTC/USDT", "ETH/USDT"]),
    candles: await exchange.fetchOHLCV("BTC/USDT", "1m", Number(since), 5),
    watched: [],
  };
  while (answer.watched.length < 5) {
    answer.watched.push(await exchange.watchTicker("BTC/USDT"));
  }
  await exchange.close();
  console.log(JSON.stringify(answer));
}

main();
