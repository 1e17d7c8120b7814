import {
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  LineSeries,
  LineStyle,
  PriceScaleMode,
  type UTCTimestamp,
} from "lightweight-charts";

import { plain } from "../../formats.ts";
import { colour } from "../../theme.ts";
import type { Candle } from "../chart-bars.ts";
import type { Row } from "./legend.ts";
import { OverlayLines } from "./overlay-lines.ts";
import { writePrice } from "./prices.ts";
import { LINES, labelOf, ON_PRICES, type Spec } from "./specs.ts";
import type { Study, Values } from "./studies.ts";
import { timeOf } from "./times.ts";

type Line = ISeriesApi<"Line"> | ISeriesApi<"Histogram">;

interface Drawn {
  readonly study: Study;
  /** The lines below the prices; none of an indicator over them. */
  readonly lines: readonly Line[];
  readonly colour: string;
  values: Values[];
}

/** Number of colours for lines in the style sheet. */
const COLOURS = 6;
/** Share of a chart's height that its prices have, where another pane has one. */
const PRICES_SHARE = 3;
/** Options of the scales below the prices, which have a mode of their own. */
const BELOW = { mode: PriceScaleMode.Normal, scaleMargins: { top: 0.12, bottom: 0.08 } };

export const lineColour = (index: number): string => colour(`study-${(index % COLOURS) + 1}`);

/** The lines of a chart's indicators: over the prices, or each in a pane below. */
export class StudySeries {
  #drawn: Drawn[] = [];
  readonly #overlays: OverlayLines;

  constructor(
    private readonly chart: IChartApi,
    candles: ISeriesApi<"Candlestick">,
    private readonly tick: () => number | null,
  ) {
    this.#overlays = new OverlayLines(chart, candles);
  }

  /** Replaces all indicators. */
  set(studies: readonly Study[], bars: readonly Candle[]): void {
    for (const { lines } of this.#drawn) for (const line of lines) this.chart.removeSeries(line);
    let pane = 0;
    this.#drawn = studies.map((study) => {
      const tone = lineColour(study.spec.slot);
      const lines = ON_PRICES.has(study.spec.kind) ? [] : this.#linesOf(study.spec, tone, ++pane);
      return { study, lines, colour: tone, values: [] };
    });
    this.chart.panes()[0]?.setStretchFactor(PRICES_SHARE);
    for (const below of this.chart.panes().slice(1)) below.setStretchFactor(1);
    for (const { lines } of this.#drawn) lines[0]?.priceScale().applyOptions(BELOW);
    this.load(bars);
  }

  /** Computes everything again: the bars are others. */
  load(bars: readonly Candle[]): void {
    for (const drawn of this.#drawn) {
      drawn.values = drawn.study.load(bars);
      drawn.lines.forEach((line, index) => {
        line.setData(bars.map((bar, at) => point(bar, drawn.values[at]?.[index] ?? null)));
      });
    }
    this.#overlays.set(this.#drawn.filter(({ lines }) => !lines.length));
  }

  /** Takes the bar at an index: the last one, or one that follows. */
  update(bar: Candle, index: number, bars: readonly Candle[]): void {
    for (const drawn of this.#drawn) {
      const values = drawn.study.take(bar);
      if (!values) {
        this.load(bars);
        return;
      }
      drawn.values[index] = values;
      drawn.lines.forEach((line, each) => {
        line.update(point(bar, values[each] ?? null));
      });
    }
    this.#overlays.refresh();
  }

  /** Returns the values at a bar, for the legend. */
  rows(index: number): Row[] {
    return this.#drawn.map(({ study: { spec }, colour: tone, values }) => {
      const write = (value: number | null) =>
        value === null ? "–" : ON_PRICES.has(spec.kind) ? writePrice(value, this.tick()) : plain(round(value));
      const texts = (values[index] ?? LINES[spec.kind].map(() => null)).map(write);
      return { label: labelOf(spec), colour: tone, text: texts.join("  ") };
    });
  }

  #linesOf(spec: Spec, color: string, pane: number): Line[] {
    return LINES[spec.kind].map((name, line) => {
      const common = {
        priceLineVisible: false,
        lastValueVisible: line === 0,
        title: line === 0 ? labelOf(spec) : "",
        priceFormat: { type: "custom", minMove: 1e-8, formatter: (value: number) => plain(round(value)) },
      } as const;
      if (name === "±") return this.chart.addSeries(HistogramSeries, { ...common, color: colour("quiet") }, pane);
      const style = {
        color,
        lineWidth: line === 0 ? 2 : 1,
        lineStyle: line === 0 ? LineStyle.Solid : LineStyle.Dashed,
        crosshairMarkerVisible: false,
      } as const;
      return this.chart.addSeries(LineSeries, { ...common, ...style }, pane);
    });
  }
}

const point = (bar: Candle, value: number | null): { time: UTCTimestamp; value: number } =>
  // The library takes a point without a value as a gap.
  (value === null ? { time: timeOf(bar) } : { time: timeOf(bar), value }) as { time: UTCTimestamp; value: number };

const round = (value: number): number => Number(value.toPrecision(5));
