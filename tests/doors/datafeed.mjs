// Prints what a chart and a watchlist show: node datafeed.mjs <address> <ticker>...
import { Datafeed } from "quotecast-client/tradingview";

const [address, ...tickers] = process.argv.slice(2);
const datafeed = new Datafeed({ address });
const print = (name, price) => console.log(JSON.stringify([name, price]));

datafeed.subscribeQuotes(tickers, [], (quotes) => quotes.forEach(({ v }) => print(v.short_name, v.lp)), "list");
for (const ticker of tickers) {
  datafeed.resolveSymbol(ticker, (info) => {
    const load = (onLoaded) => {
      const to = Math.ceil(Date.now() / 1000) + 60;
      const period = { from: 0, to, countBack: 2, firstDataRequest: true };
      datafeed.getBars(info, "1", period, () => onLoaded?.(), () => setTimeout(load, 100));
    };
    const follow = () => datafeed.subscribeBars(info, "1", ({ close }) => print(`bar ${info.name}`, close), ticker, load);
    load(follow);
  }, console.error);
}
