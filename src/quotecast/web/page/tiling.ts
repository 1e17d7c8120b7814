/** Panes without empty space between them: they grow into gaps, share edges, and split or swap where one is dropped. */

import {
  addPlace,
  COLUMNS,
  changePlace,
  inOrder,
  LEAST_HEIGHT,
  LEAST_WIDTH,
  overlap,
  type Pane,
  type Place,
  type Rectangle,
  ROWS,
  raisePlaces,
  rectangleOf,
} from "./layout.ts";

/** The place in a pane where the reader drops another one. */
export type Side = "left" | "right" | "top" | "bottom" | "middle" | "heading";

/** Share of a pane's width and height at its edges in which a dropped pane splits it. */
const EDGE = 0.25;

/** Returns the layout without gaps on the first screen; `last` grows after all others. */
export function fillPlaces(places: readonly Place[], last = ""): Place[] {
  let filled = growPlaces(places, last);
  if (firstGap(filled)) filled = growPlaces(raisePlaces(places), last);
  for (let gap = firstGap(filled); gap; ) {
    // Four panes around the gap block each other: one of their edges moves across it.
    const moved = edgesOf(gap, filled).map(([own, axis, edge, step]) => shiftEdge(filled, own, axis, edge, step));
    const next = moved.find((each) => each !== null && countGaps(each) < countGaps(filled));
    if (!next) break;
    filled = growPlaces(next, last);
    gap = firstGap(filled);
  }
  const settled = raisePlaces(filled);
  return places.map(({ id }) => settled.find((each) => each.id === id) as Place);
}

/** Returns the layout without a pane; its neighbours take its place. */
export const closePlace = (places: readonly Place[], id: string): Place[] =>
  fillPlaces(places.filter((each) => each.id !== id));

/** Returns the layout with each pane of the first screen as wide and as high as it can be. */
function growPlaces(places: readonly Place[], last: string): Place[] {
  const settled = new Map(places.map((each) => [each.id, each]));
  const isFree = (grown: Place) =>
    grown.x >= 0 &&
    grown.x + grown.w <= COLUMNS &&
    ![...settled.values()].some((other) => other.id !== grown.id && overlap(other, grown));
  const grow = (id: string, change: (given: Place) => Partial<Place>) => {
    const next = () => ({ ...(settled.get(id) as Place), ...change(settled.get(id) as Place) });
    for (let grown = next(); isFree(grown); grown = next()) settled.set(id, grown);
  };
  const growing = inOrder(places).filter(({ y }) => y < ROWS);
  const ids = growing.map(({ id }) => id).sort((one, other) => Number(one === last) - Number(other === last));
  for (const id of ids) {
    grow(id, ({ w }) => ({ w: w + 1 }));
    grow(id, ({ x, w }) => ({ x: x - 1, w: w + 1 }));
  }
  // One that ends below the screen stays as it is.
  for (const id of ids) grow(id, ({ y, h }) => (y + h < ROWS ? { h: h + 1 } : { x: -1 }));
  return [...settled.values()];
}

type Axis = "x" | "y";

const isEmpty = (places: readonly Place[], cells: Rectangle): boolean => !places.some((each) => overlap(each, cells));

/** Returns the first gap of the first screen; null without one. */
function firstGap(places: readonly Place[]): Rectangle | null {
  if (!places.length) return null;
  for (let y = 0; y < ROWS; y += 1)
    for (let x = 0; x < COLUMNS; x += 1) {
      const gap = { x, y, w: 1, h: 1 };
      if (!isEmpty(places, gap)) continue;
      while (x + gap.w < COLUMNS && isEmpty(places, { ...gap, w: gap.w + 1 })) gap.w += 1;
      while (y + gap.h < ROWS && isEmpty(places, { ...gap, h: gap.h + 1 })) gap.h += 1;
      return gap;
    }
  return null;
}

/** Returns the number of empty cells on the first screen. */
const countGaps = (places: readonly Place[]): number =>
  places.reduce((left, { y, w, h }) => left - w * Math.max(0, Math.min(ROWS, y + h) - y), COLUMNS * ROWS);

/** Returns the edges around a gap, each with a pane that has it and the step that moves it across the gap. */
function edgesOf({ x, y, w, h }: Rectangle, places: readonly Place[]): [Place, Axis, number, number][] {
  const at = (column: number, row: number) =>
    places.find((each) => !isEmpty([each], { x: column, y: row, w: 1, h: 1 }));
  const found: [Place | undefined, Axis, number, number][] = [
    [at(x, y - 1), "y", y, h],
    [at(x - 1, y), "x", x, w],
    [at(x + w, y), "x", x + w, -w],
    [at(x, y + h), "y", y + h, -h],
  ];
  return found.filter((each): each is [Place, Axis, number, number] => each[0] !== undefined);
}

/** Returns the side of a pane at a point, in shares of its width and height. */
export function sideAt(x: number, y: number): Side {
  const distances: [Side, number][] = [
    ["left", x],
    ["right", 1 - x],
    ["top", y],
    ["bottom", 1 - y],
  ];
  const [side, distance] = distances.reduce((least, each) => (each[1] < least[1] ? each : least));
  return distance < EDGE ? side : "middle";
}

/** Returns the layout with a pane dropped on another: beside an edge it takes half of it, else both change places. */
export function dropPlace(places: readonly Place[], id: string, target: string, side: Side): Place[] {
  const [dropped, under] = [id, target].map((name) => places.find((each) => each.id === name));
  if (!dropped || !under || dropped === under) return [...places];
  const halves = halvePlace(under, side);
  const [taken, left] = halves ?? [under, dropped];
  const moved = places.map((each) => {
    if (each === dropped) return { ...each, ...rectangleOf(taken) };
    return each === under ? { ...each, ...rectangleOf(left) } : each;
  });
  return fillPlaces(moved, id);
}

