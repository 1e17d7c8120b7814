import assert from "node:assert/strict";
import { test } from "node:test";

import {
  addPlace,
  COLUMNS,
  changePlace,
  DEFAULT,
  foldPlaces,
  KINDS,
  type Kind,
  newPane,
  type Place,
  parsePlaces,
  ROWS,
  SIZES,
} from "../layout.ts";

const add = (places: readonly Place[], kind: Kind) => addPlace(places, newPane(places, kind));

const overlaps = (places: readonly Place[]) =>
  places.flatMap((one, index) =>
    places
      .slice(index + 1)
      .filter(
        (other) =>
          one.x < other.x + other.w && other.x < one.x + one.w && one.y < other.y + other.h && other.y < one.y + one.h,
      ),
  );

const isWhole = (places: readonly Place[]) => {
  assert.deepEqual(overlaps(places), []);
  for (const each of places) assert.ok(each.x >= 0 && each.x + each.w <= COLUMNS && each.y >= 0, each.id);
};

test("every kind of pane has a size, and the first six panes fill the screen", () => {
  isWhole(DEFAULT);
  for (const kind of KINDS) isWhole(add(DEFAULT, kind));
  assert.deepEqual(Object.keys(SIZES).sort(), [...KINDS].sort());
  for (const each of DEFAULT.slice(0, 6)) assert.ok(each.y + each.h <= ROWS, each.id);
});

const placeOf = (places: readonly Place[], id: string) => places.find((each) => each.id === id) as Place;

test("a new pane takes the first free place", () => {
  const places = add(
    DEFAULT.filter(({ id }) => id !== "movers"),
    "news",
  );
  isWhole(places);
  assert.equal(placeOf(add([], "chart"), "chart").y, 0);
});

test("on a tablet the panes fill two columns without gaps, in their order", () => {
  const folded = foldPlaces(DEFAULT);
  assert.deepEqual(
    folded.map(({ place, columns }) => `${place.id} ${columns}`),
    [
      ...["watchlist 1", "movers 1", "chart 2", "news 1", "crypto 1", "heatmap 2"],
      ...["doviz 1", "company 1", "portfolio 2"],
    ],
  );
  for (let length = 0; length < DEFAULT.length; length += 1) {
    let column = 0;
    for (const { columns } of foldPlaces(DEFAULT.slice(length))) column += columns;
    assert.equal(column % 2, 0);
  }
});

test("the other panes make room for a moved pane, and none is lost", () => {
  for (const { id } of DEFAULT)
    for (const change of [
      { x: 0, y: 0 },
      { x: 99, y: 5 },
      { x: -4, y: -4 },
      { w: 99, h: 99 },
      { w: 0, h: 0 },
    ]) {
      const places = changePlace(DEFAULT, id, change);
      isWhole(places);
      assert.equal(places.length, DEFAULT.length);
    }
});

test("a second pane of a kind has its own id", () => {
  const places = add(add(DEFAULT, "chart"), "chart");
  isWhole(places);
  assert.equal(new Set(places.map((each) => each.id)).size, DEFAULT.length + 2);
});

test("parsePlaces returns null for anything but a list, and moves places into the bounds", () => {
  for (const nothing of [null, undefined, 3, "panes", {}]) assert.equal(parsePlaces(nothing), null);
  const saved = [{ id: "chart", kind: "chart", x: 30, y: -2, w: 40, h: 1 }, { id: "x", kind: "teapot" }, null];
  const places = parsePlaces(saved) ?? [];
  assert.equal(places.length, 1);
  isWhole(places);
});

test("parsePlaces separates panes that overlap", () => {
  const saved = [
    { id: "chart", kind: "chart", x: 0, y: 1000, w: 6, h: 10 },
    { id: "news", kind: "news", x: 3, y: 1002, w: 6, h: 10 },
  ];
  const places = parsePlaces(saved) ?? [];
  isWhole(places);
  assert.deepEqual(
    places.map(({ id, y }) => [id, y]),
    [
      ["chart", 0],
      ["news", 10],
    ],
  );
});

test("parsePlaces keeps the valid ones of a list: no second pane of an id, no choice that is no text", () => {
  const saved = [
    { id: "chart", kind: "chart", x: 0, y: 1e9, w: 6, h: 1e9, memory: { pin: "stock AAPL" } },
    { id: "movers", kind: "movers", x: 0, y: 0, w: 3, h: 8, memory: { side: "losers" } },
    { id: "movers", kind: "movers", x: 3, y: 0, w: 3, h: 8 },
    { id: "news", kind: "news", x: 6, y: 0, w: 3, h: 8, memory: { pin: 5 } },
  ];
  const places = parsePlaces(saved) ?? [];
  assert.deepEqual(places.map((each) => each.id).sort(), ["chart", "movers"]);
  assert.deepEqual(placeOf(places, "movers").memory, { side: "losers" });
  isWhole(places);
});

test("parsePlaces keeps tabs behind a pane that is there and shown; all others are panes of their own", () => {
  const at = { kind: "news", x: 0, y: 0, w: 6, h: 8 };
  const saved = [
    { ...at, id: "news" },
    { ...at, id: "news-2", behind: "news", y: 3000, w: -1 },
    ...[
      ["news-3", "news-2"],
      ["news-4", "news-4"],
      ["news-5", "gone"],
      ["news-6", 7],
      ["news-7", null],
      ["news-8", {}],
    ].map(([id, behind]) => ({ ...at, id, behind })),
  ];
  const places = parsePlaces(saved) ?? [];
  assert.deepEqual(
    places.map(({ id }) => id),
    saved.map(({ id }) => id),
  );
  assert.deepEqual(placeOf(places, "news-2"), { ...placeOf(places, "news"), id: "news-2", behind: "news" });
  const shown = places.filter((each) => !("behind" in each));
  assert.equal(shown.length, places.length - 1);
  isWhole(shown);
  assert.deepEqual(parsePlaces(places), places);
  const many = [
    { ...at, id: "news-99" },
    ...Array.from({ length: 80 }, (_, index) => ({ ...at, id: `news-${index}`, behind: "news-99" })),
  ];
  assert.equal(parsePlaces(many)?.length, 60);
});
