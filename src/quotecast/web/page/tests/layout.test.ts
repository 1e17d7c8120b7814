import assert from "node:assert/strict";
import { test } from "node:test";

import { addPlace, COLUMNS, changePlace, DEFAULT, KINDS, type Place, parseLayout, removePlace } from "../layout.ts";

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

test("every kind of pane has a place", () => {
  isWhole(DEFAULT);
  assert.deepEqual(DEFAULT.map((each) => each.kind).sort(), [...KINDS].sort());
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

test("a pane that closes leaves no gap", () => {
  const places = removePlace(DEFAULT, "watchlist");
  isWhole(places);
  assert.ok(!places.some((each) => each.id === "watchlist"));
  const top = places.filter((each) => each.y === 0).map((each) => each.id);
  assert.ok(top.includes("chart") && top.includes("movers"));
});

test("a second pane of a kind has its own id", () => {
  const places = addPlace(addPlace(DEFAULT, "chart"), "chart");
  isWhole(places);
  assert.equal(new Set(places.map((each) => each.id)).size, DEFAULT.length + 2);
});

test("parseLayout returns null for an invalid layout, and moves places into the bounds", () => {
  for (const nothing of [null, undefined, 3, "panes", {}, { panes: 3 }]) assert.equal(parseLayout(nothing), null);
  const saved = {
    panes: [{ id: "chart", kind: "chart", x: 30, y: -2, w: 40, h: 1 }, { id: "x", kind: "teapot" }, null],
  };
  const places = parseLayout(saved) ?? [];
  assert.equal(places.length, 1);
  isWhole(places);
});