/** Returns the layout with another pane: in the first free place, or where the screen is full in half of the largest. */
export function insertPlace(places: readonly Place[], pane: Pane): Place[] {
  const added = addPlace(places, pane);
  const own = added.find(({ id }) => id === pane.id) as Place;
  const largest = [...places].sort((one, other) => other.w * other.h - one.w * one.h)[0];
  // A longer layout scrolls anyway. A column is as wide as three rows are high.
  const isLong = places.some(({ y, h }) => y + h > ROWS);
  const sides: Side[] = largest && 3 * largest.w > largest.h ? ["right", "bottom"] : ["bottom", "right"];
  const side = sides.find((each) => largest && halvePlace(largest, each));
  if (!largest || !side || isLong || own.y + own.h <= ROWS) return fillPlaces(added, own.id);
  return dropPlace(added, own.id, largest.id, side);
}

/** Returns the half of a pane on a side, and the other half; null where they would be too small. */
export function halvePlace(given: Place, side: Side): [Place, Place] | null {
  const isFirst = side === "left" || side === "top";
  let first: Place;
  let second: Place;
  if (side === "left" || side === "right") {
    const w = Math.floor(given.w / 2);
    if (w < LEAST_WIDTH) return null;
    first = { ...given, w };
    second = { ...given, x: given.x + w, w: given.w - w };
  } else if (side === "top" || side === "bottom") {
    const h = Math.floor(given.h / 2);
    if (h < LEAST_HEIGHT) return null;
    first = { ...given, h };
    second = { ...given, y: given.y + h, h: given.h - h };
  } else return null;
  return isFirst ? [first, second] : [second, first];
}

/** Returns the nearest pane in a direction; undefined at the border. */
export function neighbourOf(places: readonly Place[], own: Place, dx: number, dy: number): Place | undefined {
  const shared = (each: Place) =>
    dx
      ? Math.min(own.y + own.h, each.y + each.h) - Math.max(own.y, each.y)
      : Math.min(own.x + own.w, each.x + each.w) - Math.max(own.x, each.x);
  const distance = (each: Place) =>
    dx > 0
      ? each.x - own.x - own.w
      : dx < 0
        ? own.x - each.x - each.w
        : dy > 0
          ? each.y - own.y - own.h
          : own.y - each.y - each.h;
  return places
    .filter((each) => each !== own && shared(each) > 0 && distance(each) >= 0)
    .sort((one, other) => distance(one) - distance(other) || shared(other) - shared(one))[0];
}

/** Returns the layout with a pane in the place of its neighbour in a direction, and the neighbour in its own. */
export function swapPlace(places: readonly Place[], id: string, dx: number, dy: number): Place[] {
  const own = places.find((each) => each.id === id);
  const neighbour = own && neighbourOf(places, own, dx, dy);
  return neighbour ? dropPlace(places, id, neighbour.id, "middle") : [...places];
}

/** Returns the layout with a pane wider and higher by some tracks; the panes along the moved edges give or take them. */
export function resizePlace(places: readonly Place[], id: string, dw: number, dh: number): Place[] {
  return fillPlaces(moveEdge(moveEdge(places, id, "x", dw), id, "y", dh), id);
}

/** Moves the right or the lower edge of a pane; at the right border, its left edge. */
function moveEdge(places: readonly Place[], id: string, axis: Axis, delta: number): Place[] {
  const own = places.find((each) => each.id === id);
  if (!own || !delta) return [...places];
  const size = axis === "x" ? "w" : "h";
  const isAtBorder = axis === "x" && own.x + own.w >= COLUMNS;
  const edge = isAtBorder ? own.x : own[axis] + own[size];
  // No pane shares this edge: those below make room, or the pane leaves a gap.
  if (!isAtBorder && alongEdge(places, own, axis, edge).every((each) => each[axis] !== edge))
    return changePlace(places, id, { [size]: own[size] + delta });
  for (let step = isAtBorder ? -delta : delta; step; step -= Math.sign(step)) {
    const moved = shiftEdge(places, own, axis, edge, step);
    if (moved) return moved;
  }
  return [...places];
}

/** Returns the layout with the edge of a pane moved, and those that meet it; null where no pane fits any more. */
function shiftEdge(places: readonly Place[], own: Place, axis: Axis, edge: number, step: number): Place[] | null {
  const [size, least] = axis === "x" ? (["w", LEAST_WIDTH] as const) : (["h", LEAST_HEIGHT] as const);
  const along = alongEdge(places, own, axis, edge);
  const moved = places.map((each) => {
    if (!along.includes(each)) return each;
    if (each[axis] === edge) return { ...each, [axis]: edge + step, [size]: each[size] - step };
    return { ...each, [size]: each[size] + step };
  });
  const isFit = (each: Place) =>
    each[axis] >= 0 &&
    each[size] >= least &&
    each.x + each.w <= COLUMNS &&
    !moved.some((other) => other !== each && overlap(other, each));
  return moved.every(isFit) ? moved : null;
}

/** Returns the panes that have to change when an edge of a pane moves: those that share it, and so on. */
function alongEdge(places: readonly Place[], own: Place, axis: Axis, edge: number): Place[] {
  const [size, cross, crossSize] = axis === "x" ? (["w", "y", "h"] as const) : (["h", "x", "w"] as const);
  const touching = places.filter((each) => each[axis] === edge || each[axis] + each[size] === edge);
  const meets = (one: Place, other: Place) =>
    one[cross] < other[cross] + other[crossSize] && other[cross] < one[cross] + one[crossSize];
  const found = [own];
  for (const each of found) found.push(...touching.filter((other) => !found.includes(other) && meets(each, other)));
  return found;
}
