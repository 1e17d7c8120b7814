import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Column } from "./columns.ts";
import type { AnyQuote } from "./live.ts";
import { language, say, type Word } from "./words.ts";

/** Pixels beside a text, in the first column and in the others. */
const [FIRST_PADDING, PADDING] = [15, 9];
export const ACTION_WIDTH = 26;
/** Room of the handle by which the pointer drags a row. */
export const HANDLE_WIDTH = 16;
/** Least room for symbols, in multiples of the font's size: beside columns of rank 1, and beside all others. */
const [SHORT_SYMBOL, LONG_SYMBOL] = [4.6, 8];
/** Size of a heading's font relative to the cells', and width of the arrow of a sorted column. */
const [HEADING_SCALE, ARROW] = [0.9, 1];

/** Widths of texts by shape, in multiples of the font's size. */
const measured = new Map<string, number>();

/** Returns a text's width in multiples of the font's size; all digits are equally wide. */
function widthOf(text: string): number {
  const shape = text.replace(/\d/g, "0");
  const known = measured.get(shape);
  if (known !== undefined) return known;
  const width = measure(shape);
  measured.set(shape, width);
  return width;
}

function measure(text: string): number {
  const element = document.createElement("span");
  element.className = "measure";
  element.textContent = text;
  document.body.append(element);
  const width = element.getBoundingClientRect().width / parseFloat(getComputedStyle(element).fontSize);
  element.remove();
  return width;
}

const typical = (price: number, change: number, changePercent: number): AnyQuote => {
  const prices = { price, bid: price, ask: price, buying: price, selling: price };
  const day = { high: price, low: price, open: price, previousClose: price };
  return { ...prices, ...day, change, changePercent, volume: 123_450_000 } as unknown as AnyQuote;
};
/** Columns have room for these values from the start, so that they hardly move when real ones come. */
const TYPICAL = typical(1234.56, -12.34, -1.23);
/** Of a table that lists pairs: a bitcoin costs more than most shares, and its quote may come after theirs. */
const TYPICAL_WITH_PAIRS = typical(123_456.78, -1234.56, -12.34);

interface Room {
  readonly width: number;
  readonly fontSize: number;
}

/** Returns the inner width of a table's frame and the size of its font, in pixels. */
function useRoom(frame: { current: HTMLElement | null }): Room {
  const [room, setRoom] = useState<Room>({ width: 0, fontSize: 0 });
  useLayoutEffect(() => {
    const element = frame.current as HTMLElement;
    const look = () => {
      const [width, fontSize] = [element.clientWidth, parseFloat(getComputedStyle(element).fontSize)];
      setRoom((before) => (before.width === width && before.fontSize === fontSize ? before : { width, fontSize }));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return room;
}

export interface Fit {
  /** Columns for which there is room. */
  readonly columns: readonly Column[];
  /** Their widths in pixels, without the first, which takes the rest. */
  readonly widths: readonly number[];
  /** Minimum width of the table in pixels; in a narrower pane it scrolls. */
  readonly least: number;
  /** Widens a column for a value. */
  readonly note: (column: Column, text: string) => void;
}

/**
 * Fits columns to the widest value that they have shown: no digit is cut, and none moves when another shrinks.
 *
 * `beside` is the room in pixels that other things than columns take.
 */
export function useFit(
  frame: { current: HTMLElement | null },
  columns: readonly Column[],
  keys: readonly string[],
  beside: number,
): Fit {
  const { width: available, fontSize } = useRoom(frame);
  const [, setGrown] = useState(0);
  const widest = useWidest();
  const note = useCallback((column: Column, text: string) => {
    const width = widthOf(text);
    if (width <= (widest.get(column.title) ?? 0)) return;
    widest.set(column.title, width);
    setGrown((count) => count + 1);
  }, []);
  const expected = useMemo(() => (keys.some((key) => key.includes("/")) ? TYPICAL_WITH_PAIRS : TYPICAL), [keys]);
  const width = (column: Column) => {
    const heading = HEADING_SCALE * (widthOf(say(column.title)) + ARROW);
    const text = Math.max(heading, widthOf(column.text(expected)), widest.get(column.title) ?? 0) * fontSize;
    return Math.ceil(Math.max(text, column.drawing?.width ?? 0)) + PADDING;
  };
  const longest = useMemo(() => Math.max(0, ...keys.map(widthOf)), [keys]);
  const first = (most: number) => Math.ceil(Math.min(longest, most) * fontSize) + FIRST_PADDING + beside;
  const shown = fitColumns(columns, width, available - first(SHORT_SYMBOL), available - first(LONG_SYMBOL));
  const stable = useMemo(() => shown, [shown.map((each) => each.title).join()]);
  const widths = shown.slice(1).map(width);
  return { columns: stable, widths, least: first(SHORT_SYMBOL) + sum(widths), note };
}

/** Returns the widest text of each column so far, in this language. */
function useWidest(): Map<Word, number> {
  const widest = useRef(new Map<Word, number>()).current;
  const known = useRef(language.value);
  if (known.current !== language.value) widest.clear();
  known.current = language.value;
  return widest;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Drops columns rank by rank, the highest first, until the rest fits; columns of one rank go together. */
export function fitColumns(
  columns: readonly Column[],
  width: (column: Column) => number,
  withShort: number,
  withLong: number,
): readonly Column[] {
  let shown = columns;
  for (let rank = Math.max(...columns.map((each) => each.rank ?? 0)); rank > 0; rank -= 1) {
    if (sum(shown.slice(1).map(width)) <= (rank > 1 ? withLong : withShort)) break;
    shown = shown.filter((each) => (each.rank ?? 0) < rank);
  }
  return shown;
}
