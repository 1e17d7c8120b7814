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
import { percent } from "../../formats.ts";
import { colour } from "../../theme.ts";
import {
  type Drawing,
  distanceTo,
  FIB_SHARES,
  indexOfTime,
  linesBetween,
  type Pixel,
  REACH,
  type Segment,
} from "./drawings.ts";

type Target = Parameters<IPrimitivePaneRenderer["draw"]>[0];

const RADIUS = 4;
const FONT = "11px system-ui, sans-serif";

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
      const distance = Math.min(...this.#segments(each).map(([from, to]) => distanceTo(point, from, to)));
      if (distance <= least) [found, least] = [index, distance];
    });
    return found;
  }

  /** Returns whether a point is at the last point of a drawing: that point alone moves. */
  isAtEnd(index: number, point: Pixel): boolean {
    const each = this.#drawings[index];
    const to = each && each.kind !== "level" ? this.#pixel(each.to) : null;
    return to !== null && Math.hypot(to.x - point.x, to.y - point.y) <= 2 * REACH;
  }

  /** Returns the lines of a drawing on the screen; none while the chart has no scale. */
  #segments(each: Drawing): Segment[] {
    if (each.kind !== "level") {
      const [from, to] = [this.#pixel(each.from), this.#pixel(each.to)];
      return from && to ? linesBetween(each.kind, from, to) : [];
    }
    const [y, x] = [this.series.priceToCoordinate(each.price), this.chart.timeScale().width()];
    return y === null
      ? []
      : [
          [
            { x: 0, y },
            { x, y },
          ],
        ];
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
        const segments = this.#segments(each);
        if (segments.length) this.#stroke(context, segments, each, index === this.#selected);
      });
    });
  }

  #stroke(
    context: CanvasRenderingContext2D,
    segments: readonly Segment[],
    drawing: Drawing,
    isSelected: boolean,
  ): void {
    context.strokeStyle = isSelected ? this.#tones.selected : this.#tones.line;
    context.fillStyle = this.#tones.ground;
    context.lineWidth = isSelected ? 3 : 2;
    context.beginPath();
    for (const [from, to] of segments) {
      context.moveTo(from.x, from.y);
      context.lineTo(to.x, to.y);
    }
    context.stroke();
    context.fillStyle = context.strokeStyle;
    this.#write(context, segments, drawing);
    context.fillStyle = this.#tones.ground;
    if (!isSelected) return;
    const handles =
      drawing.kind === "level"
        ? segments.map(([, to]) => ({ x: to.x / 2, y: to.y }))
        : [this.#pixel(drawing.from), this.#pixel(drawing.to)].filter((each) => each !== null);
    for (const { x, y } of handles) {
      context.beginPath();
      context.arc(x, y, RADIUS, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
  }

  /** Writes the prices of a retracement, or what a measure covers. */
  #write(context: CanvasRenderingContext2D, segments: readonly Segment[], drawing: Drawing): void {
    if (drawing.kind !== "fib" && drawing.kind !== "measure") return;
    const [{ from, to }, gap] = [drawing, 4];
    context.font = FONT;
    if (drawing.kind === "fib")
      segments.forEach(([start, end], index) => {
        const share = FIB_SHARES[index] as number;
        const price = to.price + share * (from.price - to.price);
        context.fillText(`${share} (${this.write(price)})`, Math.min(start.x, end.x) + gap, start.y - gap);
      });
    else {
      const bars = Math.round(indexOfTime(this.times(), to.time) - indexOfTime(this.times(), from.time));
      const change = from.price ? percent((100 * (to.price - from.price)) / from.price) : "";
      const [x, y] = [Math.min(...segments.map(([each]) => each.x)), Math.min(...segments.map(([each]) => each.y))];
      context.fillText(`${this.write(to.price - from.price)} (${change}) · ${bars}`, x + gap, y - gap);
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
