import type { LiveBar, LiveInterval } from "../live-bars.ts";
import { feedOf, Line, type Listener } from "./lines.ts";
import type { Bar, SymbolInfo } from "./types.ts";
import type { Udf } from "./udf.ts";

/** Resolutions whose bars the service sends live. */
export const INTERVALS: Readonly<Record<string, LiveInterval>> = {
  1: "1m",
  5: "5m",
  15: "15m",
  60: "1h",
  "1D": "D",
  D: "D",
};
/** Milliseconds between two reads of the newest bars of another resolution. */
const PERIOD_MS = 10_000;

const HALF_DAY_MS = 43_200_000;

type OnBar = (bar: Bar) => void;

/** The last bar of a chart, and whether it has anything of the history. */
interface Newest {
  readonly bar: Bar;
  readonly isLoaded: boolean;
}

/**
 * Bars of charts as they change. A live bar continues the last bar of a history, because the service may have begun
 * in the middle of that bar.
 */
export class LiveCharts {
  readonly #lines = new Map<LiveInterval, Line>();
  /** Functions that end a subscription, by its id. */
  readonly #ends = new Map<string, () => void>();
  readonly #newest = new Map<string, Newest>();

  constructor(
    private readonly address: string,
    private readonly udf: Udf,
  ) {}

  /** Notes the last bar of a history. */
  remember({ ticker }: SymbolInfo, resolution: string, bars: readonly Bar[]): void {
    const last = bars.at(-1);
    const key = keyOf(ticker, resolution);
    const known = this.#newest.get(key)?.bar;
    if (last && !(known && known.time > last.time)) this.#newest.set(key, { bar: last, isLoaded: true });
  }

  /** Calls `onBar` with bars in order of time, and `onGap` when closed bars may be missing in the chart. */
  subscribe(id: string, symbol: SymbolInfo, resolution: string, onBar: OnBar, onGap: () => void): void {
    this.unsubscribe(id);
    const interval = INTERVALS[resolution];
    const take = this.#inOrder(symbol, resolution, onBar, onGap);
    this.#ends.set(id, interval ? this.#follow(interval, symbol, take) : this.#poll(symbol, resolution, take));
  }

  unsubscribe(id: string): void {
    this.#ends.get(id)?.();
    this.#ends.delete(id);
  }

  close(): void {
    for (const id of [...this.#ends.keys()]) this.unsubscribe(id);
  }

  #inOrder(symbol: SymbolInfo, resolution: string, onBar: OnBar, onGap: () => void) {
    const key = keyOf(symbol.ticker, resolution);
    let heard = this.#newest.get(key)?.bar.time ?? 0;
    return (bar: Bar, isBroken: boolean): void => {
      const last = this.#newest.get(key);
      if (bar.time < Math.max(heard, last?.bar.time ?? 0)) return;
      if (isBroken && heard && bar.time > heard) onGap();
      heard = bar.time;
      const isLoaded = last?.bar.time === bar.time && last.isLoaded && !covers(bar, last.bar);
      const joined = isLoaded ? join(last.bar, bar) : bar;
      this.#newest.set(key, { bar: joined, isLoaded });
      // A copy: charts change the bars that they get.
      onBar({ ...joined });
    };
  }

  #follow(interval: LiveInterval, symbol: SymbolInfo, take: (bar: Bar, isBroken: boolean) => void): () => void {
    const line = this.#lines.get(interval) ?? new Line(this.address, interval);
    this.#lines.set(interval, line);
    const listener: Listener = {
      feed: feedOf(symbol),
      key: symbol.name,
      onBar: (bar, isBroken) => take(barOf(bar, interval), isBroken),
    };
    line.add(listener);
    return () => line.remove(listener);
  }

  /** Reads the last two bars again and again: the older one may have changed until its end. */
  #poll(symbol: SymbolInfo, resolution: string, take: (bar: Bar, isBroken: boolean) => void): () => void {
    const read = async (): Promise<void> => {
      const to = Math.floor(Date.now() / 1000);
      const { bars } = await this.udf.history(symbol.ticker, resolution, { from: 0, to, countback: 2 });
      for (const bar of bars) take(bar, false);
    };
    // The next read makes good for one that fails.
    const timer = setInterval(() => read().catch(() => undefined), PERIOD_MS);
    return () => clearInterval(timer);
  }
}

const keyOf = (ticker: string, resolution: string): string => `${ticker} ${resolution}`;

/** Returns whether a live bar has all that the history's bar has: then the service heard it from its beginning on. */
const covers = (bar: Bar, known: Bar): boolean =>
  bar.high >= known.high && bar.low <= known.low && (bar.volume ?? 0) >= (known.volume ?? 0);

/** Returns the bar of both: a bar that the service began late lacks the first prices. */
function join(known: Bar, bar: Bar): Bar {
  const volume = bar.volume === undefined ? known.volume : Math.max(known.volume ?? 0, bar.volume);
  return {
    time: bar.time,
    open: known.open,
    high: Math.max(known.high, bar.high),
    low: Math.min(known.low, bar.low),
    close: bar.close,
    ...(volume === undefined ? {} : { volume }),
  };
}

function barOf({ time, open, high, low, close, volume }: LiveBar, interval: LiveInterval): Bar {
  const opened = Date.parse(time);
  // Days open at midnight of a zone between UTC-12 and UTC+12; charts know them by midnight UTC of that date.
  const at = interval === "D" ? Math.floor((opened + HALF_DAY_MS) / (2 * HALF_DAY_MS)) * 2 * HALF_DAY_MS : opened;
  return { time: at, open, high, low, close, ...(volume === null ? {} : { volume }) };
}
