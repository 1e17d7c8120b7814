export const COLUMNS = 12;
/** Rows that fill the screen; a longer layout scrolls. */
export const ROWS = 24;
export const [LEAST_WIDTH, LEAST_HEIGHT] = [2, 4];
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
  "earnings",
  "alerts",
  "screener",
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
  /** Id of the pane that is shown in this place, where this one is a tab behind it. */
  readonly behind?: string;
}

export type Rectangle = Pick<Place, "x" | "y" | "w" | "h">;

/** A pane without a place. */
export type Pane = Pick<Place, "id" | "kind" | "memory">;

/** Columns and rows of a new pane. */
export const SIZES: Record<Kind, readonly [number, number]> = {
  watchlist: [3, 14],
  chart: [6, 14],
  heatmap: [5, 10],
  movers: [3, 9],
  news: [3, 5],
  crypto: [4, 10],
  doviz: [3, 10],
  company: [6, 13],
  portfolio: [6, 13],
  earnings: [4, 12],
  alerts: [4, 10],
  screener: [6, 12],
};

const place = (kind: Kind, x: number, y: number, w: number, h: number): Place => ({ id: kind, kind, x, y, w, h });

export const DEFAULT: readonly Place[] = [
  place("watchlist", 0, 0, 3, 14),
  place("chart", 3, 0, 6, 14),
  place("movers", 9, 0, 3, 9),
  place("news", 9, 9, 3, 5),
  place("heatmap", 0, 14, 5, 10),
  place("crypto", 5, 14, 4, 10),
  place("doviz", 9, 14, 3, 10),
  place("company", 0, 24, 6, 13),
  place("portfolio", 6, 24, 6, 13),
];

export const isShown = ({ behind }: Place): boolean => behind === undefined;

/** Returns the id of the pane that is shown in a pane's place: the pane's own, or that of the one before it. */
export const frontOf = ({ id, behind }: Place): string => behind ?? id;

/** Returns the panes with the shown ones changed: those behind one take its place, or go with it. */
export function changeShown(places: readonly Place[], change: (shown: readonly Place[]) => readonly Place[]): Place[] {
  const changed = new Map(change(places.filter(isShown)).map((each) => [each.id, each]));
  const kept = places.flatMap((each) => {
    const front = changed.get(frontOf(each));
    return front ? { ...each, ...rectangleOf(front) } : [];
  });
  return [...kept, ...[...changed.values()].filter(({ id }) => !kept.some((each) => each.id === id))];
}

export const rectangleOf = ({ x, y, w, h }: Rectangle): Rectangle => ({ x, y, w, h });

export const overlap = (one: Rectangle, other: Rectangle): boolean =>
  one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h;

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
export function raisePlaces(places: readonly Place[]): Place[] {
  const settled: Place[] = [];
  for (const each of inOrder(places)) {
    let best = each;
    while (best.y > 0 && !settled.some((other) => overlap(other, { ...best, y: best.y - 1 })))
      best = { ...best, y: best.y - 1 };
    settled.push(best);
  }
  return settled;
}

/** Returns the layout with one place changed; the others make room below it, and gaps close. */
export function changePlace(places: readonly Place[], id: string, change: Partial<Place>): Place[] {
  const before = places.find((each) => each.id === id);
  if (!before) return [...places];
  const others = places.filter((each) => each.id !== id);
  return raisePlaces(makeRoom(clampPlace({ ...before, ...change }), others));
}

/** Moves the panes under a place down. */
function makeRoom(given: Place, others: readonly Place[]): Place[] {
  const settled = [given];
  for (const each of inOrder(others)) settled.push(lowerPlace(each, settled));
  return settled;
}

/** Returns a pane with an id that no other of the layout has. */
export function newPane(places: readonly Place[], kind: Kind, memory?: Place["memory"]): Pane {
  const id = places.some((each) => each.id === kind) ? `${kind}-${Math.max(...places.map(numberOf)) + 1}` : kind;
  return { id, kind, ...(memory && { memory }) };
}

/** Returns the layout with another pane in the first free place. */
export function addPlace(places: readonly Place[], { id, kind, memory }: Pane): Place[] {
  const free = freePlace(places, ...SIZES[kind]);
  return raisePlaces([...places, { ...free, id, kind, ...(memory && { memory }) }]);
}

function freePlace(places: readonly Place[], w: number, h: number): Rectangle {
  for (let y = 0; ; y += 1)
    for (let x = 0; x <= COLUMNS - w; x += 1) {
      const free = { x, y, w, h };
      if (!places.some((each) => overlap(each, free))) return free;
    }
}

/** Returns the number of a pane among those of its kind, by its id. */
export const numberOf = (each: Place): number => Number(/-(\d+)$/.exec(each.id)?.[1] ?? 1);

/** Returns the places in reading order. */
export const inOrder = (places: readonly Place[]): Place[] =>
  [...places].sort((one, other) => one.y - other.y || one.x - other.x);

/** Panes that take both columns of a tablet. */
const WIDE: readonly Kind[] = ["chart", "heatmap", "portfolio"];

/** Returns the panes in two columns without gaps, each with the number of columns it takes. */
export function foldPlaces(places: readonly Place[]): { readonly place: Place; readonly columns: 1 | 2 }[] {
  const rest = inOrder(places);
  const folded: { place: Place; columns: 1 | 2 }[] = [];
  let half = false;
  while (rest.length) {
    const index = half ? rest.findIndex((each) => !WIDE.includes(each.kind)) : 0;
    const [place] = rest.splice(Math.max(0, index), 1) as [Place];
    const isWide = WIDE.includes(place.kind);
    const last = folded.at(-1);
    if (half && isWide && last) last.columns = 2;
    folded.push({ place, columns: isWide || (!half && !rest.length) ? 2 : 1 });
    half = !isWide && !half;
  }
  return folded;
}

/** Returns the valid places of a stored layout, without overlaps; null for anything else. */
export function parsePlaces(panes: unknown): Place[] | null {
  if (!Array.isArray(panes)) return null;
  const places = panes.filter(isPlace).map(clampPlace);
  const known = places
    .filter((each, index) => places.findIndex(({ id }) => id === each.id) === index)
    .slice(0, MOST_PANES);
  const fronts = new Set<unknown>(known.filter((each) => each.behind === undefined).map(({ id }) => id));
  // One behind a pane that is not there, or behind itself, is a pane of its own.
  const grouped = known.map(({ behind, ...each }) => (fronts.has(behind) ? { ...each, behind } : each) as Place);
  return changeShown(grouped, (shown) => {
    const settled: Place[] = [];
    for (const each of inOrder(shown)) settled.push(lowerPlace(each, settled));
    return raisePlaces(settled);
  });
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
