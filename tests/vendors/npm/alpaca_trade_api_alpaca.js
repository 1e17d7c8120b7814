// @alpacahq/alpaca-trade-api against a simulated Alpaca: REST of stocks, pairs, news and the broker, and streams.
"use strict";
const { marketData, trading, streaming, Alpaca } = require("@alpacahq/alpaca-trade-api");

const [url, websocketUrl, start, end] = process.argv.slice(2);
const keys = { keyId: "key", secret: "secret" };
const data = new marketData.Configuration({ ...keys, basePath: url });
const broker = new trading.Configuration({ ...keys, basePath: url });
const WANTED = 10;

async function rest() {
  const stocks = new marketData.StockApi(data);
  const span = { start: new Date(start), end: new Date(end) };
  const pages = [];
  let pageToken;
  do {
    const page = await stocks.stockBars({ symbols: "AAPL,MSFT", timeframe: "15Min", limit: 7, pageToken, ...span });
    pages.push(page.bars);
    pageToken = page.nextPageToken ?? undefined;
  } while (pageToken);
  const assets = await new trading.AssetsApi(broker).getV2AssetsSymbolOrAssetId({ symbolOrAssetId: "AAPL" });
  return {
    pages,
    snapshots: await stocks.stockSnapshots({ symbols: "AAPL,MSFT" }),
    latest: (await stocks.stockLatestTradeSingle({ symbol: "AAPL" })).trade.p,
    pairs: (await new marketData.CryptoApi(data).cryptoBars({ loc: "us", symbols: "BTC/USD", timeframe: "1Hour", ...span })).bars,
    news: (await new marketData.NewsApi(data).news({ limit: 3 })).news.map((story) => story.headline),
    clock: await new trading.ClockApi(broker).legacyClock(),
    asset: assets.name,
  };
}

function stream(options, subscribe) {
  return new Promise((resolve, reject) => {
    const found = { trades: [], quotes: [], bars: [] };
    const client = options.client;
    const note = (name) => (message) => {
      found[name].push(message);
      if (found.trades.length >= WANTED && found.quotes.length >= WANTED) {
        client.disconnect();
        resolve(found);
      }
    };
    client.onTrade(note("trades"));
    client.onQuote(note("quotes"));
    client.onError(reject);
    client.onConnect(() => subscribe(client));
    client.connect();
  });
}

async function main() {
  const alpaca = new Alpaca(keys);
  const stocks = alpaca.marketData.stockStream({ url: `${websocketUrl}/v2/iex` });
  const pairs = alpaca.marketData.cryptoStream({ url: `${websocketUrl}/v1beta3/crypto/us` });
  const found = {
    rest: await rest(),
    stocks: await stream({ client: stocks }, (client) => {
      client.subscribeForTrades(["AAPL", "MSFT"]);
      client.subscribeForQuotes(["AAPL"]);
    }),
    pairs: await stream({ client: pairs }, (client) => {
      client.subscribeForTrades(["BTC/USD"]);
      client.subscribeForQuotes(["*"]);
    }),
  };
  process.stdout.write(JSON.stringify(found) + "\n", () => process.exit(0));
}

main().catch((error) => {
  process.stderr.write(`${error.stack ?? error}\n`, () => process.exit(1));
});
