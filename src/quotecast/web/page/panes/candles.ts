import {
  createChart,
  type IChartApi,
  type MouseEventParams,
  PriceScaleMode,
  type UTCTimestamp,
} from "lightweight-charts";

import { percent } from "../formats.ts";
import { colour } from "../theme.ts";
import { appearance, priceFormat, times } from "./chart/axes.ts";
import type { ChartOptions, Scale, View } from "./chart/chart-options.ts";
import { changeSince } from "./chart/compare.ts";
import { type Compared, ComparedSeries } from "./chart/compared-series.ts";
import { pointed } from "./chart/crosshair.ts";
import { DrawingTools } from "./chart/drawing-tools.ts";
import type { Row } from "./chart/legend.ts";
import { type Mark, placed } from "./chart/marks.ts";
import { PriceSeries } from "./chart/price-series.ts";
import type { Spec } from "./chart/specs.ts";
import { StudySeries } from "./chart/study-series.ts";
import { timeOf } from "./chart/times.ts";
import { at, type Candle } from "./chart-bars.ts";

/** Bars for which the chart has room at least. */
const LEAST_SHOWN = 60;
/** Pixels of a bar, at least, where not all bars fit. */
const LEAST_SPACING = 2;
const MODES = {
  linear: PriceScaleMode.Normal,
  log: PriceScaleMode.Logarithmic,
  percent: PriceScaleMode.Percentage,
};

/** Candles with volume, indicators, other instruments and drawings in an element. */
export class CandleChart {
  readonly drawings: DrawingTools;
  readonly #chart: IChartApi;
  readonly #prices: PriceSeries;
  readonly #studies: StudySeries;
  readonly #compared: ComparedSeries;
  #bars: Candle[] = [];
  /** The times of the bars, in Unix seconds. */
  #times: number[] = [];
  #tick: number | null = null;
  #specs: readonly Spec[] = [];
  #marks: readonly Mark[] = [];
  /** The marks by the index of their bar. */
  #placed = new Map<number, Mark[]>();
  /** Index of the bar under the crosshair; null without one. */
  #pointed: number | null = null;
  #isAway = false;
  /** Whether the reader has moved the view: the first view alone loads nothing more. */
  #isTouched = false;
  readonly #ending = new AbortController();

