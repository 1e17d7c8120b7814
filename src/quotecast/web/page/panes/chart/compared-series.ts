import { type IChartApi, type ISeriesApi, LineSeries } from "lightweight-charts";

import { percent } from "../../formats.ts";
import type { Candle, Interval } from "../chart-bars.ts";
import { alignCloses, changeSince } from "./compare.ts";
import type { Row } from "./legend.ts";
import type { Placed } from "./slots.ts";
import { lineColour } from "./study-series.ts";
import { timeOf } from "./times.ts";

/** An instrument beside the chart's own: its bars, and its current price. */
export interface Compared extends Placed {
  readonly key: string;
  readonly bars: readonly Candle[];
  readonly price: () => number | null;
}

interface Drawn {
  readonly compared: Compared;
  readonly line: ISeriesApi<"Line">;
  readonly colour: string;
  values: (number | null)[];
}

/** The lines of other instruments, which share the chart's scale in percent. */
export class ComparedSeries {
  #drawn: Drawn[] = [];

  constructor(
    private readonly chart: IChartApi,
    private readonly interval: Interval,
  ) {}

  get isEmpty(): boolean {
    return !this.#drawn.length;
  }

  set(all: readonly Compared[], bars: readonly Candle[]): void {
    for (const { line } of this.#drawn) this.chart.removeSeries(line);
    this.#drawn = all.map((compared) => {
      // From the end of the colours: indicators take them from the beginning.
      const tone = lineColour(5 - compared.slot);
      const line = this.chart.addSeries(LineSeries, {
        color: tone,
        lineWidth: 2,
        title: compared.key,
        priceLineVisible: false,
      });
      return { compared, line, colour: tone, values: [] };
    });
    this.load(bars);
  }

  /** Draws all again: the chart's own bars are others. */
  load(bars: readonly Candle[]): void {
    for (const drawn of this.#drawn) {
      drawn.values = alignCloses(bars, drawn.compared.bars, this.interval);
      const points = bars.map((bar, index) => ({ time: timeOf(bar), value: drawn.values[index] }));
      drawn.line.setData(points.map(({ time, value }) => (value == null ? { time } : { time, value })));
    }
  }

  /** Takes the bar at an index, the last one: the others have their current price there. */
  update(bar: Candle, index: number): void {
    for (const drawn of this.#drawn) {
      const value = drawn.compared.price() ?? drawn.values[index] ?? drawn.values[index - 1] ?? null;
      drawn.values[index] = value;
      if (value !== null) drawn.line.update({ time: timeOf(bar), value });
    }
  }

  /** Returns the changes since the left edge at a bar, for the legend. */
  rows(from: number, index: number): Row[] {
    return this.#drawn.map(({ compared, colour, values }) => ({
      label: compared.key,
      colour,
      text: percent(changeSince(values, from, index)),
    }));
  }
}
