import type {
  IChartApi,
  IPrimitivePaneRenderer,
  IPrimitivePaneView,
  ISeriesApi,
  ISeriesPrimitive,
  ISeriesPrimitiveAxisView,
  Logical,
  PrimitiveHoveredItem,
  SeriesAttachedParameter,
  Time,
} from "lightweight-charts";

import { colour } from "../../theme.ts";
import { type Drawing, distanceTo, indexOfTime, type Pixel, REACH } from "./drawings.ts";

type Target = Parameters<IPrimitivePaneRenderer["draw"]>[0];
type Segment = readonly [Pixel, Pixel];

const RADIUS = 4;

/** The drawings of a chart, painted with its series. */
export class DrawingLines implements ISeriesPrimitive<Time> {
  #drawings: readonly Drawing[] = [];
  #selected: number | null = null;
  #requestUpdate = () => {};
  #labels: readonly ISeriesPrimitiveAxisView[] = [];
  readonly #tones = {
    line: colour("study-1"),
    selected: colour("accent"),
    ground: colour("panel"),
    on: colour("on-accent"),
  };
  readonly #view: IPrimitivePaneView = {
    zOrder: () => "top",
    renderer: () => ({ draw: (target) => this.#draw(target) }),
  };
  readonly #views = [this.#view];

  constructor(
    private readonly chart: IChartApi,
    private readonly series: ISeriesApi<"Candlestick">,
    /** Returns the times of the bars, in Unix seconds. */
    private readonly times: () => readonly number[],
    private readonly write: (price: number) => string,
  ) {}

  attached({ requestUpdate }: SeriesAttachedParameter<Time>): void {
    this.#requestUpdate = requestUpdate;
  }

  paneViews(): readonly IPrimitivePaneView[] {
    return this.#views;
  }

  priceAxisViews(): readonly ISeriesPrimitiveAxisView[] {
    return this.#labels;
  }

  hitTest(x: number, y: number): PrimitiveHoveredItem | null {
    const index = this.indexAt({ x, y });
    return index === null ? null : { externalId: `drawing ${index}`, zOrder: "top", cursorStyle: "move" };
  }

  /** Shows these drawings, one of them selected. */
  set(drawings: readonly Drawing[], selected: number | null): void {
    this.#drawings = drawings;
    this.#selected = selected;
    this.#labels = drawings.flatMap((each, index) => (each.kind === "level" ? [this.#label(each.price, index)] : []));
    this.#requestUpdate();
  }

  /** Returns the index of the nearest drawing within reach; null if there is none. */
  indexAt(point: Pixel): number | null {
    let [found, least] = [null as number | null, REACH];
    this.#drawings.forEach((each, index) => {
      const [from, to] = this.#segment(each) ?? [];
      const distance = from && to ? distanceTo(point, from, to) : Infinity;
      if (distance <= least) [found, least] = [index, distance];
    });
    return found;
  }

  /** Returns whether a point is at the end of a trend line: the end alone moves. */
  isAtEnd(index: number, point: Pixel): boolean {
    const each = this.#drawings[index];
    const [, to] = (each?.kind === "trend" && this.#segment(each)) || [];
    return to !== undefined && Math.hypot(to.x - point.x, to.y - point.y) <= 2 * REACH;
  }

  #segment(each: Drawing): Segment | null {
    const width = this.chart.timeScale().width();
    if (each.kind === "level") {
      const y = this.series.priceToCoordinate(each.price);
      return y === null
        ? null
        : [
            { x: 0, y },
            { x: width, y },
          ];
    }
    const [from, to] = [this.#pixel(each.from), this.#pixel(each.to)];
    return from && to && [from, to];
  }

  #pixel({ time, price }: { readonly time: number; readonly price: number }): Pixel | null {
    const y = this.series.priceToCoordinate(price);
    const index = indexOfTime(this.times(), time);
    const low = Math.floor(index);
    // The library has coordinates of whole indexes only.
    const before = this.chart.timeScale().logicalToCoordinate(low as Logical);
    const after = this.chart.timeScale().logicalToCoordinate((low + 1) as Logical);
    return y === null || before === null || after === null ? null : { x: before + (index - low) * (after - before), y };
  }

  #draw(target: Target): void {
    target.useMediaCoordinateSpace(({ context }) => {
      this.#drawings.forEach((each, index) => {
        const segment = this.#segment(each);
        if (segment) this.#stroke(context, segment, each, index === this.#selected);
      });
    });
  }

  #stroke(context: CanvasRenderingContext2D, [from, to]: Segment, { kind }: Drawing, isSelected: boolean): void {
    context.strokeStyle = isSelected ? this.#tones.selected : this.#tones.line;
    context.fillStyle = this.#tones.ground;
    context.lineWidth = isSelected ? 3 : 2;
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
    context.stroke();
    if (!isSelected) return;
    for (const { x, y } of kind === "trend" ? [from, to] : [{ x: to.x / 2, y: to.y }]) {
      context.beginPath();
      context.arc(x, y, RADIUS, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
  }

  #label(price: number, index: number): ISeriesPrimitiveAxisView {
    const isSelected = index === this.#selected;
    return {
      coordinate: () => this.series.priceToCoordinate(price) ?? -1000,
      text: () => this.write(price),
      textColor: () => (isSelected ? this.#tones.on : this.#tones.ground),
      backColor: () => (isSelected ? this.#tones.selected : this.#tones.line),
    };
  }
}
