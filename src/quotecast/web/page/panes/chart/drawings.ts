/** The lines that a reader draws on a chart: their places, their text in a layout, and the distance to them. */

import type { Candle } from "../chart-bars.ts";

/** A point: Unix seconds and a price. */
export interface Spot {
  readonly time: number;
  readonly price: number;
}

/** The kinds of drawings: their letters in a layout, and their numbers of points. */
export const KINDS = {
  trend: { letter: "t", points: 2 },
  channel: { letter: "c", points: 3 },
  level: { letter: "h", points: 1 },
  box: { letter: "b", points: 2 },
  fib: { letter: "f", points: 2 },
  measure: { letter: "m", points: 2 },
  note: { letter: "n", points: 1 },
} as const;
export type Kind = keyof typeof KINDS;

/** A drawing; the time of a level means nothing, and only notes have a text. */
export interface Drawing {
  readonly kind: Kind;
  readonly points: readonly Spot[];
  readonly text?: string;
}
/** Shares of the way back at which a Fibonacci retracement has lines. */
export const FIB_SHARES = [0, 0.236, 0.382, 0.5, 0.618, 0.786, 1] as const;

/** Drawings of one pane at most, over all its symbols: a layout holds 64 KB. */
export const MOST_DRAWINGS = 50;

/** Characters of a note, and of one of its lines, at most. */
export const NOTE_LENGTH = 120;
const LINE_LENGTH = 40;

/** Pixels within which the pointer meets a line, and within which a price draws a point to it. */
export const REACH = 7;
const MAGNET_REACH = 16;
/** The bound of times and prices in a layout. */
const MOST = 1e12;
const PREFIX = "drawn ";

/** Returns the name of an instrument's drawings in a pane's memory. */
export const memoryKey = (type: string, key: string): string => `${PREFIX}${type} ${key}`;

/** Returns the drawings of a text; skips what no version of the page writes. */
export const parseDrawings = (text: string | undefined): Drawing[] =>
  (text ?? "").split(";", MOST_DRAWINGS).flatMap((part) => parseDrawing(part) ?? []);

function parseDrawing(part: string): Drawing | null {
  const [letter, ...rest] = part.split(" ");
  const kind = (Object.keys(KINDS) as Kind[]).find((each) => KINDS[each].letter === letter);
  if (!kind) return null;
  const count = kind === "level" ? 1 : 2 * KINDS[kind].points;
  const numbers = rest.slice(0, count).map(Number);
  const text = cleanNote(
    rest
      .slice(count)
      .join(" ")
      .replace(/%(25|3B)/g, decodeURIComponent),
  );
  const isWhole = numbers.length === count && numbers.every((each) => Math.abs(each) < MOST);
  if (!isWhole || (kind === "note") !== text.length > 0) return null;
  const spots = kind === "level" ? [0, ...numbers] : numbers;
  const points = Array.from({ length: KINDS[kind].points }, (_, index) => ({
    time: spots[2 * index] as number,
    price: spots[2 * index + 1] as number,
  }));
  return { kind, points, ...(text && { text }) };
}

export const writeDrawings = (drawings: readonly Drawing[]): string => drawings.map(writeDrawing).join(";");

function writeDrawing({ kind, points, text }: Drawing): string {
  const numbers = points.flatMap(({ time, price }) => (kind === "level" ? [short(price)] : [time, short(price)]));
  const words = text ? [text.replace(/[%;]/g, encodeURIComponent)] : [];
  return [KINDS[kind].letter, ...numbers, ...words].join(" ");
}

/** Returns the text of a note in one line, within its bound. */
export const cleanNote = (text: string): string =>
  [...text.replace(/[\s\p{Cc}\p{Cs}]+/gu, " ").trim()].slice(0, NOTE_LENGTH).join("").trim();

/** Returns the lines of a note on the chart. */
export const linesOfNote = (text: string): string[] =>
  text.match(new RegExp(`\\S.{0,${LINE_LENGTH - 1}}(?=\\s|$)|\\S{1,${LINE_LENGTH}}`, "gu")) ?? [];

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

/** Returns the drawing moved by seconds and by a price: all points, or one. */
export const moveDrawing = (each: Drawing, seconds: number, price: number, point?: number): Drawing => ({
  ...each,
  points: each.points.map((spot, index) =>
    point === undefined || index === point ? { time: spot.time + seconds, price: spot.price + price } : spot,
  ),
});

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

/** Returns the lines of a drawing from its points on the screen: what is painted, and what the pointer meets. */
export function linesOf(kind: Kind, [from, to, side]: readonly Pixel[]): Segment[] {
  if (!from || !to) return [];
  if (kind === "trend") return [[from, to]];
  if (kind === "channel") {
    // The third point is on the other side, at any time.
    const slope = to.x === from.x ? 0 : (to.y - from.y) / (to.x - from.x);
    const width = side ? side.y - from.y - slope * (side.x - from.x) : 0;
    const beside = ({ x, y }: Pixel): Pixel => ({ x, y: y + width });
    return [
      [from, to],
      [beside(from), beside(to)],
    ];
  }
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

/** Returns the open, high, low or close that is nearest to a height on the screen; null if none is near. */
export function nearestPrice(
  { open, high, low, close }: Candle,
  y: number,
  yOf: (price: number) => number | null,
): number | null {
  let [found, least] = [null as number | null, MAGNET_REACH];
  for (const price of [open, high, low, close]) {
    const distance = Math.abs((yOf(price) ?? Infinity) - y);
    if (distance <= least) [found, least] = [price, distance];
  }
  return found;
}

/** Returns the distance of a point to the segment between two others. */
export function distanceTo(point: Pixel, from: Pixel, to: Pixel): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy;
  const along = length ? ((point.x - from.x) * dx + (point.y - from.y) * dy) / length : 0;
  const near = Math.min(1, Math.max(0, along));
  return Math.hypot(point.x - from.x - near * dx, point.y - from.y - near * dy);
}
