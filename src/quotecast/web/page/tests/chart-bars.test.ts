import assert from "node:assert/strict";
import { test } from "node:test";

import type { Bar, LiveBar } from "quotecast-client";
import { ChartBars, type Interval } from "../panes/chart-bars.ts";

const bar = (time: string, price = 10, more: Partial<Bar> = {}): Bar => ({
  time: `2026-11-20T${time}:00Z`,
  open: price,
  high: price,
  low: price,
  close: price,
  volume: 100,
  ...more,
});

const live = (time: string, price = 10, more: Partial<LiveBar> = {}): LiveBar => ({
  key: "AAPL",
  updates: 1,
  ...bar(time, price),
  final: false,
  ...more,
});

function chartOf(interval: Interval, ...history: Bar[]): ChartBars {
  const bars = new ChartBars(interval);
  bars.load(history);
  return bars;
}

test("a live bar replaces the bar of its time or follows the last one", () => {
  const bars = chartOf("5m", bar("15:00"), bar("15:05"));
  const moved = { open: 10, high: 12, low: 9, close: 11, volume: 120 };
  assert.deepEqual(bars.take(live("15:05", 10, moved), false), bar("15:05", 10, moved));
  bars.take(live("15:10", 11), false);
  assert.deepEqual(bars.all, [bar("15:00"), bar("15:05", 10, moved), bar("15:10", 11)]);
  assert.equal(bars.isIncomplete, false);
});

test("a final bar that comes after the next bar began changes its own bar", () => {
  const bars = chartOf("1m", bar("15:00"));
  bars.take(live("15:01", 12), false);
  const final = bar("15:00", 10, { close: 11, high: 11 });
  assert.deepEqual(bars.take(live("15:00", 10, { close: 11, high: 11, final: true }), false), final);
  assert.deepEqual(bars.all, [final, bar("15:01", 12)]);
});

test("a live bar that lacks the beginning does not shrink the history's bar", () => {
  const bars = chartOf("1h", bar("15:00", 10, { high: 14, low: 8, volume: 900 }));
  bars.take(live("15:00", 11, { low: 7, volume: 5 }), true);
  assert.deepEqual(bars.all, [bar("15:00", 10, { high: 14, low: 7, close: 11, volume: 900 })]);
  assert.equal(bars.isIncomplete, false);
});

test("a bar that came live is the feed's alone, also where the last one is narrower", () => {
  const bars = chartOf("1m", bar("15:00"));
  bars.take(live("15:01", 10, { high: 14, volume: 300 }), false);
  const final = { open: 9, high: 12, low: 9, close: 11, volume: 200, final: true };
  assert.deepEqual(bars.take(live("15:01", 10, final), false), bar("15:01", 9, { high: 12, close: 11, volume: 200 }));
});

test("a live bar that has all of the history's bar replaces it, with another opening price", () => {
  const bars = chartOf("1m", bar("15:00", 10, { high: 12, low: 9 }));
  const whole = { open: 8.5, high: 12, low: 8, close: 11, volume: 120 };
  assert.deepEqual(bars.take(live("15:00", 10, whole), true), bar("15:00", 8.5, { ...whole }));
});

test("bars are incomplete if the first live bar is newer than the history, until it is loaded again", () => {
  const bars = chartOf("1m", bar("15:00"));
  bars.take(live("15:02"), true);
  assert.equal(bars.isIncomplete, true);
  bars.take(live("15:03", 12), false);
  bars.load([bar("15:00", 11), bar("15:01"), bar("15:02", 9)]);
  assert.equal(bars.isIncomplete, false);
  const merged = bar("15:02", 9, { high: 10, close: 10 });
  assert.deepEqual(bars.all, [bar("15:00", 11), bar("15:01"), merged, bar("15:03", 12)]);
});

test("live bars stay that a cached history lacks before its bar of the current price", () => {
  const bars = chartOf("1m", bar("15:00"));
  for (const time of ["15:01", "15:02", "15:03"]) bars.take(live(time, 12), false);
  bars.load([bar("14:59"), bar("15:00"), bar("15:03", 12)]);
  assert.deepEqual(
    bars.all.map((each) => each.time.slice(11, 16)),
    ["14:59", "15:00", "15:01", "15:02", "15:03"],
  );
});

test("a chart without history shows live bars and asks for the history", () => {
  const bars = chartOf("1m");
  bars.take(live("15:00", 10, { volume: 0 }), true);
  assert.deepEqual([bars.all.length, bars.isIncomplete], [1, true]);
});

test("a live bar that the service's history does not have between its bars is ignored", () => {
  const bars = chartOf("1m", bar("15:00"), bar("15:02"));
  assert.equal(bars.take(live("15:01"), false), null);
  assert.equal(bars.all.length, 2);
});

test("bars of a feed without volumes have none", () => {
  const bars = new ChartBars("1m");
  bars.load([{ ...bar("15:00"), volume: null }]);
  for (const time of ["15:00", "15:01"]) bars.take(live(time, 10, { volume: null }), false);
  assert.deepEqual(
    bars.all.map((each) => each.volume),
    [null, null],
  );
});

test("shorter live bars extend the last bar of other intervals", () => {
  const bars = chartOf("30m", bar("15:00", 10, { high: 11, volume: 700 }));
  bars.take(live("15:15", 9), false);
  bars.take(live("15:15", 9, { high: 12, close: 12 }), false);
  assert.deepEqual(bars.all, [bar("15:00", 10, { high: 12, low: 9, close: 12, volume: 700 })]);
  assert.equal(bars.isIncomplete, false);
});

test("the next shorter bar may belong to another bar: the service says to which", () => {
  const bars = chartOf("4h", bar("12:00"));
  bars.take(live("15:00", 11), false);
  assert.equal(bars.take(live("16:00", 20), false), null);
  assert.deepEqual(bars.take(live("15:00", 11, { final: true }), false), bars.all[0]);
  assert.equal(bars.isIncomplete, true);
  assert.deepEqual(bars.all, [bar("12:00", 10, { high: 11, close: 11 })]);
  bars.load([bar("12:00", 10, { high: 11, close: 11 }), bar("16:00", 20)]);
  assert.equal(bars.take(live("15:00", 11, { final: true }), false), null);
  bars.take(live("16:00", 21), false);
  assert.deepEqual(bars.all.at(-1), bar("16:00", 20, { high: 21, close: 21 }));
  assert.equal(bars.isIncomplete, false);
});

test("other intervals are loaded again after live bars went missing", () => {
  const bars = chartOf("W", bar("05:00"));
  bars.take(live("05:00", 11), true);
  assert.equal(bars.isIncomplete, true);
});

test("older bars come before the others, and stay when the history is loaded again", () => {
  const bars = chartOf("1m", bar("15:00"), bar("15:01"));
  bars.prepend([bar("14:58"), bar("14:59"), bar("15:00", 99)]);
  const older = [bar("14:58"), bar("14:59")];
  assert.deepEqual(bars.all, [...older, bar("15:00"), bar("15:01")]);
  bars.load([bar("15:00"), bar("15:01"), bar("15:02")]);
  assert.deepEqual(bars.all, [...older, bar("15:00"), bar("15:01"), bar("15:02")]);
  assert.deepEqual(bars.since(Date.parse("2026-11-20T15:01:00Z")), [bar("15:01"), bar("15:02")]);
});

test("older bars go when bars are missing between them and the history", () => {
  const bars = chartOf("1m", bar("15:00"), bar("15:01"));
  bars.load([bar("15:05"), bar("15:06")]);
  assert.deepEqual(bars.all, [bar("15:05"), bar("15:06")]);
});
