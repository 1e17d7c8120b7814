import assert from "node:assert/strict";
import { test } from "node:test";
import { alignCloses, changeSince, parseCompared, writeCompared } from "../panes/chart/compare.ts";
import { decimalsOf } from "../panes/chart/decimals.ts";
import {
  countDrawings,
  type Drawing,
  distanceTo,
  indexOfTime,
  linesBetween,
  memoryKey,
  moveDrawing,
  parseDrawings,
  parsePrice,
  timeOfIndex,
  writeDrawings,
} from "../panes/chart/drawings.ts";
import { fileName } from "../panes/chart/picture.ts";
import type { Candle } from "../panes/chart-bars.ts";

const bar = (time: string, close = 1): Candle => ({ time, open: close, high: close, low: close, close });

test("another instrument has its last close before the end of each bar", () => {
  const own = ["2026-11-20T14:30:00Z", "2026-11-20T14:35:00Z", "2026-11-20T14:45:00Z"].map((time) => bar(time));
  const other = [
    bar("2026-11-20T14:35:00Z", 5),
    bar("2026-11-20T14:40:00Z", 6),
    bar("2026-11-20T14:45:00Z", 7),
    bar("2026-11-20T14:50:00Z", 8),
  ];
  assert.deepEqual(alignCloses(own, other, "5m"), [null, 5, 7]);
});

test("days of venues in other time zones meet", () => {
  const own = ["2026-11-19T05:00:00Z", "2026-11-20T05:00:00Z"].map((time) => bar(time));
  const earlier = [bar("2026-11-19T00:00:00Z", 1), bar("2026-11-20T00:00:00Z", 2)];
  assert.deepEqual(alignCloses(own, earlier, "D"), [1, 2]);
  assert.deepEqual(alignCloses(earlier, [bar("2026-11-19T05:00:00Z", 3), bar("2026-11-20T05:00:00Z", 4)], "D"), [3, 4]);
});

test("a change counts from the first known value in view", () => {
  assert.equal(changeSince([null, 100, 150], 0, 2), 50);
  assert.equal(changeSince([80, 100, 150], 1, 2), 50);
  assert.equal(changeSince([80, null], 0, 1), null);
  assert.equal(changeSince([80], -40, 0), 0);
});

test("a pane's memory holds compared symbols of all feeds, without the chart's own", () => {
  const own = { feed: "market", key: "AAPL" } as const;
  const text = "stock MSFT|crypto BTC/USDT|doviz gram-altin|stock AAPL|stock MSFT|bond X|";
  const found = parseCompared(text, own);
  assert.deepEqual(
    found.map((each) => each.key),
    ["MSFT", "BTC/USDT", "gram-altin"],
  );
  assert.deepEqual(parseCompared(writeCompared(found), own), found);
  assert.equal(
    writeCompared(found.slice(1)),
    "|crypto BTC/USDT|doviz gram-altin",
    "each has its place, and its colour",
  );
  assert.equal(parseCompared("stock A|stock B|stock C|stock D|stock E", own).length, 4);
});

test("drawings come back from their text; what is no drawing does not", () => {
  const drawings: Drawing[] = [
    { kind: "level", price: 0.00001234 },
    ...(["trend", "box", "fib", "measure"] as const).map((kind) => ({
      kind,
      from: { time: 1_700_000_000, price: 1.5 },
      to: { time: 1_700_003_600, price: 107_901.38 },
    })),
  ];
  assert.deepEqual(parseDrawings(writeDrawings(drawings)), drawings);
  assert.deepEqual(parseDrawings("h x;t 1 2 3;z 1;h 1 2;"), []);
  const memory = {
    [memoryKey("stock", "AAPL")]: writeDrawings(drawings),
    range: "1D",
    [memoryKey("crypto", "BTC/USDT")]: "h 5",
  };
  assert.equal(countDrawings(memory), 6);
});

test("a drawing between two points has the lines that the pointer meets", () => {
  const [from, to] = [
    { x: 0, y: 100 },
    { x: 50, y: 0 },
  ];
  assert.deepEqual(linesBetween("trend", from, to), [[from, to]]);
  assert.equal(linesBetween("box", from, to).length, 4);
  const levels = linesBetween("fib", from, to).map(([start]) => start.y);
  assert.deepEqual([levels[0], levels[3], levels.at(-1)], [0, 50, 100]);
});

test("a typed price has a comma or a point", () => {
  const texts = ["123.45", " 123,45 ", "1.234,56", "1,234.5", "42", "0", "-5", "abc", "", "."];
  assert.deepEqual(texts.map(parsePrice), [123.45, 123.45, 1234.56, 1234.5, 42, null, null, null, null, null]);
});

test("a trend line moves as a whole, or its end alone", () => {
  const line: Drawing = { kind: "trend", from: { time: 100, price: 1 }, to: { time: 200, price: 2 } };
  assert.deepEqual(moveDrawing(line, 10, 1), {
    kind: "trend",
    from: { time: 110, price: 2 },
    to: { time: 210, price: 3 },
  });
  assert.deepEqual(moveDrawing(line, 10, 1, true), { ...line, to: { time: 210, price: 3 } });
  assert.deepEqual(moveDrawing({ kind: "level", price: 5 }, 10, 1), { kind: "level", price: 6 });
});

test("times have places among the bars, also between and beyond them", () => {
  const times = [100, 200, 400];
  for (const [time, index] of [
    [100, 0],
    [150, 0.5],
    [300, 1.5],
    [400, 2],
    [550, 3],
    [-50, -1],
  ] as const) {
    assert.equal(indexOfTime(times, time), index);
    assert.equal(timeOfIndex(times, index), time);
  }
});

test("the distance to a line ends at its points", () => {
  const [from, to] = [
    { x: 0, y: 0 },
    { x: 10, y: 0 },
  ];
  assert.equal(distanceTo({ x: 5, y: 3 }, from, to), 3);
  assert.equal(distanceTo({ x: 14, y: 3 }, from, to), 5);
  assert.equal(distanceTo({ x: 3, y: 4 }, from, from), 5);
});

test("prices have the decimals of their tick size", () => {
  assert.deepEqual([1, 0.5, 0.05, 0.01, 0.0001, 1e-8].map(decimalsOf), [0, 1, 2, 2, 4, 8]);
});

test("a picture's file has symbol, interval and time in its name", () => {
  assert.equal(fileName("BTC/USDT", "5m", new Date("2026-11-22T18:00:01Z")), "BTC-USDT-5m-2026-11-22T18-00-01.png");
});
