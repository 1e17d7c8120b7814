import assert from "node:assert/strict";
import { test } from "node:test";

import type { EventShown } from "quotecast-client";
import { type AlertWord, distanceOf, noticeOf, phraseOf } from "../alerts/text.ts";
import { english, turkish } from "../words/alerts.ts";

const sayIn =
  (words: Record<AlertWord, string>) =>
  (word: AlertWord, values: Record<string, string | number> = {}) =>
    words[word].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
const say = sayIn(english);
const numbers = { price: (value: number) => value.toFixed(2), percent: (value: number) => `${value}%` };
const above = { condition: "above", value: 200.5, window: null } as const;
const falls = { condition: "falls", value: 5, window: "15m" } as const;

test("a condition reads as words in both languages", () => {
  assert.equal(phraseOf(above, say, numbers), "above 200.50");
  assert.equal(phraseOf(falls, say, numbers), "down 5% within 15 min");
  assert.equal(phraseOf(falls, sayIn(turkish), numbers), "15 dk içinde 5% düşüş");
});

test("a notice has the condition, the price, the change and the note", () => {
  const event: EventShown = {
    ...falls,
    id: 17,
    alert_id: "0",
    ticker: "AAPL",
    type: "stock",
    note: "sell",
    measured: -5.25,
    price: 190,
    happened_at: "2026-11-20T15:30:00.000Z",
  };
  assert.deepEqual(noticeOf(event, say, numbers), {
    title: "AAPL down 5% within 15 min",
    text: "Price 190.00 (-5.25%) · sell",
  });
});

test("a distance is in percent of the price, or in points of the day's change", () => {
  assert.equal(distanceOf({ ...above, value: 110 }, { price: 100 }), 10);
  assert.equal(distanceOf({ condition: "below", value: 90, window: null }, { price: 100 }), -10);
  assert.equal(distanceOf({ condition: "falls", value: 5, window: "day" }, { price: 100, changePercent: -3 }), -2);
});

test("the page does not know the distance of a change in minutes, or without a quote's change", () => {
  assert.equal(distanceOf(falls, { price: 100, changePercent: 1 }), null);
  assert.equal(distanceOf({ ...falls, window: "day" }, { price: 100, changePercent: null }), null);
});
