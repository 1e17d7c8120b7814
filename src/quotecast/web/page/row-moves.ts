import type { Instrument } from "./instruments.ts";

/** Returns the id of a row of a table. */
export const idOf = (row: Instrument): string => `${row.feed} ${row.key}`;

/** Returns the index that a key moves to in a list of `count` items, `page` of them in view; null for other keys. */
export function moveIndex(key: string, index: number, count: number, page: number): number | null {
  const steps: Record<string, number> = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: index + page,
    PageUp: index - page,
    Home: 0,
    End: count - 1,
  };
  const wanted = steps[key];
  return wanted === undefined || !count ? null : Math.max(0, Math.min(count - 1, wanted));
}

export interface Stretch {
  /** Index of a row, or of the first of `height` rows that only take up room. */
  readonly index: number;
  /** 0 for a row. */
  readonly height: number;
}

/** Returns the rows `from` to `to` and one more wherever it is, with the room of the others: `count` rows in all. */
export function stretches(count: number, from: number, to: number, extra: number): Stretch[] {
  const shown = [];
  for (let index = from; index < to; index += 1) shown.push(index);
  if (extra >= 0 && extra < count && (extra < from || extra >= to)) shown.push(extra);
  shown.sort((one, other) => one - other);
  const found: Stretch[] = [];
  let next = 0;
  for (const index of [...shown, count]) {
    if (index > next) found.push({ index: next, height: index - next });
    if (index < count) found.push({ index, height: 0 });
    next = index + 1;
  }
  return found;
}

type Arrow = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Returns the index of the nearest area in the direction of an arrow key; null at the edge, or for other keys. */
export function nearest(key: string, from: Area, areas: readonly Area[]): number | null {
  if (!isArrow(key)) return null;
  const across = key === "ArrowLeft" || key === "ArrowRight";
  const forward = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
  const middle = ({ left, top, width, height }: Area) => ({ x: left + width / 2, y: top + height / 2 });
  const here = middle(from);
  let best: { index: number; distance: number } | null = null;
  for (const [index, area] of areas.entries()) {
    const { x, y } = middle(area);
    const [along, aside] = across ? [x - here.x, y - here.y] : [y - here.y, x - here.x];
    if (along * forward <= 0.5) continue;
    const distance = Math.abs(along) + 2 * Math.abs(aside);
    if (!best || distance < best.distance) best = { index, distance };
  }
  return best?.index ?? null;
}

const isArrow = (key: string): key is Arrow => key.startsWith("Arrow");
