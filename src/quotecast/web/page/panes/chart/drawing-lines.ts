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
  linesOf,
  linesOfNote,
  type Pixel,
  REACH,
  type Segment,
  type Spot,
} from "./drawings.ts";

type Target = Parameters<IPrimitivePaneRenderer["draw"]>[0];

const RADIUS = 4;
const FONT = "11px system-ui, sans-serif";
/** The height of a line of a note, and the space beside it. */
const [LINE_HEIGHT, PADDING] = [16, 4];

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
  /** Measures texts. */
  readonly #ruler = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
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
  ) {
    this.#ruler.font = FONT;
  }

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
    this.#labels = drawings.flatMap(({ kind, points: [at] }, index) =>
      kind === "level" && at ? [this.#label(at.price, index)] : [],
    );
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

  /** Returns the point of a drawing that is at a place: it moves alone. A drawing with one point moves as a whole. */
  pointAt(index: number, { x, y }: Pixel): number | undefined {
    const pixels = this.#pixelsOf(this.#drawings[index]);
    const found = pixels.findLastIndex((each) => Math.hypot(each.x - x, each.y - y) <= 2 * REACH);
    return found < 0 || pixels.length === 1 ? undefined : found;
  }

  /** Returns the lines of a drawing on the screen; none while the chart has no scale. */
  #segments(each: Drawing): Segment[] {
    const pixels = this.#pixelsOf(each);
    const [first] = pixels;
    if (!first) return [];
    const lineFrom = (x: number, y: number, width: number): Segment => [
      { x, y },
      { x: x + width, y },
    ];
    if (each.kind === "level") return [lineFrom(0, first.y, this.chart.timeScale().width())];
    if (!each.text) return linesOf(each.kind, pixels);
    return linesOfNote(each.text).map((line, index) =>
      lineFrom(first.x, first.y + index * LINE_HEIGHT, this.#ruler.measureText(line).width),
    );
  }

  #pixelsOf(each: Drawing | undefined): Pixel[] {
    if (each?.kind === "level") {
      const [x, y] = [this.chart.timeScale().width() / 2, this.series.priceToCoordinate(each.points[0]?.price ?? 0)];
      return y === null ? [] : [{ x, y }];
    }
    const found = (each?.points ?? []).map((spot) => this.#pixel(spot));
    return found.every((pixel) => pixel !== null) ? found : [];
  }

  #pixel({ time, price }: Spot): Pixel | null {
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
    if (drawing.text) this.#writeNote(context, segments, drawing.text);
    else {
      context.beginPath();
      for (const [from, to] of segments) {
        context.moveTo(from.x, from.y);
        context.lineTo(to.x, to.y);
      }
      context.stroke();
      context.fillStyle = context.strokeStyle;
      this.#write(context, segments, drawing);
    }
    context.fillStyle = this.#tones.ground;
    if (!isSelected || drawing.text) return;
    for (const { x, y } of this.#pixelsOf(drawing)) {
      context.beginPath();
      context.arc(x, y, RADIUS, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
  }

  /** Writes a note on the ground's colour: candles are behind it. */
  #writeNote(context: CanvasRenderingContext2D, segments: readonly Segment[], text: string): void {
    const [left, top] = [segments[0]?.[0].x ?? 0, segments[0]?.[0].y ?? 0];
    const width = Math.max(...segments.map(([from, to]) => to.x - from.x));
    const height = segments.length * LINE_HEIGHT;
    context.fillRect(left - PADDING, top - LINE_HEIGHT / 2, width + 2 * PADDING, height);
    context.lineWidth /= 2;
    context.strokeRect(left - PADDING, top - LINE_HEIGHT / 2, width + 2 * PADDING, height);
    context.font = FONT;
    context.textBaseline = "middle";
    context.fillStyle = context.strokeStyle;
    linesOfNote(text).forEach((line, index) => {
      context.fillText(line, left, top + index * LINE_HEIGHT);
    });
    context.textBaseline = "alphabetic";
  }

  /** Writes the prices of a retracement, or what a measure covers. */
  #write(context: CanvasRenderingContext2D, segments: readonly Segment[], { kind, points }: Drawing): void {
    const [[from, to], gap] = [points, 4];
    if (!from || !to || (kind !== "fib" && kind !== "measure")) return;
    context.font = FONT;
    if (kind === "fib")
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
