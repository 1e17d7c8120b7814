import type { Bar, LiveBar, LiveInterval } from "quotecast-client";

export type Interval = LiveInterval | "30m" | "4h" | "W" | "M";

/** A bar of any feed; it has no volume where the feed has none. */
export interface Candle extends Omit<Bar, "volume"> {
  readonly volume?: number | null;
}

/** The live bars that a chart follows: of its own interval, or shorter ones that extend its last bar. */
export const LIVE_INTERVAL: Record<Interval, LiveInterval> = {
  "1m": "1m",
  "5m": "5m",
  "15m": "15m",
  "30m": "15m",
  "1h": "1h",
  "4h": "1h",
  D: "D",
  W: "D",
  M: "D",
};

/** Minutes of a bar, of the longest one for months. */
export const MINUTES: Record<Interval, number> = {
  "1m": 1,
  "5m": 5,
  "15m": 15,
  "30m": 30,
  "1h": 60,
  "4h": 240,
  D: 1440,
  W: 10_080,
  M: 44_640,
};

/** Returns whether bars last a day or longer: they have dates instead of times. */
export const isDaily = (interval: Interval): boolean => LIVE_INTERVAL[interval] === "D";

/** Returns the opening of a bar, in Unix milliseconds. */
export const at = (bar: Candle): number => Date.parse(bar.time);

const opened = (bar: Candle | undefined): number => (bar ? at(bar) : -Infinity);

/**
 * Bars of one instrument: the service's history, continued by the feed's live bars.
 *
 * `isIncomplete` becomes true when only the service may have some of the bars, until `load` replaces the history.
 */
export class ChartBars {
  isIncomplete = false;
  #bars: Candle[] = [];
  /** Opening of the shorter live bar that extends the last bar; null before the first one after a load. */
  #piece: string | null = null;
  /** Opening of the first bar that came live: that and later ones are the feed's alone. */
  #livesFrom = Infinity;
  readonly #isLive: boolean;

  constructor(interval: Interval) {
    this.#isLive = LIVE_INTERVAL[interval] === interval;
  }

  /** Bars in ascending order; the last one may be in progress. */
  get all(): readonly Candle[] {
    return this.#bars;
  }

  /**
   * Replaces the history; live bars that are newer stay, and older ones if no bar is missing between.
   *
   * The history's last bar has the current price, and those before it may come from a cache: live bars between
   * its last two bars stay, too.
   */
  load(history: readonly Candle[]): void {
    const last = history.at(-1);
    const [begin, settled, end] = [opened(history[0]), opened(history.at(-2)), opened(last)];
    const live = this.#isLive ? this.#bars : [];
    const meets = this.#bars.some((bar) => at(bar) === begin);
    const older = meets ? this.#bars.filter((bar) => at(bar) < begin) : [];
    const between = settled === -Infinity ? [] : live.filter((bar) => at(bar) > settled && at(bar) < end);
    const newer = live.filter((bar) => at(bar) >= end);
    this.#bars = [...older, ...history.slice(0, -1), ...between, ...(last ? [last] : [])];
    this.#livesFrom = Infinity;
    for (const bar of newer) this.#put(bar);
    this.#piece = null;
    this.isIncomplete = false;
  }

  /** Adds bars that are older than all others. */
  prepend(older: readonly Candle[]): void {
    const first = this.#bars[0];
    this.#bars = [...older.filter((bar) => !first || at(bar) < at(first)), ...this.#bars];
  }

  /** Returns the bars that open at a time (Unix milliseconds) or later. */
  since(opened: number): readonly Candle[] {
    return this.#bars.slice(this.#bars.findLastIndex((bar) => at(bar) < opened) + 1);
  }

  /**
   * Takes a live bar and returns the bar that it changes or adds; null if there is none.
   *
   * `isFirst` says that live bars before it may be missing.
   */
  take(live: LiveBar, isFirst: boolean): Candle | null {
    return this.#isLive ? this.#takeBar(live, isFirst) : this.#takePiece(live, isFirst);
  }

  #takeBar(live: LiveBar, isFirst: boolean): Candle | null {
    const last = this.#bars.at(-1);
    if (isFirst && (!last || at(live) > at(last))) this.isIncomplete = true;
    const { time, open, high, low, close, volume } = live;
    return this.#put({ time, open, high, low, close, volume });
  }

  /** Extends the last bar; only the service says whether the next piece belongs to another bar. */
  #takePiece(piece: LiveBar, isFirst: boolean): Candle | null {
    if (piece.final && piece.time !== this.#piece) return null;
    const last = this.#bars.at(-1);
    const isNext = this.#piece !== null && piece.time !== this.#piece;
    this.#piece ??= piece.time;
    if (isFirst || isNext || !last) this.isIncomplete = true;
    if (isNext || !last) return null;
    const { high, low, close } = piece;
    return this.#put({ ...last, high: Math.max(last.high, high), low: Math.min(last.low, low), close });
  }

  /** Adds a bar, or continues the bar of its time with it; ignores one that would come between others. */
  #put(bar: Candle): Candle | null {
    const opened = at(bar);
    const index = this.#bars.findLastIndex((each) => at(each) <= opened);
    const known = this.#bars[index];
    if (known && at(known) === opened) {
      const changed = opened >= this.#livesFrom || covers(bar, known) ? bar : mergeBars(known, bar);
      this.#bars[index] = changed;
      return changed;
    }
    if (index < this.#bars.length - 1) return null;
    this.#bars.push(bar);
    this.#livesFrom = Math.min(this.#livesFrom, opened);
    return bar;
  }
}

/** Returns whether a live bar has all that the history's bar has: then the feed heard it from its beginning on. */
const covers = (bar: Candle, known: Candle): boolean =>
  bar.high >= known.high && bar.low <= known.low && (bar.volume ?? 0) >= (known.volume ?? 0);

/** A history may know the beginning of a bar that the feed does not, so a bar never shrinks. */
const mergeBars = (known: Candle, bar: Candle): Candle => ({
  ...bar,
  open: known.open,
  high: Math.max(known.high, bar.high),
  low: Math.min(known.low, bar.low),
  volume: bar.volume == null ? known.volume : Math.max(known.volume ?? 0, bar.volume),
});
