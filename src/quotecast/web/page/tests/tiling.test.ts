import assert from "node:assert/strict";
import { test } from "node:test";

import { closeTab, detachTab, dropGroup, dropTab, showTab, tabsOf, turnTab } from "../groups.ts";
import { COLUMNS, changeShown, DEFAULT, KINDS, newPane, type Place, parsePlaces, ROWS } from "../layout.ts";
import { TEMPLATE_NAMES, TEMPLATES } from "../templates.ts";
import {
  closePlace,
  dropPlace,
  fillPlaces,
  insertPlace,
  resizePlace,
  type Side,
  sideAt,
  swapPlace,
} from "../tiling.ts";

const SIDES: readonly Side[] = ["left", "right", "top", "bottom", "middle", "heading"];
const FIRST_SCREEN = DEFAULT.filter(({ y }) => y < ROWS);
const IDS = DEFAULT.map(({ id }) => id);

const cellsOf = ({ x, y, w, h }: Place): number[] =>
  Array.from({ length: w * h }, (_, cell) => (y + Math.floor(cell / w)) * COLUMNS + x + (cell % w));

/** Returns how many panes each cell of the first screen has. */
function cells(places: readonly Place[]): number[] {
  const found = new Array<number>(COLUMNS * ROWS).fill(0);
  for (const { x, y, w, h } of places)
    for (let row = y; row < Math.min(ROWS, y + h); row += 1)
      for (let column = x; column < x + w; column += 1)
        found[row * COLUMNS + column] = (found[row * COLUMNS + column] ?? 0) + 1;
  return found;
}

function isTiled(places: readonly Place[], what: string): void {
  const area = places.reduce((sum, { w, h }) => sum + w * h, 0);
  assert.equal(new Set(places.flatMap(cellsOf)).size, area, `${what}: panes overlap`);
  for (const { x, w } of places) assert.ok(x >= 0 && x + w <= COLUMNS, what);
  assert.deepEqual([...new Set(cells(places))], [1], what);
}

const placeOf = (places: readonly Place[], id: string) => places.find((each) => each.id === id) as Place;
const spot = (places: readonly Place[], id: string) => {
  const { x, y, w, h } = placeOf(places, id);
  return [x, y, w, h];
};

test("a pane dropped in the middle of another changes places with it", () => {
  const places = dropPlace(DEFAULT, "news", "chart", "middle");
  assert.deepEqual(spot(places, "news"), spot(DEFAULT, "chart"));
  assert.deepEqual(spot(places, "chart"), spot(DEFAULT, "news"));
  isTiled(places, "swap");
});

test("a pane dropped beside an edge takes half of the other, and its neighbours take its place", () => {
  const places = dropPlace(DEFAULT, "news", "chart", "left");
  assert.deepEqual(
    [spot(places, "news"), spot(places, "chart")],
    [
      [3, 0, 3, 14],
      [6, 0, 3, 14],
    ],
  );
  assert.deepEqual(spot(places, "movers"), [9, 0, 3, 14]);
  assert.deepEqual(spot(dropPlace(DEFAULT, "movers", "heatmap", "bottom"), "heatmap"), [0, 14, 5, 5]);
});

test("panes too small for two change places", () => {
  assert.deepEqual(spot(dropPlace(DEFAULT, "chart", "news", "top"), "chart"), spot(DEFAULT, "news"));
});

test("a point near an edge is beside it", () => {
  assert.deepEqual(
    [sideAt(0.1, 0.5), sideAt(0.9, 0.5), sideAt(0.5, 0.1), sideAt(0.5, 0.9), sideAt(0.5, 0.5), sideAt(0.2, 0.1)],
    ["left", "right", "top", "bottom", "middle", "top"],
  );
});

test("each template fills the screen with panes that a stored layout may have", () => {
  for (const name of TEMPLATE_NAMES) {
    isTiled(TEMPLATES[name], name);
    assert.deepEqual(parsePlaces(TEMPLATES[name]), TEMPLATES[name]);
  }
});

test("wherever a pane is dropped, the screen is full", () => {
  for (const id of IDS)
    for (const target of IDS)
      for (const side of SIDES) isTiled(dropPlace(DEFAULT, id, target, side), `${id} ${target} ${side}`);
});

test("a closed pane leaves no gap, and the last one fills the screen", () => {
  let places: readonly Place[] = FIRST_SCREEN;
  for (const { id } of FIRST_SCREEN.slice(0, -1)) {
    places = closePlace(places, id);
    isTiled(places, id);
  }
  assert.deepEqual(spot(places, "doviz"), [0, 0, COLUMNS, ROWS]);
  assert.deepEqual(fillPlaces([]), []);
});

