import type { FeedName } from "quotecast-client";
import { ATR, BollingerBands, EMA, MACD, RSI, SMA, VWAP } from "trading-signals";
import { at, type Candle, type Interval, isDaily } from "../chart-bars.ts";
import type { Kind, Spec } from "./specs.ts";
import { dayOf } from "./zones.ts";

/** The values of an indicator's lines at one bar; null before it has enough bars. */
export type Values = readonly (number | null)[];

/** An indicator that takes bars one by one; `replace` takes the last bar again, after a change. */
interface Machine {
  update(bar: Candle, replace: boolean): Values;
}

type Numbers = readonly [number, number, number];

/** Returns the day of a moment; null for bars of a day or longer, which have no VWAP. */
type DayAt = ((moment: number) => string) | null;

const MACHINES: Record<Kind, (numbers: Numbers, dayAt: DayAt) => Machine> = {
  sma: ([length]) => closing(new SMA(length)),
  ema: ([length]) => closing(new EMA(length)),
  rsi: ([length]) => closing(new RSI(length)),
  atr: ([length]) => {
    const atr = new ATR(length);
    return { update: ({ high, low, close }, replace) => [atr.update({ high, low, close }, replace)] };
  },
  bollinger: ([length, deviations]) => {
    const bands = new BollingerBands(length, deviations);
    return {
      update: ({ close }, replace) => {
        const found = bands.update(close, replace);
        return found ? [found.upper, found.middle, found.lower] : [null, null, null];
      },
    };
  },
  macd: ([fast, slow, signal]) => {
    const macd = new MACD(new EMA(Math.min(fast, slow)), new EMA(Math.max(fast, slow)), new EMA(signal));
    return {
      update: ({ close }, replace) => {
        const found = macd.update(close, replace);
        return found ? [found.macd, found.signal, found.histogram] : [null, null, null];
      },
    };
  },
  vwap: (_, dayAt) => (dayAt ? new DailyVwap(dayAt) : { update: () => [null] }),
};

interface OfCloses {
  readonly isStable: boolean;
  update(price: number, replace: boolean): number | null;
}

/** An EMA has a value from the first bar on; it counts once it has seen its whole length. */
const closing = (indicator: OfCloses): Machine => ({
  update: ({ close }, replace) => {
    const value = indicator.update(close, replace);
    return [indicator.isStable ? value : null];
  },
});

/** VWAP that begins again with each day of the exchange. */
class DailyVwap implements Machine {
  #vwap = new VWAP();
  #day = "";
  /** Whether the last bar is in the sums: the library leaves out bars without volume. */
  #isCounted = false;
  #value: number | null = null;

  constructor(private readonly dayAt: (moment: number) => string) {}

  update({ time, high, low, close, volume }: Candle, replace: boolean): Values {
    const day = this.dayAt(Date.parse(time));
    if (day !== this.#day) {
      this.#vwap = new VWAP();
      this.#day = day;
      this.#isCounted = false;
      this.#value = null;
    }
    if (!volume) {
      // A bar that lost its volume is not removed from the sums: volumes of a bar only grow.
      if (!replace) this.#isCounted = false;
      return [this.#value];
    }
    this.#value = this.#vwap.update({ high, low, close, volume }, replace && this.#isCounted);
    this.#isCounted = true;
    return [this.#value];
  }
}

/** An indicator of a chart's bars; a tick costs one step, whatever the number of bars. */
export class Study {
  #machine!: Machine;
  #last = -Infinity;

  constructor(
    readonly spec: Spec,
    private readonly feed: FeedName,
    private readonly interval: Interval,
  ) {}

  /** Returns the values at all bars. */
  load(bars: readonly Candle[]): Values[] {
    const [first = 0, second = 0, third = 0] = this.spec.numbers;
    const dayAt = isDaily(this.interval) ? null : (moment: number) => dayOf(this.feed, moment);
    this.#machine = MACHINES[this.spec.kind]([first, second, third], dayAt);
    const values = bars.map((bar) => this.#machine.update(bar, false));
    const last = bars.at(-1);
    this.#last = last ? at(last) : -Infinity;
    return values;
  }

  /** Returns the values at a bar that is the last one or follows it; null for an older bar: load again. */
  take(bar: Candle): Values | null {
    const opened = at(bar);
    if (opened < this.#last) return null;
    const replace = opened === this.#last;
    this.#last = opened;
    return this.#machine.update(bar, replace);
  }
}
