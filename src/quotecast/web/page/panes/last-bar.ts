import type { Bar } from "../../client/index.ts";

/** The length of a bar in seconds; of days and longer null: their next one begins with a session. */
export const SECONDS: Record<string, number | null> = {
  "1m": 60, "5m": 300, "15m": 900, "30m": 1800, "1h": 3600, "4h": 14_400, D: null, W: null, M: null,
};

export interface Tick {
  readonly price: number;
  /** Unix time in seconds. */
  readonly at: number;
  /** What was traded since the tick before. */
  readonly volume: number;
}

/** The bar in progress after a tick: the last one grown, or the one after it. */
export function lastBar(last: Bar, tick: Tick, interval: string): Bar {
  const seconds = SECONDS[interval] ?? null;
  const opened = Date.parse(last.time) / 1000;
  const steps = seconds === null ? 0 : Math.floor((tick.at - opened) / seconds);
  if (steps < 1 || seconds === null) return grown(last, tick);
  const time = new Date((opened + steps * seconds) * 1000).toISOString();
  return { time, open: tick.price, high: tick.price, low: tick.price, close: tick.price, volume: tick.volume };
}

function grown(bar: Bar, { price, volume }: Tick): Bar {
  return { ...bar, high: Math.max(bar.high, price), low: Math.min(bar.low, price), close: price, volume: bar.volume + volume };
}
