import assert from "node:assert/strict";
import { test } from "node:test";
import { alignCloses, changeSince, parseCompared, writeCompared } from "../panes/chart/compare.ts";
import { decimalsOf } from "../panes/chart/decimals.ts";
import {
  cleanNote,
  countDrawings,
  type Drawing,
  distanceTo,
  indexOfTime,
  linesOf,
  linesOfNote,
  memoryKey,
  moveDrawing,
  nearestPrice,
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

const FROM = { time: 1_700_000_000, price: 1.5 };
const TO = { time: 1_700_003_600, price: 107_901.38 };

test("drawings come back from their text; what is no drawing does not", () => {
  const drawings: Drawing[] = [
    { kind: "level", points: [{ time: 0, price: 0.00001234 }] },
    ...(["trend", "box", "fib", "measure"] as const).map((kind) => ({ kind, points: [FROM, TO] })),
    { kind: "channel", points: [FROM, TO, { time: 1_700_001_800, price: 3 }] },
    { kind: "note", points: [FROM], text: "<b>50 %; %3B</b> çıkış" },
  ];
  assert.deepEqual(parseDrawings(writeDrawings(drawings)), drawings);
  assert.deepEqual(parseDrawings("t 1 2 3 4"), [
    {
      kind: "trend",
      points: [
        { time: 1, price: 2 },
        { time: 3, price: 4 },
      ],
    },
  ]);
  const refused = "h x;t 1 2 3;z 1;h 1 2;c 1 2 3 4;t 1 2 3 4 5;n 1 2;n 1 2  ;n 1;n 1 1e13 far;t 1 2 3 Infinity;";
  assert.deepEqual(parseDrawings(refused), []);
  assert.equal(parseDrawings("h 1;".repeat(100)).length, 50);
  const memory = {
    [memoryKey("stock", "AAPL")]: writeDrawings(drawings),
    range: "1D",
    [memoryKey("crypto", "BTC/USDT")]: "h 5",
  };
  assert.equal(countDrawings(memory), 8);
});

test("a note is one text within its bound, and has lines on the chart", () => {
  assert.equal(cleanNote("  a\n\tb\u0000\ud800 c "), "a b c");
  assert.equal([...cleanNote("😀".repeat(200))].length, 120);
  assert.equal(parseDrawings(`n 1 2 ${"x".repeat(500)}`)[0]?.text?.length, 120);
  assert.deepEqual(linesOfNote("short"), ["short"]);
  const text = `${"word ".repeat(12)}${"x".repeat(50)}`;
  const lines = linesOfNote(text);
  assert.ok(lines.every((line) => line.length <= 40 && line === line.trim()));
  assert.equal(lines.join("").replaceAll(" ", ""), text.replaceAll(" ", ""));
});

test("a drawing has the lines that the pointer meets", () => {
  const [from, to] = [
    { x: 0, y: 100 },
    { x: 50, y: 0 },
  ];
  assert.deepEqual(linesOf("trend", [from, to]), [[from, to]]);
  assert.equal(linesOf("box", [from, to]).length, 4);
  const levels = linesOf("fib", [from, to]).map(([start]) => start.y);
  assert.deepEqual([levels[0], levels[3], levels.at(-1)], [0, 50, 100]);
});

test("the second line of a channel is parallel and passes through its third point", () => {
  const [from, to] = [
    { x: 0, y: 100 },
    { x: 50, y: 0 },
  ];
  assert.deepEqual(linesOf("channel", [from, to, { x: 25, y: 70 }])[1], [
    { x: 0, y: 120 },
    { x: 50, y: 20 },
  ]);
  assert.deepEqual(linesOf("channel", [from, { x: 0, y: 50 }, { x: 9, y: 90 }])[1], [
    { x: 0, y: 90 },
    { x: 0, y: 40 },
  ]);
  assert.deepEqual(linesOf("channel", [from]), []);
});

test("a magnet takes the nearest price of a bar within its reach", () => {
  const given: Candle = { time: "", open: 20, high: 60, low: 10, close: 50 };
  const yOf = (price: number) => 100 - price;
  const found = [42, 52, 36, 79, 81, 93, 20, 107].map((y) => nearestPrice(given, y, yOf));
  assert.deepEqual(found, [60, 50, 60, 20, 20, 10, null, null]);
  assert.equal(
    nearestPrice(given, 50, () => null),
    null,
  );
});

test("a typed price has a comma or a point", () => {
  const texts = ["123.45", " 123,45 ", "1.234,56", "1,234.5", "42", "0", "-5", "abc", "", "."];
  assert.deepEqual(texts.map(parsePrice), [123.45, 123.45, 1234.56, 1234.5, 42, null, null, null, null, null]);
});

test("a drawing moves as a whole, or one of its points alone", () => {
  const drawing: Drawing = { kind: "trend", points: [FROM, TO] };
  const [from, to] = [
    { time: FROM.time + 10, price: FROM.price + 1 },
    { time: TO.time + 10, price: TO.price + 1 },
  ];
  assert.deepEqual(moveDrawing(drawing, 10, 1).points, [from, to]);
  assert.deepEqual(moveDrawing(drawing, 10, 1, 0).points, [from, TO]);
  assert.deepEqual(moveDrawing(drawing, 10, 1, 1).points, [FROM, to]);
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
