export const COLUMNS = 12;
/** Rows that fill the screen; a longer layout scrolls. */
export const ROWS = 24;
const [LEAST_WIDTH, LEAST_HEIGHT] = [2, 4];
/** Bounds of a stored layout, which may hold any numbers. */
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

/** A pane's place on the grid, in columns and rows, and its choices. */
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

/** Returns the place within the grid's bounds. */
function clampPlace(given: Place): Place {
  const w = Math.min(COLUMNS, Math.max(LEAST_WIDTH, given.w));
  const h = Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, given.h));
  return { ...given, w, h, x: Math.min(COLUMNS - w, Math.max(0, given.x)), y: Math.min(MOST_Y, Math.max(0, given.y)) };
}

/** Moves a place down to the first row where it overlaps no other. */
function lowerPlace(given: Place, others: readonly Place[]): Place {
  let settled = given;
  for (
    let hit = others.find((each) => overlap(each, settled));
    hit;
    hit = others.find((each) => overlap(each, settled))
  )
    settled = { ...settled, y: hit.y + hit.h };
  return settled;
}

/** Moves every place up as far as it goes without passing another. */
function raisePlaces(places: readonly Place[]): Place[] {
  const settled: Place[] = [];
  for (const each of inOrder(places)) {
    let best = each;
    while (best.y > 0 && !settled.some((other) => overlap(other, { ...best, y: best.y - 1 })))
      best = { ...best, y: best.y - 1 };
    settled.push(best);
  }
  return settled;
}

/** Returns the layout with one place changed; the others move down to make room, and gaps close. */
export function changePlace(places: readonly Place[], id: string, change: Partial<Place>): Place[] {
  const moved = places.filter((each) => each.id === id).map((each) => clampPlace({ ...each, ...change }));
  const settled = [...moved];
  for (const each of inOrder(places.filter((other) => other.id !== id))) settled.push(lowerPlace(each, settled));
  return raisePlaces(settled);
}

/** Returns the layout with another pane in the first free place. */
export function addPlace(places: readonly Place[], kind: Kind): Place[] {
  const same = places.filter((each) => each.kind === kind).length;
  const id = same ? `${kind}-${Math.max(...places.map(numberOf)) + 1}` : kind;
  const like = DEFAULT.find((each) => each.kind === kind) as Place;
  return raisePlaces([...places, lowerPlace({ ...like, id, y: 0 }, places)]);
}

const numberOf = (each: Place): number => Number(/-(\d+)$/.exec(each.id)?.[1] ?? 1);

/** Returns the layout without a pane. */
export function removePlace(places: readonly Place[], id: string): Place[] {
  return raisePlaces(places.filter((each) => each.id !== id));
}

/** Returns the valid places of a stored layout; null for anything else. */
export function parseLayout(stored: unknown): Place[] | null {
  const panes = (stored as { panes?: unknown } | null)?.panes;
  if (!Array.isArray(panes)) return null;
  const places = panes.filter(isPlace).map(clampPlace);
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