  constructor(
    private readonly element: HTMLElement,
    bars: readonly Candle[],
    private readonly options: ChartOptions,
  ) {
    const { interval, feed, events } = options;
    // Asked before the chart asks for its frame: a page in the background has none until its reader comes, and the
    // view is that of the bars of then.
    requestAnimationFrame(() => this.#isRemoved || this.#show(options.view));
    this.#chart = createChart(element, { ...appearance(), ...times(interval, feed), autoSize: true });
    this.#prices = new PriceSeries(this.#chart);
    this.#studies = new StudySeries(this.#chart, this.#prices.candles, () => this.#tick);
    this.#compared = new ComparedSeries(this.#chart, interval);
    this.#setData(bars);
    this.drawings = new DrawingTools(element, this.#chart, this.#prices.candles, {
      bars: () => this.#bars,
      times: () => this.#times,
      tick: () => this.#tick,
      events,
    });
    this.#chart.subscribeCrosshairMove((moved) => this.#point(moved));
    this.#ending.signal.addEventListener(
      "abort",
      pointed.subscribe(() => this.#follow()),
    );
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange(() => this.#look());
    for (const name of ["pointerdown", "wheel", "touchstart"])
      element.addEventListener(name, () => this.touch(), { capture: true, passive: true, signal: this.#ending.signal });
    this.#tell();
  }

  /** Replaces all bars; the view stays where it is. */
  replace(all: readonly Candle[]): void {
    if (this.#isRemoved) return;
    const first = this.#bars[0];
    const added = first ? all.findIndex((bar) => bar.time === first.time) : -1;
    const [before, range] = [this.#bars.length, this.#chart.timeScale().getVisibleLogicalRange()];
    this.#setData(all);
    this.#studies.load(this.#bars);
    this.#compared.load(this.#bars);
    // At the right edge the library follows the newest bar. A range would wait for the next frame, and a hidden page
    // has none: bars that come before it would be out of the view.
    if (range && before && range.to < before - 1) {
      const shift = added < 0 ? all.length - before : added;
      this.#chart.timeScale().setVisibleLogicalRange({ from: range.from + shift, to: range.to + shift });
    }
    this.#tell();
  }

  /** Replaces the bar of its time, or appends one. */
  update(bar: Candle): void {
    if (this.#isRemoved) return;
    const last = this.#bars.at(-1);
    const isOlder = last !== undefined && at(bar) < at(last);
    const index = isOlder
      ? this.#bars.findLastIndex((each) => each.time === bar.time)
      : this.#bars.length - (last?.time === bar.time ? 1 : 0);
    // The final bar of the last interval is most often the same as its last state.
    if (index < 0 || (isOlder && isSame(bar, this.#bars[index] as Candle))) return;
    this.#bars[index] = bar;
    const isNew = index >= this.#times.length;
    this.#times[index] = timeOf(bar);
    this.#prices.update(bar, isOlder);
    if (isNew) this.#placeMarks();
    this.#studies.update(bar, index, this.#bars);
    if (!isOlder) this.#compared.update(bar, index);
    this.#tell();
  }

  setTick(tick: number | null): void {
    if (this.#isRemoved) return;
    this.#tick = tick;
    this.#prices.candles.applyOptions({ priceFormat: priceFormat(tick) });
    this.#tell();
  }

  /** Draws these indicators; their library loads with the first one. */
  async setStudies(specs: readonly Spec[]): Promise<void> {
    this.#specs = specs;
    const { Study } = specs.length ? await import("./chart/studies.ts") : { Study: null };
    if (this.#isRemoved || this.#specs !== specs) return;
    const { feed, interval } = this.options;
    this.#studies.set(Study ? specs.map((spec) => new Study(spec, feed, interval)) : [], this.#bars);
    this.#tell();
  }

  setCompared(all: readonly Compared[]): void {
    if (this.#isRemoved) return;
    this.#compared.set(all, this.#bars);
    this.#tell();
  }

  setMarks(marks: readonly Mark[]): void {
    if (this.#isRemoved) return;
    this.#marks = marks;
    this.#placeMarks();
    this.#tell();
  }

  setScale(scale: Scale): void {
    if (this.#isRemoved) return;
    this.#chart.priceScale("right").applyOptions({ mode: MODES[scale] });
  }

  get isAutoScaled(): boolean {
    return this.#chart.priceScale("right").options().autoScale;
  }

  setAutoScale(on: boolean): void {
    this.#chart.priceScale("right").setAutoScale(on);
  }

  /** Notes that the reader moves the view. */
  touch(): void {
    this.#isTouched = true;
  }

  /** Shows all bars, up to the newest. */
  showAll(): void {
    this.#chart.timeScale().fitContent();
  }

  /** Moves the view by a share of its width, or to the newest bar. */
  scroll(share: number): void {
    this.touch();
    const range = this.#chart.timeScale().getVisibleLogicalRange();
    if (!Number.isFinite(share)) this.#chart.timeScale().scrollToRealTime();
    if (!range || !Number.isFinite(share)) return;
    const width = range.to - range.from;
    // Half a view of emptiness at most before the first bar.
    const from = Math.max(range.from + width * share, Math.min(range.from, -width / 2));
    this.#chart.timeScale().setVisibleLogicalRange({ from, to: from + width });
  }

  /** Shows a multiple of the bars, up to the same right edge. */
  zoom(factor: number): void {
    this.touch();
    const range = this.#chart.timeScale().getVisibleLogicalRange();
    if (range)
      this.#chart
        .timeScale()
        .setVisibleLogicalRange({ from: range.to - (range.to - range.from) * factor, to: range.to });
  }

  /** Returns the view; null while the chart has no width. */
  view(): View | null {
    const range = this.#chart.timeScale().getVisibleLogicalRange();
    return range && { from: this.#bars.length - range.from, to: this.#bars.length - range.to };
  }

  /** Returns a picture with the drawings and without the crosshair. */
  picture(): HTMLCanvasElement {
    return this.#chart.takeScreenshot(true);
  }

  remove(): void {
    this.#ending.abort();
    if (pointed.value?.chart === this) pointed.value = null;
    this.drawings.end();
    this.#chart.remove();
  }

  /** The page may still hold a removed chart until its next render. */
  get #isRemoved(): boolean {
    return this.#ending.signal.aborted;
  }

  #setData(all: readonly Candle[]): void {
    this.#bars = [...all];
    this.#times = all.map(timeOf);
    this.#prices.load(all);
    this.#placeMarks();
  }

  #placeMarks(): void {
    this.#placed = placed(this.#marks, this.#bars, this.options.interval);
    const letters = [...this.#placed].map(
      ([index, marks]) => [this.#bars[index] as Candle, marks.map(({ letter }) => letter).join(" ")] as const,
    );
    this.#prices.setMarks(letters);
  }

  #show(view: View | null): void {
    const [scale, count] = [this.#chart.timeScale(), this.#bars.length];
    if (view) scale.setVisibleLogicalRange({ from: count - view.from, to: count - view.to });
    // A few bars alone would fill the width, and each new one would push one out.
    else if (count < LEAST_SHOWN) scale.setVisibleLogicalRange({ from: count - LEAST_SHOWN, to: count });
    // Bars less than a pixel wide cannot be read: the chart shows the newest ones, and a click on the range all.
    else if (count > scale.width()) scale.applyOptions({ barSpacing: LEAST_SPACING });
    else scale.fitContent();
  }

  #point({ time, logical, sourceEvent }: MouseEventParams): void {
    this.#pointed = time === undefined || logical === undefined ? null : logical;
    if (sourceEvent && time !== undefined) pointed.value = { chart: this, time: time as number };
    else if (time === undefined && pointed.value?.chart === this) pointed.value = null;
    this.#tell();
  }

  /** Shows where the reader points on another chart. */
  #follow(): void {
    const where = pointed.value;
    if (where?.chart === this) return;
    const index = where ? this.#times.findLastIndex((time) => time <= where.time) : -1;
    const [bar, time] = [this.#bars[index], this.#times[index]];
    this.#pointed = bar ? index : null;
    if (!bar || time === undefined) this.#chart.clearCrosshairPosition();
    else this.#chart.setCrosshairPosition(bar.close, time as UTCTimestamp, this.#prices.candles);
    this.#tell();
  }

  /** Asks for older bars when less than half a view of them is left of the view. */
  #look(): void {
    const range = this.#chart.timeScale().getVisibleLogicalRange();
    const isAway = range !== null && range.to < this.#bars.length - 1;
    if (isAway !== this.#isAway) this.options.events.onAway(isAway);
    this.#isAway = isAway;
    if (range && this.#isTouched && range.from < (range.to - range.from) / 2) this.options.events.onEdge();
    if (!this.#compared.isEmpty) this.#tell();
  }

  /** Reports the values at the crosshair, or at the last bar. */
  #tell(): void {
    const index = Math.min(this.#pointed ?? Infinity, this.#bars.length - 1);
    const bar = this.#bars[index];
    const marks = (this.#placed.get(index) ?? []).map(({ label, text }) => ({ label, text, colour: colour("accent") }));
    const rows = bar ? [...this.#ownChange(index), ...this.#studies.rows(index), ...marks] : [];
    this.options.events.onPoint(bar ?? null, rows);
  }

  /** Returns the changes since the left edge, in a chart that compares. */
  #ownChange(index: number): Row[] {
    if (this.#compared.isEmpty) return [];
    const from = Math.ceil(this.#chart.timeScale().getVisibleLogicalRange()?.from ?? 0);
    const change = changeSince(
      this.#bars.map((each) => each.close),
      from,
      index,
    );
    const label = this.element.dataset.symbol ?? "";
    return [{ label, colour: colour("quiet"), text: percent(change) }, ...this.#compared.rows(from, index)];
  }
}

const isSame = (one: Candle, other: Candle): boolean =>
  one.high === other.high && one.low === other.low && one.close === other.close && one.volume === other.volume;
