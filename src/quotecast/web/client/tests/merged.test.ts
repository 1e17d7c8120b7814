import assert from "node:assert/strict";
import { test } from "node:test";

import { Backoff } from "../backoff.ts";
import { Merged } from "../merged.ts";
import type { StockQuote } from "../rest-types.ts";

const quote = (ticker: string, price: number) => ({ type: "stock_quote", ticker, name: ticker, price }) as StockQuote;
const at = (seq: number) => ({ epoch: "e", seq });

test("a snapshot merges, a resync replaces", () => {
  const copy = new Merged("market");
  assert.equal(copy.since, "none");
  copy.take({ type: "snapshot", reason: "subscribe", ...at(1), data: [quote("A", 1), quote("B", 2)] });
  copy.take({ type: "snapshot", reason: "resume", ...at(2), data: [quote("B", 3)] });
  assert.deepEqual([...copy.quotes.keys()], ["A", "B"]);
  const change = copy.take({ type: "snapshot", reason: "resync", ...at(3), data: [quote("B", 4)] });
  assert.deepEqual(change, { keys: ["B"], removed: ["A"], isUpdate: false });
  assert.equal(copy.since, "e-3");
});

test("an update overwrites what it holds and keeps the rest", () => {
  const copy = new Merged("market");
  copy.take({ type: "snapshot", reason: "subscribe", ...at(1), data: [quote("A", 1), quote("B", 2)] });
  copy.take({ type: "update", ...at(2), data: [{ ticker: "A", price: 5 } as StockQuote], removed: ["B"] });
  assert.deepEqual([...copy.quotes.values()], [quote("A", 5)]);
});

test("waits grow, stay within their bounds, and start over after success", () => {
  for (const [random, factor] of [
    [0, 0.8],
    [1, 1.2],
  ] as const) {
    const backoff = new Backoff(() => random);
    const waits = Array.from({ length: 9 }, () => backoff.wait());
    assert.deepEqual(
      waits.slice(0, 3).map(Math.round),
      [500, 1000, 2000].map((each) => Math.round(each * factor)),
    );
    assert.equal(Math.round(Math.max(...waits)), 30_000 * factor);
    backoff.reset();
    assert.equal(Math.round(backoff.wait()), 500 * factor);
  }
});
