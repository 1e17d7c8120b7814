import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake-browser.ts";
import { closedAt } from "../panes/chart/played.ts";
import type { Candle } from "../panes/chart-bars.ts";

const bar = (time: string) => ({ time, open: 1, high: 1, low: 1, close: 1 }) as Candle;
const bars = ["10:00", "10:05", "10:10"].map((time) => bar(`2026-11-20T${time}:00Z`));

for (const [moment, count] of [
  ["10:04:59", 0],
  ["10:05:00", 1],
  ["10:14:59", 2],
  ["11:00:00", 3],
] as const)
  test(`at ${moment} a replay has ${count} closed bars`, () => {
    assert.equal(closedAt(bars, "5m", Date.parse(`2026-11-20T${moment}Z`)), count);
  });
