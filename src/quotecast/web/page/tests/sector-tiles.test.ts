import assert from "node:assert/strict";
import { test } from "node:test";

import type { HeatmapStock } from "quotecast-client";
import { changeOf, countOf, fitStocks, roomOf } from "../panes/sector-tiles.ts";

const stock = (ticker: string, weight: number, changePercent: number | null = 0) =>
  ({ ticker, name: ticker, price: 1, weight, changePercent }) as HeatmapStock;
/** A sector with a flat tail, as most have. */
const sector = Array.from({ length: 60 }, (_, index) => stock(`S${index}`, 100 / (index + 1)));
const widthOf = (text: string) => 8 * text.length;
const frame = (w: number, h: number) => ({ x: 0, y: 0, w, h });

test("every tile of a sector has room for a name, down to small frames", () => {
  for (const [w, h] of [
    [600, 400],
    [200, 260],
    [120, 90],
    [110, 60],
  ] as const) {
    const { boxes, others } = fitStocks(sector, frame(w, h), 12, widthOf);
    const named = sector.slice(0, sector.length - others.length);
    const names = [...named.map((each) => each.ticker), countOf(others)];
    assert.equal(boxes.length, names.length);
    assert.ok(named.length > 0, `${w} × ${h}`);
    for (const [index, box] of boxes.entries()) assert.ok(roomOf(box, names[index] ?? "", widthOf), `${w} × ${h}`);
  }
});

test("a sector of few stocks has no tile of others", () => {
  const few = sector.slice(0, 3);
  assert.deepEqual(fitStocks(few, frame(300, 300), 12, widthOf).others, []);
});

test("where no name fits, one tile has all stocks", () => {
  assert.equal(fitStocks(sector, frame(10, 10), 12, widthOf).others.length, sector.length);
});

test("the change of several stocks is by weight, of those that have one", () => {
  assert.equal(changeOf([stock("A", 3, 2), stock("B", 1, -2), stock("C", 9, null)]), 1);
  assert.equal(changeOf([stock("A", 3, null)]), null);
});
