import type { Copy } from "./copy.ts";
import type { FeedName } from "./frames.ts";
import type { ClosedBar, LiveInterval } from "./live-bars.ts";
import type { Rest } from "./rest.ts";

/** Symbols of one request. */
const BATCH = 50;
/** The ranges to which closed bars of stocks reach back; the others have the newest hundred. */
const RANGES = { "1m": "1D", "5m": "5D", "15m": "5D", "1h": "1M", D: "6M" } as const;

/** Returns the closed bars before the live ones of a copy, by symbol. */
export async function readClosedBars(rest: Rest, feed: FeedName, copy: Copy): Promise<Record<string, ClosedBar[]>> {
  const symbols = [...copy.quotes.keys()];
  const interval = copy.bars.interval as LiveInterval;
  const end = copy.bars.firstInProgress();
  const span = { source: "own", ...(end ? { end } : {}) } as const;
  const answers = Array.from({ length: Math.ceil(symbols.length / BATCH) }, (_, part) => {
    const query = { ...span, symbols: symbols.slice(part * BATCH, (part + 1) * BATCH).join() };
    return feed === "market"
      ? rest.call("GET /api/market/bars", { query: { ...query, interval, range: RANGES[interval] } })
      : rest.call(`GET /api/${feed}/bars`, { query: { ...query, timeframe: interval } });
  });
  return Object.assign({}, ...(await Promise.all(answers)));
}
