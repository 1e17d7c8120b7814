import type { Bar } from "./rest-types.ts";

export type Interval = "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M";
/** The time zone in whose midnight a market's days begin. */
export type Zone = "America/New_York" | "UTC";

export interface Tick {
  readonly price: number;
  /** Unix time in milliseconds. */
  readonly at: number;
  /** Running total of the traded volume; null where the feed has none. */
  readonly volume: number | null;
  /** Whether no tick is missing between this one and the last; after a snapshot some may be. */
  readonly continues: boolean;
  /** The venue that the price is of, where the feed names one. */
  readonly venue?: string | undefined;
}

export interface BarsOptions {
  readonly interval: Interval;
  readonly zone: Zone;
  /** Returns whether the market trades at a moment (Unix milliseconds); prices outside its hours make no bars. */
  readonly trades?: (at: number) => boolean;
}

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const LENGTHS: Partial<Record<Interval, number>> = {
  "1m": MINUTE,
  "5m": 5 * MINUTE,
  "15m": 15 * MINUTE,
  "30m": 30 * MINUTE,
  "1h": HOUR,
  "4h": 4 * HOUR,
};
/** 1970 began on a Thursday. */
const DAYS_BEFORE_MONDAY = 3;

/** Returns whether bars last a day or longer: they have dates instead of times. */
export const isDaily = (interval: Interval): boolean => LENGTHS[interval] === undefined;

/**
 * Bars of one instrument: the service's history, continued by the feed's ticks.
 *
 * Days, weeks and months end at midnight in the market's time zone. When ticks may be missing `isIncomplete`
 * becomes true, until `load` replaces the history. It becomes true too when another venue takes over the feed:
 * a bar is of one venue, so the new one's ticks make no bars before `load`.
 */
export class Bars {
  isIncomplete = false;
  #bars: Bar[] = [];
  #tick: Tick | null = null;
  #venue: string | undefined;
  readonly #clock: Intl.DateTimeFormat;

  constructor(private readonly options: BarsOptions) {
    this.#clock = clockOf(options.zone);
  }

  /** Bars in ascending order; the last one may be in progress. */
  get all(): readonly Bar[] {
    return this.#bars;
  }

  /** Replaces the history with the service's bars; newer bars that ticks made stay. */
  load(history: readonly Bar[]): void {
    const last = history.at(-1);
    const end = last ? this.#numberOf(last) : -Infinity;
    const newer: Bar[] = [];
    for (let bar = this.#bars.pop(); bar && this.#numberOf(bar) >= end; bar = this.#bars.pop()) newer.unshift(bar);
    const same = last && newer[0] && this.#numberOf(newer[0]) === end ? [mergeTicked(last, newer.shift() as Bar)] : [];
    this.#bars = [...history.slice(0, same.length ? -1 : undefined), ...same, ...newer];
    this.isIncomplete = false;
    this.#tick = null;
  }

  /** Adds a tick and returns the bar that it changed or opened; null for a tick outside every bar. */
  take(tick: Tick): Bar | null {
    if (this.#venue !== undefined && tick.venue !== this.#venue) [this.#bars, this.isIncomplete] = [[], true];
    this.#venue = tick.venue;
    const last = this.#bars.at(-1);
    const { trades = () => true } = this.options;
    if (!last || !trades(tick.at) || tick.at < Date.parse(last.time)) return null;
    const step = this.#number(tick.at) - this.#numberOf(last);
    if (step > 1 || (this.#tick && !tick.continues)) this.isIncomplete = true;
    const volume = this.#volumeOf(tick, step);
    this.#tick = tick;
    const bar = step > 0 ? this.#openBar(tick, volume) : extendBar(last, tick, volume);
    if (step === 0) this.#bars.pop();
    this.#bars.push(bar);
    return bar;
  }

  /** Volume since the last tick; 0 where part of it may belong to another bar. */
  #volumeOf(tick: Tick, step: number): number {
    const before = this.#tick?.volume;
    if (!tick.continues || step > 1 || tick.volume === null || before === null || before === undefined) return 0;
    // A pair's volume is of the last 24 hours, which may shrink.
    return Math.max(0, tick.volume - before);
  }

  #openBar({ at, price }: Tick, volume: number): Bar {
    const length = LENGTHS[this.options.interval];
    const midnight = this.#midnight(at);
    const opened = length === undefined ? midnight : at - ((at - midnight) % length);
    const time = new Date(opened).toISOString().replace(".000", "");
    return { time, open: price, high: price, low: price, close: price, volume };
  }

  #numberOf(bar: Bar): number {
    return this.#number(Date.parse(bar.time));
  }

  /** The number of the bar that holds a moment; consecutive bars have consecutive numbers. */
  #number(at: number): number {
    const { interval } = this.options;
    const length = LENGTHS[interval];
    if (length !== undefined) {
      const midnight = this.#midnight(at);
      return midnight / length + Math.floor((at - midnight) / length);
    }
    const date = new Date(this.#local(at));
    if (interval === "M") return 12 * date.getUTCFullYear() + date.getUTCMonth();
    const day = Math.floor(date.getTime() / DAY);
    return interval === "W" ? Math.floor((day + DAYS_BEFORE_MONDAY) / 7) : day;
  }

  /** The midnight before a moment, in the market's time zone. */
  #midnight(at: number): number {
    const local = this.#local(at);
    const guess = at - (local % DAY);
    // On the day of a clock change the guess is an hour off.
    const off = this.#local(guess) % DAY;
    return off === 0 ? guess : guess - (off > DAY / 2 ? off - DAY : off);
  }

  /** A moment as if the clocks of the market's zone showed UTC. */
  #local(at: number): number {
    if (this.options.zone === "UTC") return at;
    const parts = Object.fromEntries(this.#clock.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day, hour, minute, second } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) + (at % 1000);
  }
}

function clockOf(timeZone: Zone): Intl.DateTimeFormat {
  const [number, short] = ["numeric", "2-digit"] as const;
  return new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: number,
    month: short,
    day: short,
    hour: short,
    minute: short,
    second: short,
  });
}

const extendBar = (bar: Bar, { price }: Tick, volume: number): Bar => ({
  ...bar,
  high: Math.max(bar.high, price),
  low: Math.min(bar.low, price),
  close: price,
  volume: bar.volume + volume,
});

/** The service's bar, with the high and the low of newer ticks. */
const mergeTicked = (bar: Bar, ticked: Bar): Bar => ({
  ...bar,
  high: Math.max(bar.high, ticked.high),
  low: Math.min(bar.low, ticked.low),
});
