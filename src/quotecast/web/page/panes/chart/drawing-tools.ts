import type { IChartApi, ISeriesApi, MouseEventParams } from "lightweight-charts";

import type { Candle } from "../chart-bars.ts";
import { DrawingLines } from "./drawing-lines.ts";
import {
  type Drawing,
  KINDS,
  type Kind,
  moveDrawing,
  nearestPrice,
  type Pixel,
  type Spot,
  timeOfIndex,
} from "./drawings.ts";
import { writePrice } from "./prices.ts";

export interface ToolEvents {
  /** The reader added, moved or removed a drawing. */
  readonly onDrawings: (drawings: readonly Drawing[]) => void;
  /** The tool or the selected drawing changed. */
  readonly onTool: (tool: Kind | null, selected: number | null) => void;
}

/** The chart as the tools know it. */
interface Own {
  readonly bars: () => readonly Candle[];
  /** Returns the times of the bars, in Unix seconds. */
  readonly times: () => readonly number[];
  readonly tick: () => number | null;
  readonly events: ToolEvents;
}

type Modifiers = Pick<MouseEvent, "ctrlKey" | "metaKey">;

interface Drag {
  readonly index: number;
  readonly original: Drawing;
  readonly start: Spot;
  /** The point that moves; undefined for all. */
  readonly point: number | undefined;
}

/** Pixels between press and release of a click, at most. */
const CLICK = 5;

/** Pixels between the lines of a channel that begins in the middle of the view. */
const CHANNEL = 40;

/** Changes that can be undone, at most. */
const MOST_CHANGES = 50;

/** Drawing with the pointer: places points, selects a line, and moves it. */
export class DrawingTools {
  /** Whether a point takes the price of a bar that is near; Ctrl and Cmd invert it. */
  isMagnetic = false;
  #drawings: readonly Drawing[] = [];
  /** The drawings before each change, the oldest first, and those that were undone. */
  #past: (readonly Drawing[])[] = [];
  #undone: (readonly Drawing[])[] = [];
  #selected: number | null = null;
  /** The drawing in progress, with the points that it has. */
  #tool: Drawing | null = null;
  #drag: Drag | null = null;
  /** The place where the pointer went down. */
  #pressed: Pixel | null = null;
  readonly #lines: DrawingLines;
  readonly #ending = new AbortController();

