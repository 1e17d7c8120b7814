import type { Place } from "./names.ts";
import type { Page, Rest } from "./rest.ts";
import type { Bar, DovizBar } from "./rest-types.ts";

/** A bar of the past; volume is null where the feed has none. */
export type HistoryBar = Bar | DovizBar;

export interface BarsOptions {
  /** One hour by default. */
  readonly interval?: "1m" | "5m" | "15m" | "1h" | "4h" | "D" | "W" | "M";
  /** Bars that open from this moment on, ISO 8601; without it the newest ones. */
  readonly start?: string;
  /** Bars that open before this moment, ISO 8601. */
  readonly end?: string;
  /** Bars at most: 500 by default, and without bound after a start. */
  readonly limit?: number;
  /** `own` asks for bars of the service's own making. */
  readonly source?: "own";
}

const [PAGE, NEWEST] = [1000, 500];
/** The ranges to which the newest bars of stocks reach back. */
const RANGES = { "1m": "5D", "5m": "1M", "15m": "3M", "1h": "1Y", "4h": "1Y", D: "5Y", W: "5Y", M: "5Y" } as const;

/** Returns bars of a symbol, the oldest first: those of a span, or the newest. */
export async function readBars(
  rest: Rest,
  { feed, symbol }: Place,
  { interval = "1h", start, end, limit = start ? Number.POSITIVE_INFINITY : NEWEST, source }: BarsOptions,
): Promise<HistoryBar[]> {
  const span = { ...(start ? { start } : {}), ...(end ? { end } : {}), ...(source ? { source } : {}) };
  const order = start ? ("asc" as const) : ("desc" as const);
  const read = (page: string | null): Promise<Page<HistoryBar[]>> => {
    const query = { ...span, order, limit: Math.min(limit, PAGE), ...(page ? { page } : {}) };
    const path = { symbol };
    if (feed !== "market")
      return rest.page(`GET /api/${feed}/bars/{symbol}`, { path, query: { ...query, timeframe: interval } });
    const newest = start ? query : { ...query, range: RANGES[interval] };
    return rest.page("GET /api/market/bars/{symbol}", { path, query: { ...newest, interval } });
  };
  const bars: HistoryBar[] = [];
  let page: string | null = null;
  do {
    const { data, next } = await read(page);
    bars.push(...data);
    page = next;
  } while (page !== null && bars.length < limit);
  const found = bars.slice(0, limit);
  return start ? found : found.reverse();
}