test("a pane swaps with its neighbour in a direction, and stays at the edge of the screen", () => {
  const down = swapPlace(DEFAULT, "movers", 0, 1);
  assert.deepEqual([spot(down, "movers"), spot(down, "news")], [spot(DEFAULT, "news"), spot(DEFAULT, "movers")]);
  assert.deepEqual(swapPlace(down, "movers", 0, -1), DEFAULT);
  assert.deepEqual(spot(swapPlace(DEFAULT, "news", -1, 0), "chart"), spot(DEFAULT, "news"));
  assert.deepEqual(swapPlace(DEFAULT, "chart", 0, -1), DEFAULT);
  assert.deepEqual(swapPlace(DEFAULT, "movers", 1, 0), DEFAULT);
  for (const id of IDS)
    for (const [dx, dy] of [
      [1, 0],
      [-1, 0],
      [0, 1],
      [0, -1],
    ] as const) {
      const places = swapPlace(DEFAULT, id, dx, dy);
      isTiled(places, `${id} ${dx} ${dy}`);
      assert.equal(new Set(places.map((each) => each.id)).size, IDS.length);
    }
});

test("no new pane throws another one off the screen", () => {
  const small = Array.from({ length: 12 }, (_, index): Place => {
    const id = index ? `news-${index + 1}` : "news";
    return { id, kind: "news", x: 3 * (index % 4), y: 8 * Math.floor(index / 4), w: 3, h: 8 };
  });
  const places = insertPlace(small, newPane(small, "chart"));
  isTiled(places, "chart");
  for (const each of places) assert.ok(each.y + each.h <= ROWS, each.id);
});

test("a new pane takes half of the largest where the screen is full", () => {
  const places = insertPlace(FIRST_SCREEN, newPane(FIRST_SCREEN, "earnings"));
  isTiled(places, "earnings");
  assert.equal(placeOf(places, "earnings").x, 6);
  let all: readonly Place[] = [];
  for (const kind of KINDS) {
    all = insertPlace(all, newPane(all, kind));
    isTiled(all, kind);
  }
  assert.equal(placeOf(insertPlace(DEFAULT, newPane(DEFAULT, "earnings")), "earnings").y, 37);
});

test("the panes along an edge give what a pane takes", () => {
  const wider = resizePlace(DEFAULT, "watchlist", 2, 0);
  isTiled(wider, "wider");
  assert.deepEqual(
    [spot(wider, "watchlist"), spot(wider, "chart")],
    [
      [0, 0, 5, 14],
      [5, 0, 4, 14],
    ],
  );
  // The chart keeps its least width.
  assert.equal(placeOf(resizePlace(DEFAULT, "watchlist", 9, 0), "chart").w, 2);
  // At the right border the left edge moves.
  assert.deepEqual(spot(resizePlace(DEFAULT, "news", 1, 0), "news"), [8, 9, 4, 5]);
  assert.deepEqual(spot(resizePlace(DEFAULT, "news", 1, 0), "movers"), [8, 0, 4, 9]);
  const higher = resizePlace(DEFAULT, "chart", 0, 3);
  isTiled(higher, "higher");
  assert.deepEqual([placeOf(higher, "heatmap").y, placeOf(higher, "doviz").y], [17, 14]);
});

const idsIn = (places: readonly Place[], id: string) => tabsOf(places, id).map((each) => each.id);

test("a pane dropped on a heading is shown there before the others, and the neighbours take its place", () => {
  const joined = dropGroup(DEFAULT, "news", "chart", "heading");
  assert.deepEqual(idsIn(joined, "chart"), ["chart", "news"]);
  assert.equal(placeOf(joined, "chart").behind, "news");
  assert.deepEqual(spot(joined, "news"), spot(DEFAULT, "chart"));
  assert.deepEqual(spot(joined, "movers"), [9, 0, 3, 14]);
  const three = dropGroup(joined, "news", "heatmap", "heading");
  assert.deepEqual(idsIn(three, "heatmap"), ["heatmap", "chart", "news"]);
  assert.deepEqual(dropGroup(three, "news", "news", "heading"), three);
});

test("tabs are where the shown one of them is", () => {
  const joined = dropGroup(DEFAULT, "news", "chart", "heading");
  const shown = showTab(joined, "chart");
  assert.equal(placeOf(shown, "news").behind, "chart");
  assert.equal(placeOf(shown, "chart").behind, undefined);
  const moved = dropGroup(shown, "chart", "watchlist", "middle");
  assert.deepEqual(spot(moved, "news"), spot(DEFAULT, "watchlist"));
  assert.deepEqual(spot(moved, "watchlist"), spot(joined, "chart"));
});

