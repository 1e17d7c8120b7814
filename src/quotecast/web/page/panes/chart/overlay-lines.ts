import type {
  AutoscaleInfo,
  IChartApi,
  IPrimitivePaneView,
  ISeriesApi,
  ISeriesPrimitive,
  Logical,
  SeriesAttachedParameter,
  Time,
} from "lightweight-charts";
import type { Values } from "./studies.ts";

/** An indicator in prices: the values of its lines by bar. */
export interface Overlay {
  readonly colour: string;
  readonly values: readonly Values[];
}

/** Returns the least and the highest value of bars, for the scale; null without values. */
export function boundsOf(overlays: readonly Overlay[], from: number, to: number): readonly [number, number] | null {
  let [least, most] = [Infinity, -Infinity];
  for (const { values } of overlays)
    for (let index = Math.max(0, from); index <= to; index += 1)
      for (const value of values[index] ?? [])
        if (value !== null) [least, most] = [Math.min(least, value), Math.max(most, value)];
  return least <= most ? [least, most] : null;
}

/**
 * Indicators over the candles, painted on the candles' own scale.
 *
 * The library's series would each begin at 0 % in a scale in percent, and cross the candles elsewhere than in prices.
 */
export class OverlayLines implements ISeriesPrimitive<Time> {
  #overlays: readonly Overlay[] = [];
  #requestUpdate = () => {};
  readonly #views: readonly IPrimitivePaneView[] = [
    { renderer: () => ({ draw: (target) => target.useMediaCoordinateSpace(({ context }) => this.#draw(context)) }) },
  ];

  constructor(
    private readonly chart: IChartApi,
    private readonly candles: ISeriesApi<"Candlestick">,
  ) {
    candles.attachPrimitive(this);
  }

  attached({ requestUpdate }: SeriesAttachedParameter<Time>): void {
    this.#requestUpdate = requestUpdate;
  }

  paneViews(): readonly IPrimitivePaneView[] {
    return this.#views;
  }

  autoscaleInfo(from: Logical, to: Logical): AutoscaleInfo | null {
    const bounds = boundsOf(this.#overlays, from, to);
    return bounds && { priceRange: { minValue: bounds[0], maxValue: bounds[1] } };
  }

  set(overlays: readonly Overlay[]): void {
    this.#overlays = overlays;
    this.refresh();
  }

  /** Paints again: values changed. */
  refresh(): void {
    this.#requestUpdate();
  }

  #draw(context: CanvasRenderingContext2D): void {
    const range = this.chart.timeScale().getVisibleLogicalRange();
    if (!range) return;
    const [from, to] = [Math.max(0, Math.floor(range.from)), Math.ceil(range.to)];
    for (const { colour, values } of this.#overlays)
      (values[0] ?? []).forEach((_, line) => {
        context.strokeStyle = colour;
        context.lineWidth = 2;
        context.lineJoin = "round";
        // The middle of bands is dashed.
        context.setLineDash(line === 1 ? [4, 4] : []);
        context.beginPath();
        let isGap = true;
        for (let index = from; index <= Math.min(to, values.length - 1); index += 1) {
          const value = values[index]?.[line] ?? null;
          const x = this.chart.timeScale().logicalToCoordinate(index as Logical);
          const y = value === null ? null : this.candles.priceToCoordinate(value);
          if (x !== null && y !== null) context[isGap ? "moveTo" : "lineTo"](x, y);
          isGap = x === null || y === null;
        }
        context.stroke();
      });
  }
}
