// ccxt: tickers and candles of a Kraken at the given address, as a line of JSON.
const ccxt = require("ccxt");

async function main(url) {
  const kraken = new ccxt.kraken({ urls: { api: { public: url, private: url } } });
  const markets = await kraken.loadMarkets();
  console.log(
    JSON.stringify({
      markets: Object.keys(markets).sort(),
      ticker: await kraken.fetchTicker("BTC/USD"),
      tickers: await kraken.fetchTickers(["BTC/USD", "ETH/USD", "DOGE/USD"]),
      candles: await kraken.fetchOHLCV("BTC/USD", "1h", undefined, 50),
    }),
  );
}

main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exit(1);
});
