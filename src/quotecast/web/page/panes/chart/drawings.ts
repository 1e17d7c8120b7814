/** The lines that a reader draws on a chart: their places, their text in a layout, and the distance to them. */

/** A point: Unix seconds and a price. */
export interface Spot {
  readonly time: number;
  readonly price: number;
}

/** The kinds between two points, by their letters in a layout. */
const SPANS = { t: "trend", b: "box", f: "fib", m: "measure" } as const;
export type SpanKind = (typeof SPANS)[keyof typeof SPANS];
export type Drawing =
  | { readonly kind: "level"; readonly price: number }
  | { readonly kind: SpanKind; readonly from: Spot; readonly to: Spot };
/** Shares of the way back at which a Fibonacci retracement has lines. */
export const FIB_SHARES = [0, 0.236, 0.382, 0.5, 0.618, 0.786, 1] as const;

/** Drawings of one pane at most, over all its symbols: a layout holds 64 KB. */
export const MOST_DRAWINGS = 50;

/** Pixels within which the pointer meets a line. */
export const REACH = 7;
const PREFIX = "drawn ";

/** Returns the name of an instrument's drawings in a pane's memory. */
export const memoryKey = (type: string, key: string): string => `${PREFIX}${type} ${key}`;

/** Returns the drawings of a text; skips what no version of the page writes. */
export function parseDrawings(text: string | undefined): Drawing[] {
  return (text ?? "").split(";").flatMap((part): Drawing[] => {
    const [kind, ...rest] = part.split(" ");
    const numbers = rest.map(Number);
    const [a, b, c, d] = numbers;
    if (!numbers.every(Number.isFinite)) return [];
    if (kind === "h" && a !== undefined && numbers.length === 1) return [{ kind: "level", price: a }];
    const span = SPANS[kind as keyof typeof SPANS];
    if (!span || a === undefined || b === undefined || c === undefined || d === undefined) return [];
    return [{ kind: span, from: { time: a, price: b }, to: { time: c, price: d } }];
  });
}

export const writeDrawings = (drawings: readonly Drawing[]): string => drawings.map(writeDrawing).join(";");

function writeDrawing(each: Drawing): string {
  if (each.kind === "level") return `h ${short(each.price)}`;
  const letter = Object.entries(SPANS).find(([, kind]) => kind === each.kind)?.[0];
  return [letter, each.from.time, short(each.from.price), each.to.time, short(each.to.price)].join(" ");
}

/** Returns a typed price, with a comma or a point before the decimals; null for anything else. */
export function parsePrice(text: string): number | null {
  const [whole = "", decimals = ""] = text.trim().split(/[.,](?=[^.,]*$)/);
  const price = Number(`${whole.replace(/[.,\s]/g, "")}.${decimals}`);
  return /\d/.test(text) && price > 0 && Number.isFinite(price) ? price : null;
}

/** Returns a price without the noise of pixels. */
const short = (price: number): number => Number(price.toPrecision(12));

/** Returns the number of drawings in a pane's memory, over all symbols. */
export const countDrawings = (memory: Readonly<Record<string, string>>): number =>
  Object.entries(memory)
    .filter(([name]) => name.startsWith(PREFIX))
    .reduce((sum, [, text]) => sum + parseDrawings(text).length, 0);

/** Returns the drawing moved by seconds and by a price; `end` moves only its last point. */
export function moveDrawing(each: Drawing, seconds: number, price: number, end = false): Drawing {
  if (each.kind === "level") return { ...each, price: each.price + price };
  const move = (spot: Spot): Spot => ({ time: spot.time + seconds, price: spot.price + price });
  return { ...each, from: end ? each.from : move(each.from), to: move(each.to) };
}

/**
 * Returns the place of a time among ascending times, as a fraction of their indexes.
 *
 * Before the first and after the last time, steps have the mean length of all.
 */
export function indexOfTime(times: readonly number[], time: number): number {
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const step = times.length > 1 ? (last - first) / (times.length - 1) : 60;
  if (time <= first) return (time - first) / step;
  if (time >= last) return times.length - 1 + (time - last) / step;
  let [low, high] = [0, times.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) <= time) low = middle;
    else high = middle;
  }
  const [before, after] = [times[low] as number, times[high] as number];
  return low + (time - before) / (after - before);
}

/** Returns the time at a place among ascending times: the inverse of `indexOfTime`, in whole seconds. */
export function timeOfIndex(times: readonly number[], index: number): number {
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const step = times.length > 1 ? (last - first) / (times.length - 1) : 60;
  if (index <= 0) return Math.round(first + index * step);
  if (index >= times.length - 1) return Math.round(last + (index - times.length + 1) * step);
  const low = Math.floor(index);
  const [before, after] = [times[low] as number, times[low + 1] as number];
  return Math.round(before + (index - low) * (after - before));
}

export interface Pixel {
  readonly x: number;
  readonly y: number;
}

export type Segment = readonly [Pixel, Pixel];

/** Returns the lines of a drawing between two points of the screen: what is painted, and what the pointer meets. */
export function linesBetween(kind: SpanKind, from: Pixel, to: Pixel): Segment[] {
  if (kind === "trend") return [[from, to]];
  if (kind === "fib")
    return FIB_SHARES.map((share) => {
      const y = to.y + share * (from.y - to.y);
      return [
        { x: from.x, y },
        { x: to.x, y },
      ];
    });
  const [right, below] = [
    { x: to.x, y: from.y },
    { x: from.x, y: to.y },
  ];
  return [
    [from, right],
    [right, to],
    [to, below],
    [below, from],
  ];
}

/** Returns the distance of a point to the segment between two others. */
export function distanceTo(point: Pixel, from: Pixel, to: Pixel): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy;
  const along = length ? ((point.x - from.x) * dx + (point.y - from.y) * dy) / length : 0;
  const near = Math.min(1, Math.max(0, along));
  return Math.hypot(point.x - from.x - near * dx, point.y - from.y - near * dy);
}