test("the neighbour of a closed tab is shown, and a closed pane takes no tab with it", () => {
  const joined = dropGroup(dropGroup(DEFAULT, "news", "chart", "heading"), "movers", "news", "heading");
  assert.deepEqual(idsIn(joined, "movers"), ["chart", "news", "movers"]);
  const closed = closeTab(joined, "movers");
  assert.deepEqual([placeOf(closed, "news").behind, placeOf(closed, "chart").behind], [undefined, "news"]);
  assert.deepEqual(spot(closed, "news"), spot(joined, "movers"));
  assert.deepEqual(idsIn(closeTab(joined, "chart"), "movers"), ["news", "movers"]);
});

test("a tab becomes a pane of its own: beside an edge, in a direction, or by a button", () => {
  const joined = dropGroup(DEFAULT, "news", "chart", "heading");
  for (const places of [
    dropTab(joined, "news", "chart", "right"),
    dropTab(joined, "news", "news", "right"),
    dropTab(showTab(joined, "chart"), "news", "chart", "right"),
    turnTab(joined, "news", 1, 0),
    detachTab(joined, "news"),
  ]) {
    assert.deepEqual(
      [spot(places, "chart"), spot(places, "news")],
      [
        [3, 0, 3, 14],
        [6, 0, 3, 14],
      ],
    );
    assert.deepEqual(idsIn(places, "news"), ["news"]);
  }
  assert.deepEqual(idsIn(dropTab(joined, "news", "watchlist", "middle"), "news"), ["watchlist", "news"]);
  assert.deepEqual(dropTab(joined, "chart", "news", "middle"), joined);
});

test("a tab of a place too small for two goes where there is room", () => {
  const small = [
    { id: "news", kind: "news", x: 0, y: 0, w: 3, h: 4 },
    { id: "movers", kind: "movers", x: 0, y: 0, w: 3, h: 4, behind: "news" },
    { id: "chart", kind: "chart", x: 3, y: 0, w: 9, h: 24 },
    { id: "heatmap", kind: "heatmap", x: 0, y: 4, w: 3, h: 20 },
  ] as const satisfies Place[];
  const places = detachTab(small, "news");
  isTiled(places, "detached");
  assert.deepEqual(spot(places, "movers"), [0, 0, 3, 4]);
  assert.deepEqual(turnTab(small, "news", 1, 0), small);
});

test("a pane is a tab of its neighbour in a direction, and leaves it again", () => {
  const joined = turnTab(DEFAULT, "news", -1, 0);
  assert.deepEqual(idsIn(joined, "news"), ["chart", "news"]);
  assert.deepEqual(idsIn(turnTab(joined, "news", 0, 1), "chart"), ["chart"]);
  assert.deepEqual(turnTab(DEFAULT, "watchlist", -1, 0), DEFAULT);
});

test("the screen stays full over many changes, and no pane is lost", () => {
  let seed = 1;
  const draw = (count: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % count;
  };
  for (let walk = 0; walk < 30; walk += 1) {
    let places: readonly Place[] = DEFAULT;
    for (let step = 0; step < 40; step += 1) {
      const [one, other] = [IDS[draw(IDS.length)] as string, IDS[draw(IDS.length)] as string];
      const side = SIDES[draw(SIDES.length)] as Side;
      const shown = places.filter(({ behind }) => !behind).map(({ id }) => id);
      const [front, target] = [shown[draw(shown.length)] as string, shown[draw(shown.length)] as string];
      const [dx, dy] = [draw(7) - 3, draw(7) - 3];
      const changes = [
        () => dropGroup(places, front, target, side),
        () => changeShown(places, (each) => resizePlace(each, front, dx, dy)),
        () => changeShown(places, (each) => swapPlace(each, front, dx, dy)),
        () => turnTab(places, front, dx, dy),
        () => dropTab(places, one, target, side),
        () => detachTab(places, one),
        () => showTab(places, one),
        () => {
          const closed = closeTab(places, one);
          assert.equal(closed.length, IDS.length - 1);
          return changeShown(closed, (each) => insertPlace(each, placeOf(places, one)));
        },
      ];
      places = (changes[draw(changes.length)] as () => Place[])();
      const what = `walk ${walk}, step ${step}`;
      isTiled(
        places.filter(({ behind }) => !behind),
        what,
      );
      assert.deepEqual(places.map(({ id }) => id).sort(), [...IDS].sort(), what);
      for (const { id, behind } of places)
        if (behind) assert.deepEqual(spot(places, id), spot(places, behind), `${what}: ${id} behind ${behind}`);
      assert.deepEqual(parsePlaces(places), places, what);
      assert.ok(idsIn(places, other).includes(other));
    }
  }
});
