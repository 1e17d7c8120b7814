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
  /** The number of quotes in it; a bar of REST has none. */
  readonly updates?: number;
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

/** A closed bar of the service's REST answers. */
export type ClosedBar = Omit<LiveBar, "key" | "updates" | "final">;

/** Minutes of each interval; a day of the exchange has no fixed end. */
const MINUTES: Readonly<Record<LiveInterval, number>> = { "1m": 1, "5m": 5, "15m": 15, "1h": 60, D: 0 };
/** Bars of one symbol that a copy holds; the oldest make room. */
const MOST_BARS = 1000;

/** Copy of a feed's live bars: the bars of every symbol, and up to which time final bars have come. */
export class LiveBars {
  /** Bars by time, the oldest first, by symbol. */
  readonly held = new Map<string, Map<string, LiveBar>>();
  readonly newest = new Map<string, LiveBar>();
  /** How often closed bars of the list went missing; `fill` adds those of REST. */
  missed = 0;
  /** The time of the last marker of final bars; null before the first. */
  since: string | null = null;
  readonly #key: "ticker" | "symbol";
  /** Names of the values in a row. */
  #columns: readonly string[] = [];
  /** Whether the bars of this interval have begun, so that a resumption is of bars that the client has. */
  #hasBegun = false;
  #filled = 0;

  constructor(
    feed: FeedName,
    public interval: LiveInterval | "none",
  ) {
    this.#key = feed === "doviz" ? "symbol" : "ticker";
  }

  get isMissing(): boolean {
    return this.missed > this.#filled;
  }

  /** Drops all bars, and follows those of an interval. */
  reset(interval: LiveInterval | "none"): void {
    this.interval = interval;
    this.#hasBegun = false;
    this.#filled = this.missed;
    this.#clear();
  }

  /** Merges a frame and returns its bars; null for one of an interval that the client has left. */
  take(frame: AnyBars): BarsChange | null {
    const { interval, reason, closed } = frame;
    if (interval !== this.interval) return null;
    const begun = reason ? this.#begin(frame, reason) : null;
    const bars = frame.data.map((item) => this.#barOf(item as object));
    for (const bar of bars) this.#store(bar);
    if (closed) this.since = closed.time;
    const missing = closed && closed.count !== bars.length ? "all" : begun;
    if (missing) this.missed += 1;
    return { interval, bars, closed: closed?.time ?? null, missing };
  }

  /**
   * Adds closed bars of REST by symbol, which were asked for when bars had gone missing `missed` times; those of
   * frames stay. Returns the added ones.
   */
  fill(closed: Readonly<Record<string, readonly ClosedBar[]>>, missed = this.missed): LiveBar[] {
    this.#filled = Math.max(this.#filled, missed);
    const newest = Object.values(closed)
      .flatMap((bars) => bars.map(({ time }) => time))
      .sort()
      .at(-1);
    // Without a bar in progress nobody knows whether the newest one of REST has ended.
    const doubtful = this.firstInProgress() === undefined ? newest : undefined;
    const added = Object.entries(closed).flatMap(([key, bars]) =>
      bars
        .filter(({ time }) => !this.held.get(key)?.has(time))
        .map((bar): LiveBar => ({ ...bar, key, final: bar.time !== doubtful })),
    );
    for (const bar of added) this.#store(bar);
    if (!(this.isMissing || doubtful)) this.since ??= this.#endOf(newest);
    return added;
  }

  /** Returns the time of the first bar in progress, before which all bars are closed; undefined without one. */
  firstInProgress(): string | undefined {
    const bars = [...this.held.values()].flatMap((each) => [...each.values()]);
    return bars
      .filter(({ final }) => !final)
      .map(({ time }) => time)
      .sort()[0];
  }

  /** Removes the bars of a symbol. */
  remove(key: string): void {
    this.held.delete(key);
    this.newest.delete(key);
  }

  /** Removes the bars of all other symbols. */
  retain(keys: Iterable<string>): void {
    const retained = new Set(keys);
    for (const key of this.held.keys()) if (!retained.has(key)) this.remove(key);
  }

  #begin({ columns = [] }: AnyBars, reason: NonNullable<AnyBars["reason"]>): BarsChange["missing"] {
    this.#columns = columns;
    const isNew = !this.#hasBegun;
    this.#hasBegun = true;
    if (reason === "resync" || isNew) {
      this.#clear();
      return "all";
    }
    if (reason === "subscribe") return "added";
    this.#removeUnfinished();
    return null;
  }

  /** Returns the end of a bar of that time; null without one, or if days have no fixed end. */
  #endOf(time: string | undefined): string | null {
    const minutes = this.interval === "none" ? 0 : MINUTES[this.interval];
    if (!minutes || time === undefined) return null;
    return new Date(Date.parse(time) + minutes * 60_000).toISOString().replace(".000", "");
  }

  #clear(): void {
    this.held.clear();
    this.newest.clear();
    this.since = null;
  }

  #removeUnfinished(): void {
    for (const [key, bars] of this.held) {
      for (const { time, final } of bars.values()) if (!final) bars.delete(time);
      const newest = [...bars.values()].at(-1);
      if (newest) this.newest.set(key, newest);
      else this.remove(key);
    }
  }

  /** Stores a bar in order: the final bar of a minute comes when the next one has begun. */
  #store(bar: LiveBar): void {
    const { key, time } = bar;
    const held = this.held.get(key) ?? new Map<string, LiveBar>();
    const newest = this.newest.get(key);
    const isNewest = !newest || newest.time <= time;
    const isInOrder = isNewest || held.has(time);
    held.set(time, bar);
    const bars = isInOrder ? held : new Map([...held].sort(([one], [other]) => (one < other ? -1 : 1)));
    if (bars.size > MOST_BARS) bars.delete(bars.keys().next().value as string);
    this.held.set(key, bars);
    if (isNewest) this.newest.set(key, bar);
  }

  #barOf(item: object): LiveBar {
    const values: Record<string, unknown> = Array.isArray(item)
      ? Object.fromEntries(item.map((value, index) => [this.#columns[index], value]))
      : { ...item };
    const { [this.#key]: key, ...rest } = values;
    return { ...rest, key } as LiveBar;
  }
}
