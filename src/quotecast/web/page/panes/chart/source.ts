import { ApiError, type Page, RateLimited } from "quotecast-client";
import type { Instrument } from "../../instruments.ts";
import { rest } from "../../service.ts";
import { at, type Candle, type Interval } from "../chart-bars.ts";
import type { AskPage, PageOfBars } from "./past.ts";
import { countOf, longestOf, type Range, startOf } from "./ranges.ts";
import type { Session } from "./session.ts";

/** Bars of one page of the past: the most that the service sends. */
const PAGE = 1000;
const ERROR_SECONDS = 5;

/** Returns how to ask the service for the bars of an instrument before a time. */
export const askPage =
  ({ feed, key }: Instrument, interval: Interval, session?: Session): AskPage =>
  async (end, page): Promise<PageOfBars> => {
    const [path, common] = [{ symbol: key }, { end, page: page ?? undefined, limit: PAGE, order: "desc" as const }];
    if (feed === "market") {
      const query = {
        ...common,
        interval: interval as Exclude<Interval, "30m">,
        session,
        range: longestOf(feed, interval),
      };
      const { data: bars, next } = await rest.page("GET /api/market/bars/{symbol}", { path, query });
      return { bars, next };
    }
    const query = { ...common, timeframe: interval };
    const { data: bars, next } =
      feed === "crypto"
        ? await rest.page("GET /api/crypto/bars/{symbol}", { path, query })
        : await rest.page("GET /api/doviz/bars/{symbol}", { path, query });
    return { bars, next };
  };

/** Returns the bars of a range that ends now. */
export async function askRange(
  instrument: Instrument,
  range: Range,
  interval: Interval,
  session: Session,
): Promise<Page<readonly Candle[]>> {
  const path = { symbol: instrument.key };
  if (instrument.feed === "market") {
    const query = { range, interval: interval as Exclude<Interval, "30m">, session };
    return rest.page("GET /api/market/bars/{symbol}", { path, query });
  }
  const count = countOf(range, interval);
  const query = { timeframe: interval, limit: Math.min(count, PAGE) };
  const newest: Page<readonly Candle[]> =
    instrument.feed === "crypto"
      ? await rest.page("GET /api/crypto/bars/{symbol}", { path, query })
      : await rest.page("GET /api/doviz/bars/{symbol}", { path, query });
  const ask = askPage(instrument, interval);
  let bars = newest.data;
  for (let last = bars.length; last === PAGE && bars.length < count; ) {
    const { bars: older } = await ask(bars[0]?.time, null);
    bars = [...[...older].reverse(), ...bars];
    last = older.length;
  }
  // Of the newest bar, not of now: on a day without trades the range would be empty.
  const last = bars.at(-1);
  const start = last ? startOf(range, at(last)) : 0;
  return { ...newest, data: bars.filter((bar) => at(bar) >= start) };
}

/** Returns the seconds until a request may be repeated: as the service says when it is busy; null for never. */
export function waitAfter(error: unknown): number | null {
  if (error instanceof RateLimited) return Math.max(1, error.retryAfter);
  return error instanceof ApiError && error.status < 500 ? null : ERROR_SECONDS;
}

/** Calls back after some seconds; the returned function ends that. */
export function later(callback: () => void, seconds: number): () => void {
  const timer = setTimeout(callback, seconds * 1000);
  return () => clearTimeout(timer);
}
