import {
  CandlestickSeries,
  createSeriesMarkers,
  HistogramSeries,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  LineStyle,
  type Time,
} from "lightweight-charts";

import { colour } from "../../theme.ts";
import type { Candle } from "../chart-bars.ts";
import { candleColours, priceFormat } from "./axes.ts";
import { timeOf } from "./times.ts";

/** The candles of a chart, their volume, and a line at the current price. */
export class PriceSeries {
  readonly candles: ISeriesApi<"Candlestick">;
  readonly #volume: ISeriesApi<"Histogram">;
  /** The library's own line has the colour of the body, and rising candles are hollow. */
  readonly #line: IPriceLine;
  readonly #marks: ISeriesMarkersPluginApi<Time>;
  readonly #tones = [colour("rise"), colour("fall")] as const;
  readonly #shades = [colour("volume-rise"), colour("volume-fall")] as const;
  readonly #ground = colour("panel");

  constructor(chart: IChartApi) {
    this.candles = chart.addSeries(CandlestickSeries, { ...candleColours(), priceFormat: priceFormat(null) });
    this.#marks = createSeriesMarkers(this.candles);
    this.#line = this.candles.createPriceLine({ price: 0, axisLabelVisible: true, lineStyle: LineStyle.Dotted });
    this.#volume = chart.addSeries(HistogramSeries, {
      priceFormat: { type: "volume" },
      priceScaleId: "",
      lastValueVisible: false,
      priceLineVisible: false,
    });
    this.#volume.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });
  }

  /** Replaces all bars. */
  load(bars: readonly Candle[]): void {
    this.candles.setData(bars.map(candle));
    this.#volume.setData(bars.map((bar) => this.#column(bar)));
    this.#showPrice(bars.at(-1));
  }

  /** Replaces the bar of its time, or appends one. */
  update(bar: Candle, isOlder: boolean): void {
    this.candles.update(candle(bar), isOlder);
    this.#volume.update(this.#column(bar), isOlder);
    if (!isOlder) this.#showPrice(bar);
  }

  /** Draws letters under bars. */
  setMarks(marks: Iterable<readonly [Candle, string]>): void {
    const [color, shape, position] = [colour("accent"), "square", "belowBar"] as const;
    this.#marks.setMarkers([...marks].map(([bar, text]) => ({ time: timeOf(bar), text, color, shape, position })));
  }

  #showPrice(last: Candle | undefined): void {
    if (!last) return;
    const color = this.#tones[last.close >= last.open ? 0 : 1];
    this.#line.applyOptions({ price: last.close, color, axisLabelTextColor: this.#ground });
  }

  #column(bar: Candle) {
    const color = this.#shades[bar.close >= bar.open ? 0 : 1];
    return { time: timeOf(bar), value: bar.volume ?? 0, color };
  }
}

const candle = (bar: Candle) => ({ time: timeOf(bar), open: bar.open, high: bar.high, low: bar.low, close: bar.close });
