import type { AnyBars } from "./feed-types.ts";
import type { FeedName } from "./frames.ts";

export type LiveInterval = AnyBars["interval"];

/** A bar that the service makes of a symbol's quotes; a final one never changes. */
export interface LiveBar {
  readonly key: string;
  /** Its opening, ISO 8601 in UTC. */
  readonly time: string;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  /** Null where the feed has no volume. */
  readonly volume: number | null;
  readonly updates: number;
  readonly final: boolean;
}

/** Bars that a frame brought. */
export interface BarsChange {
  readonly interval: LiveInterval;
  readonly bars: readonly LiveBar[];
  /** The end of the interval of which they are all final bars; null for bars in progress. */
  readonly closed: string | null;
  /**
   * Whether closed bars are missing: `added` of symbols that are new in the list, `all` of every symbol. They come
   * from REST with `source=own`, and a bar of this copy replaces the same bar of REST.
   */
  readonly missing: "added" | "all" | null;
}

/** Copy of a feed's live bars: the newest bar of every symbol, and up to which time final bars have come. */
export class LiveBars {
  readonly newest = new Map<string, LiveBar>();
  /** The time of the last marker of final bars; null before the first. */
  since: string | null = null;
  readonly #key: "ticker" | "symbol";
  /** Names of the values in a row. */
  #columns: readonly string[] = [];
  /** Whether the bars of this interval have begun, so that a resumption is of bars that the client has. */
  #hasBegun = false;

  constructor(
    feed: FeedName,
    public interval: LiveInterval | "none",
  ) {
    this.#key = feed === "doviz" ? "symbol" : "ticker";
  }

  /** Drops all bars, and follows those of an interval. */
  reset(interval: LiveInterval | "none"): void {
    this.interval = interval;
    this.#hasBegun = false;
    this.#clear();
  }

  /** Merges a frame and returns its bars; null for one of an interval that the client has left. */
  take(frame: AnyBars): BarsChange | null {
    const { interval, reason, closed } = frame;
    if (interval !== this.interval) return null;
    const missing = reason ? this.#begin(frame, reason) : null;
    const bars = frame.data.map((item) => this.#barOf(item as object));
    for (const bar of bars) if (!this.#isOld(bar)) this.newest.set(bar.key, bar);
    if (closed) this.since = closed.time;
    return { interval, bars, closed: closed?.time ?? null, missing };
  }

  /** Removes the bars of all other symbols. */
  retain(keys: Iterable<string>): void {
    const retained = new Set(keys);
    for (const key of this.newest.keys()) if (!retained.has(key)) this.newest.delete(key);
  }

  #begin({ columns = [] }: AnyBars, reason: NonNullable<AnyBars["reason"]>): BarsChange["missing"] {
    this.#columns = columns;
    const isNew = !this.#hasBegun;
    this.#hasBegun = true;
    if (reason === "resync" || isNew) {
      this.#clear();
      return "all";
    }
    return reason === "subscribe" ? "added" : null;
  }

  #clear(): void {
    this.newest.clear();
    this.since = null;
  }

  /** Returns whether a bar is before the newest: the final bar of a minute comes when the next one has begun. */
  #isOld({ key, time }: LiveBar): boolean {
    const known = this.newest.get(key);
    return known !== undefined && known.time > time;
  }

  #barOf(item: object): LiveBar {
    const values: Record<string, unknown> = Array.isArray(item)
      ? Object.fromEntries(item.map((value, index) => [this.#columns[index], value]))
      : { ...item };
    const { [this.#key]: key, ...rest } = values;
    return { ...rest, key } as LiveBar;
  }
}