  constructor(
    private readonly element: HTMLElement,
    private readonly chart: IChartApi,
    private readonly series: ISeriesApi<"Candlestick">,
    private readonly own: Own,
  ) {
    this.#lines = new DrawingLines(chart, series, own.times, (price) => writePrice(price, own.tick()));
    series.attachPrimitive(this.#lines);
    chart.subscribeCrosshairMove((event) => this.#preview(event));
    const signal = this.#ending.signal;
    // Before the library, which would scroll the chart.
    element.addEventListener("pointerdown", (event) => this.#grab(event), { capture: true, signal });
    element.addEventListener("pointermove", (event) => this.#pull(event), { capture: true, signal });
    element.addEventListener("pointerup", (event) => this.#release(event), { capture: true, signal });
    element.addEventListener("pointercancel", () => this.#drop(), { capture: true, signal });
  }

  get selected(): number | null {
    return this.#selected;
  }

  get isIdle(): boolean {
    return this.#tool === null && this.#selected === null;
  }

  set(drawings: readonly Drawing[]): void {
    this.#drawings = drawings;
    if (this.#selected !== null && this.#selected >= drawings.length) this.select(null);
    this.#show();
  }

  /** Takes a tool, or puts it away; a note has its text already. */
  use(kind: Kind | null, text?: string): void {
    this.#tool = kind && { kind, points: [], ...(text && { text }) };
    this.select(null);
  }

  select(index: number | null): void {
    this.#selected = index;
    this.own.events.onTool(this.#tool?.kind ?? null, index);
    this.#show();
  }

  /** Adds a drawing and selects it. */
  add(drawing: Drawing): void {
    this.#tool = null;
    this.#selected = this.#drawings.length;
    this.#change([...this.#drawings, drawing]);
    this.select(this.#selected);
  }

  /** Removes the selected drawing. */
  remove(index: number | null = this.#selected): void {
    if (index === null) return;
    this.#selected = null;
    this.#change(this.#drawings.filter((_, each) => each !== index));
    this.select(null);
  }

  /** Moves the selected drawing by bars and by a price: all its points, or one. */
  nudge(bars: number, price: number, point?: number): void {
    const [index, times] = [this.#selected, this.own.times()];
    const selected = index === null ? undefined : this.#drawings[index];
    if (index === null || !selected || times.length < 2) return;
    const seconds = bars * Math.round(((times.at(-1) as number) - (times[0] as number)) / (times.length - 1));
    const nearest = point && Math.min(point, selected.points.length - 1);
    this.#change(this.#drawings.with(index, moveDrawing(selected, seconds, price, nearest)));
  }

  /** Takes back the last change; returns whether there was one. */
  undo(): boolean {
    return this.#travel(this.#past, this.#undone);
  }

  /** Repeats the change that was undone last; returns whether there was one. */
  redo(): boolean {
    return this.#travel(this.#undone, this.#past);
  }

  /** Adds a drawing in the middle of the view, for readers without a pointer. */
  addInView(kind: Kind, text?: string): void {
    const [range, bars, times] = [this.chart.timeScale().getVisibleLogicalRange(), this.own.bars(), this.own.times()];
    if (!range || !bars.length) return;
    const spot = (share: number): Spot => {
      const index = Math.min(bars.length - 1, Math.max(0, Math.round(range.from + share * (range.to - range.from))));
      return { time: times[index] as number, price: (bars[index] as Candle).close };
    };
    const last = spot(0.75);
    const above = (this.series.priceToCoordinate(last.price) ?? 0) - CHANNEL;
    const side = { ...last, price: this.series.coordinateToPrice(above) ?? last.price };
    const points = KINDS[kind].points === 1 ? [spot(0.5)] : [spot(0.25), last, side].slice(0, KINDS[kind].points);
    this.add({ kind, points, ...(text && { text }) });
  }

  end(): void {
    this.#ending.abort();
  }

  #change(drawings: readonly Drawing[], before = this.#drawings): void {
    this.#past = [...this.#past, before].slice(-MOST_CHANGES);
    this.#undone = [];
    this.#keep(drawings);
  }

  #keep(drawings: readonly Drawing[]): void {
    this.#drawings = drawings;
    this.#show();
    this.own.events.onDrawings(drawings);
  }

  #travel(from: (readonly Drawing[])[], to: (readonly Drawing[])[]): boolean {
    const drawings = from.pop();
    if (!drawings) return false;
    to.push(this.#drawings);
    this.select(null);
    this.#keep(drawings);
    return true;
  }

  #show(preview?: Drawing): void {
    if (this.#ending.signal.aborted) return;
    this.#lines.set(preview ? [...this.#drawings, preview] : this.#drawings, this.#selected);
  }

  /** Takes a click; the library's own event leaves out the second of two quick clicks. */
  #click(point: Pixel, event: Modifiers): void {
    this.element.focus({ preventScroll: true });
    const spot = this.#snap(point, event) ?? this.#spotAt(point);
    const drawing = this.#tool && spot && { ...this.#tool, points: [...this.#tool.points, spot] };
    if (!drawing) this.select(this.#lines.indexAt(point));
    else if (drawing.points.length === KINDS[drawing.kind].points) this.add(drawing);
    else this.#tool = drawing;
  }

  #preview({ point, paneIndex, sourceEvent }: MouseEventParams): void {
    const spot = point && !paneIndex ? (this.#snap(point, sourceEvent) ?? this.#spotAt(point)) : null;
    if (this.#tool?.points.length && spot) this.#show({ ...this.#tool, points: [...this.#tool.points, spot] });
  }

  #grab(event: PointerEvent): void {
    const point = this.#pixelOf(event);
    this.#pressed = event.button === 0 && this.#isOnPrices(point) ? point : null;
    const index = this.#tool ? null : this.#lines.indexAt(point);
    const start = this.#spotAt(point);
    const original = index === null ? undefined : this.#drawings[index];
    if (index === null || !original || !start || event.button !== 0) return;
    this.#drag = { index, original, start, point: this.#lines.pointAt(index, point) };
    this.#hold(true);
    this.select(index);
  }

  #pull(event: PointerEvent): void {
    const spot = this.#drag && this.#spotAt(this.#pixelOf(event));
    if (!this.#drag || !spot) return;
    const { index, original, start, point } = this.#drag;
    // A level is its point; of other drawings the magnet takes a point that moves alone.
    const held = original.points[original.kind === "level" ? 0 : (point ?? -1)];
    const snapped = held && this.#snap(this.#pixelOf(event), event);
    const [from, to] = snapped ? [held, snapped] : [start, spot];
    const moved = moveDrawing(original, to.time - from.time, to.price - from.price, point);
    this.#drawings = this.#drawings.with(index, moved);
    this.#show();
  }

  #release(event: PointerEvent): void {
    const [point, pressed] = [this.#pixelOf(event), this.#pressed];
    this.#pressed = null;
    this.#drop();
    if (pressed && Math.hypot(point.x - pressed.x, point.y - pressed.y) < CLICK) this.#click(point, event);
  }

  #drop(): void {
    if (!this.#drag) return;
    const { index, original } = this.#drag;
    this.#drag = null;
    this.#hold(false);
    if (this.#drawings[index] !== original) this.#change(this.#drawings, this.#drawings.with(index, original));
  }

  /** Stops the chart from following the pointer. */
  #hold(isHeld: boolean): void {
    this.chart.applyOptions({
      handleScroll: isHeld
        ? false
        : { mouseWheel: true, pressedMouseMove: true, horzTouchDrag: true, vertTouchDrag: false },
      handleScale: !isHeld,
    });
  }

  #isOnPrices({ x, y }: Pixel): boolean {
    return x < this.chart.timeScale().width() && y < (this.chart.panes()[0]?.getHeight() ?? 0);
  }

  #pixelOf(event: PointerEvent): Pixel {
    const { left, top } = this.element.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  /** Returns the nearest price of the bar under the pointer; null without the magnet, or with no price near. */
  #snap({ x, y }: Pixel, keys?: Modifiers): Spot | null {
    const isOn = this.isMagnetic !== Boolean(keys?.ctrlKey || keys?.metaKey);
    const index = this.chart.timeScale().coordinateToLogical(x) ?? -1;
    const [bar, time] = [this.own.bars()[index], this.own.times()[index]];
    const price = isOn && bar ? nearestPrice(bar, y, (each) => this.series.priceToCoordinate(each)) : null;
    return price === null || time === undefined ? null : { time, price };
  }

  #spotAt({ x, y }: Pixel): Spot | null {
    const [price, logical] = [this.series.coordinateToPrice(y), this.chart.timeScale().coordinateToLogical(x)];
    return price === null || logical === null ? null : { time: timeOfIndex(this.own.times(), logical), price };
  }
}
