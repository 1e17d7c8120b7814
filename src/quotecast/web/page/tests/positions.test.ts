import assert from "node:assert/strict";
import { test } from "node:test";

import type { HoldingShown } from "quotecast-client";
import { worth } from "../panes/gains.ts";
import { allocate, gappedLine, groupLots, isExact, type Lot } from "../panes/positions.ts";

const rate = (from: string, to: string, value: number) => ({
  from,
  to,
  rate: value,
  symbol: from,
  timestamp: null,
  date: null,
  provider: "test",
});
const dollars = { currency: "USD", market_value: 0, gain: 0, rates: [] };

function lot(
  ticker: string,
  shares: number,
  cost: number,
  price: number | null,
  more: Partial<HoldingShown> = {},
): Lot {
  const holding = {
    ticker,
    shares,
    avg_cost: cost,
    currency: "USD",
    type: "stock",
    rates: [],
    converted: dollars,
    ...more,
  } as unknown as HoldingShown;
  return { holding, worth: worth(holding, price) };
}

test("purchases of one symbol are one position with sums", () => {
  const lots = [lot("A", 1, 10, 20), lot("B", 1, 1, 1), lot("A", 3, 20, 20)];
  const [first, second] = groupLots(lots);
  assert.deepEqual(
    [first?.ticker, first?.shares, first?.averageCost, first?.worth.value, first?.worth.gain],
    ["A", 4, 17.5, 80, 10],
  );
  assert.equal(first?.worth.gainPercent?.toFixed(4), "14.2857");
  assert.deepEqual(first?.lots, [lots[0], lots[2]]);
  assert.equal(second?.ticker, "B");
});

test("a sum is unknown when a value is, or when purchases are in two currencies", () => {
  const [unknown] = groupLots([lot("A", 1, 10, 20), lot("A", 1, 10, null)]);
  assert.deepEqual([unknown?.worth.value, unknown?.worth.gain, unknown?.averageCost], [null, null, 10]);
  const [mixed] = groupLots([lot("A", 1, 10, 20), lot("A", 1, 10, 20, { currency: "TRY" })]);
  assert.deepEqual([mixed?.currency, mixed?.worth.value, mixed?.averageCost, mixed?.shares], [null, null, null, 2]);
});

test("an allocation has the largest part first, and adds up to one", () => {
  const lira = { ...dollars, rates: [rate("TRY", "USD", 0.025)] };
  const lots = [
    lot("A", 1, 1, 30),
    lot("gram-altin", 1, 1, 4000, { type: "doviz", currency: "TRY", converted: lira }),
    lot("A", 1, 1, 20),
    lot("?", 1, 1, null, { type: null }),
    lot("far", 1, 1, 5, { converted: null }),
  ];
  assert.deepEqual(allocate(lots, "bySymbol"), [
    { name: "gram-altin", value: 100, share: 2 / 3 },
    { name: "A", value: 50, share: 1 / 3 },
  ]);
  assert.deepEqual(
    allocate(lots, "byType").map(({ name }) => name),
    ["doviz", "stock"],
  );
  assert.deepEqual(
    allocate(lots, "byCurrency").map(({ name }) => name),
    ["TRY", "USD"],
  );
  assert.deepEqual(allocate([], "byType"), []);
});

test("small parts of an allocation are one", () => {
  const parts = allocate(
    Array.from({ length: 30 }, (_, index) => lot(`S${index}`, 1, 1, index + 1)),
    "bySymbol",
  );
  assert.equal(parts.length, 12);
  assert.equal(parts.at(-1)?.name, "");
  const total = parts.reduce((sum, each) => sum + each.share, 0);
  assert.ok(Math.abs(total - 1) < 1e-9);
});

test("a line has gaps where values are unknown, and a dot for a value alone", () => {
  assert.deepEqual(gappedLine([1, 3, null, 2, null, 1, 1], 60, 10), {
    path: "M0 10L10 0M30 5h0.01M50 10L60 10",
    least: 1,
    most: 3,
  });
  assert.deepEqual(gappedLine([null, null], 60, 10), { path: "", least: null, most: null });
  assert.equal(gappedLine([5], 60, 10).path, "M0 5h0.01");
});

test("a number with many digits may have lost some", () => {
  assert.ok(isExact(0.00000001) && isExact(123456789.123456) && isExact(999999999999));
  assert.ok(!isExact(999999999999.1234));
});
