import assert from "node:assert/strict";
import { test } from "node:test";

import { Backoff } from "../src/backoff.ts";
import { Copy } from "../src/copy.ts";
import type { StockQuote } from "../src/rest-types.ts";

const quote = (ticker: string, price: number) => ({ type: "stock_quote", ticker, name: ticker, price }) as StockQuote;
const at = (seq: number) => ({ epoch: "e", seq });

test("a snapshot merges, a resync replaces", () => {
  const copy = new Copy("market");
  assert.equal(copy.since, "none");
  copy.take({ type: "snapshot", reason: "subscribe", ...at(1), data: [quote("A", 1), quote("B", 2)] });
  copy.take({ type: "snapshot", reason: "resume", ...at(2), data: [quote("B", 3)] });
  assert.deepEqual([...copy.quotes.keys()], ["A", "B"]);
  const change = copy.take({ type: "snapshot", reason: "resync", ...at(3), data: [{ ticker: "B", volume: "4" }] });
  assert.deepEqual(change, { keys: ["B"], removed: ["A"], isUpdate: false });
  assert.deepEqual([...copy.quotes.values()], [{ ticker: "B", volume: "4" }]);
  assert.equal(copy.since, "e-3");
});

test("an update overwrites what it holds and keeps the rest", () => {
  const copy = new Copy("market");
  copy.take({ type: "snapshot", reason: "subscribe", ...at(1), data: [quote("A", 1), quote("B", 2)] });
  copy.take({ type: "update", ...at(2), data: [{ ticker: "A", price: 5 } as StockQuote], removed: ["B"] });
  assert.deepEqual([...copy.quotes.values()], [quote("A", 5)]);
});

test("a row follows the columns of the last snapshot; a short one has their first fields", () => {
  const copy = new Copy("market");
  const columns = ["ticker", "price", "volume", "type", "name"];
  const row = ["A", 1, null, "stock_quote", "Anna"];
  copy.take({ type: "snapshot", reason: "subscribe", ...at(1), columns, data: [row] });
  copy.take({ type: "update", ...at(2), data: [["A", 2, "9"]] });
  assert.deepEqual(copy.quotes.get("A"), { ticker: "A", price: 2, volume: "9", type: "stock_quote", name: "Anna" });
  copy.take({ type: "update", ...at(3), data: [["A", 3, "9", "stock_quote", "Ann"]] });
  assert.deepEqual(copy.quotes.get("A"), { ticker: "A", price: 3, volume: "9", type: "stock_quote", name: "Ann" });
  copy.take({
    type: "snapshot",
    reason: "resync",
    ...at(4),
    columns: ["ticker", "type", "name"],
    data: [["A", "t", "n"]],
  });
  assert.deepEqual(copy.quotes.get("A"), { ticker: "A", type: "t", name: "n" });
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
