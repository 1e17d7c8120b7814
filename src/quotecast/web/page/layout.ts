export const COLUMNS = 12;
/** Rows that fill the screen; a layout that is longer scrolls. */
export const ROWS = 24;
const [LEAST_WIDTH, LEAST_HEIGHT] = [2, 4];
/** More than any hand arranges; what was kept may hold any numbers. */
const [MOST_PANES, MOST_HEIGHT, MOST_Y] = [60, 100, 2000];

export const KINDS = [
  "watchlist",
  "chart",
  "heatmap",
  "movers",
  "news",
  "crypto",
  "doviz",
  "company",
  "portfolio",
] as const;
export type Kind = (typeof KINDS)[number];

/** A pane's place on the grid, in columns and rows, and what it remembers of itself. */
export interface Place {
  readonly id: string;
  readonly kind: Kind;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  readonly memory?: Record<string, string>;
}

const place = (kind: Kind, x: number, y: number, w: number, h: number): Place => ({ id: kind, kind, x, y, w, h });

export const DEFAULT: readonly Place[] = [
  place("watchlist", 0, 0, 3, 14),
  place("chart", 3, 0, 6, 14),
  place("movers", 9, 0, 3, 8),
  place("news", 9, 8, 3, 6),
  place("heatmap", 0, 14, 5, 10),
  place("crypto", 5, 14, 4, 10),
  place("doviz", 9, 14, 3, 10),
  place("company", 0, 24, 6, 13),
  place("portfolio", 6, 24, 6, 13),
];

const overlap = (one: Place, other: Place): boolean =>
  one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h;

const inOrder = (places: readonly Place[]): Place[] =>
  [...places].sort((one, other) => one.y - other.y || one.x - other.x);

/** The place within the grid's bounds. */
function bounded(given: Place): Place {
  const w = Math.min(COLUMNS, Math.max(LEAST_WIDTH, given.w));
  const h = Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, given.h));
  return { ...given, w, h, x: Math.min(COLUMNS - w, Math.max(0, given.x)), y: Math.min(MOST_Y, Math.max(0, given.y)) };
}

/** The first of the rows from `y` down where a place overlaps none of the others. */
function lowered(given: Place, others: readonly Place[]): Place {
  let settled = given;
  for (
    let hit = others.find((each) => overlap(each, settled));
    hit;
    hit = others.find((each) => overlap(each, settled))
  )
    settled = { ...settled, y: hit.y + hit.h };
  return settled;
}

/** Every place as high as it goes without passing another. */
function raised(places: readonly Place[]): Place[] {
  const settled: Place[] = [];
  for (const each of inOrder(places)) {
    let best = each;
    while (best.y > 0 && !settled.some((other) => overlap(other, { ...best, y: best.y - 1 })))
      best = { ...best, y: best.y - 1 };
    settled.push(best);
  }
  return settled;
}

/** The layout with one place changed; the others make way downwards, and gaps close. */
export function changed(places: readonly Place[], id: string, change: Partial<Place>): Place[] {
  const moved = places.filter((each) => each.id === id).map((each) => bounded({ ...each, ...change }));
  const settled = [...moved];
  for (const each of inOrder(places.filter((other) => other.id !== id))) settled.push(lowered(each, settled));
  return raised(settled);
}

/** The layout with another pane where there is room. */
export function added(places: readonly Place[], kind: Kind): Place[] {
  const same = places.filter((each) => each.kind === kind).length;
  const id = same ? `${kind}-${Math.max(...places.map(numberOf)) + 1}` : kind;
  const like = DEFAULT.find((each) => each.kind === kind) as Place;
  return raised([...places, lowered({ ...like, id, y: 0 }, places)]);
}

const numberOf = (each: Place): number => Number(/-(\d+)$/.exec(each.id)?.[1] ?? 1);

/** The layout without a pane. */
export function without(places: readonly Place[], id: string): Place[] {
  return raised(places.filter((each) => each.id !== id));
}

/** A layout from what was kept; null if it is none of ours. */
export function parsed(kept: unknown): Place[] | null {
  const panes = (kept as { panes?: unknown } | null)?.panes;
  if (!Array.isArray(panes)) return null;
  const places = panes.filter(isPlace).map(bounded);
  return places.filter((each, index) => places.findIndex(({ id }) => id === each.id) === index).slice(0, MOST_PANES);
}

function isPlace(value: Place | null): value is Place {
  const numbers = [value?.x, value?.y, value?.w, value?.h];
  const memory = Object.values(value?.memory ?? {});
  return (
    typeof value?.id === "string" &&
    KINDS.includes(value.kind) &&
    numbers.every(Number.isInteger) &&
    memory.every((each) => typeof each === "string")
  );
}
