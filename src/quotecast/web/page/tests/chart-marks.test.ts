import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake-browser.ts";

import type { CorporateAction, EarningsEvent } from "quotecast-client";
import { marksOf, placed, reportMarks } from "../panes/chart/marks.ts";
import type { Candle } from "../panes/chart-bars.ts";

const action = (day: string, more: Partial<CorporateAction>): CorporateAction => ({
  id: day,
  type: "cash_dividend",
  symbol: "KO",
  exDate: day,
  recordDate: null,
  payableDate: null,
  oldShares: null,
  newShares: null,
  amount: null,
  currency: null,
  newSymbol: null,
  provider: "test",
  knownAt: null,
  ...more,
});
const bars = (...times: string[]): Candle[] =>
  times.map((time) => ({ time, open: 1, high: 1, low: 1, close: 1, volume: 1 }));
const marks = (...days: string[]) => marksOf(days.map((day) => action(day, { amount: 0.5, currency: "USD" })));
const days = (found: ReturnType<typeof placed>) =>
  [...found].map(([index, each]) => [index, ...each.map(({ day }) => day)]);

test("a report has a mark once its figures are known", () => {
  const report = { date: "2026-10-29", epsActual: 1.64, epsEstimate: 1.6 } as EarningsEvent;
  const unknown = { ...report, date: "2027-01-28", epsActual: null };
  const alone = { ...report, date: "2026-07-30", epsEstimate: null };
  assert.deepEqual(
    reportMarks([alone, report, unknown]).map(({ day, letter, text }) => [day, letter, text]),
    [
      ["2026-07-30", "E", "1.64"],
      ["2026-10-29", "E", "1.64, expected 1.6"],
    ],
  );
});

test("a mark has a letter and what the action is", () => {
  const found = marksOf([
    action("2026-06-02", { amount: 0.27, currency: "USD" }),
    action("2026-06-03", { type: "split", oldShares: 1, newShares: 4 }),
    action("2026-06-04", { type: "stock_dividend", oldShares: 1, newShares: 1.05 }),
    action("2026-06-05", { type: "rename", newSymbol: "META" }),
    action("2026-06-08", { type: "merger", newSymbol: "MSFT", oldShares: 2, newShares: 1 }),
  ]);
  assert.deepEqual(
    found.map(({ letter, text }) => [letter, text]),
    [
      ["D", "0.27 USD"],
      ["S", "1 → 4"],
      ["S", "1 → 1.05"],
      ["R", "META"],
      ["R", "MSFT"],
    ],
  );
});

test("a day's mark is at the first bar of the day in New York", () => {
  // The evening of the 19th in New York is the 20th in UTC.
  const held = bars(
    "2026-11-19T21:00:00.000Z",
    "2026-11-20T00:45:00.000Z",
    "2026-11-20T14:30:00.000Z",
    "2026-11-20T14:45:00.000Z",
    "2026-11-23T14:30:00.000Z",
  );
  assert.deepEqual(days(placed(marks("2026-11-23", "2026-11-20", "2026-11-19"), held, "15m")), [
    [0, "2026-11-19"],
    [2, "2026-11-20"],
    [4, "2026-11-23"],
  ]);
});

test("days before the bars, between them and after them have no mark", () => {
  const held = bars("2026-11-19T05:00:00.000Z", "2026-11-20T05:00:00.000Z");
  assert.deepEqual(days(placed(marks("2026-11-18", "2026-11-22", "2026-11-21"), held, "D")), []);
  assert.deepEqual(days(placed(marks("2026-11-20"), [], "D")), []);
});

test("a week or a month has the marks of all its days", () => {
  const held = bars("2026-11-02T05:00:00.000Z", "2026-11-09T05:00:00.000Z");
  assert.deepEqual(
    days(placed(marks("2026-10-30", "2026-11-05", "2026-11-02", "2026-11-12", "2026-11-16"), held, "W")),
    [
      [0, "2026-11-02", "2026-11-05"],
      [1, "2026-11-12"],
    ],
  );
  assert.deepEqual(days(placed(marks("2026-12-01", "2026-11-30"), held.slice(0, 1), "M")), [[0, "2026-11-30"]]);
});
