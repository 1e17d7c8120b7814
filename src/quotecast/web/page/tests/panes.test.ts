import assert from "node:assert/strict";
import { test } from "node:test";

import type { DovizSymbol, HoldingShown, Overview } from "quotecast-client";
import { groupOffers } from "../panes/banks.ts";
import { currenciesOf } from "../panes/currencies.ts";
import { ratesUsed, total, worth } from "../panes/gains.ts";
import { treemap } from "../panes/treemap.ts";

const near = (one: number, other: number) => assert.ok(Math.abs(one - other) < 1e-6, `${one} is not ${other}`);

test("a treemap's boxes are as large as their weights and fill the frame", () => {
  const weights = [50, 20, 10, 10, 5, 3, 2];
  const boxes = treemap(weights, { x: 10, y: 20, w: 200, h: 50 });
  for (const [index, weight] of weights.entries()) near((boxes[index]?.w ?? 0) * (boxes[index]?.h ?? 0), weight * 100);
  for (const { x, y, w, h } of boxes) assert.ok(x >= 10 && y >= 20 && x + w <= 210 + 1e-6 && y + h <= 70 + 1e-6);
  assert.deepEqual(treemap([], { x: 0, y: 0, w: 1, h: 1 }), []);
});

const holding = (shares: number, avg_cost: number, more: Partial<HoldingShown> = {}) =>
  ({ shares, avg_cost, currency: "USD", rates: [], ...more }) as HoldingShown;
const rate = (from: string, to: string, rate: number) => ({
  from,
  to,
  rate,
  symbol: from,
  timestamp: null,
  date: null,
  provider: "test",
});

test("a gain is the value minus the cost; without a price it is unknown, without a cost its percentage is", () => {
  assert.deepEqual(worth(holding(10, 100), 110), { price: 110, value: 1100, gain: 100, gainPercent: 10 });
  assert.deepEqual(worth(holding(10, 100), null), { price: null, value: null, gain: null, gainPercent: null });
  assert.equal(worth(holding(10, 0), 5).gainPercent, null);
});

test("the rates convert a price in another currency, one after the other", () => {
  const tether = holding(2, 100, { rates: [rate("USDT", "TRY", 44), rate("TRY", "USD", 0.025)] });
  assert.equal(worth(tether, 100).price?.toFixed(6), "110.000000");
});

test("the service's price counts until the feed has one", () => {
  assert.equal(worth(holding(1, 10, { price: 11 }), null).value, 11);
});

test("the total of all holdings lists those that it leaves out", () => {
  const lira = { currency: "TRY", market_value: 0, gain: 0, rates: [rate("USD", "TRY", 40)] };
  const same = { ...lira, rates: [] };
  const unknown = holding(4, 10, { rates: null, converted: null });
  const nowhere = holding(5, 10, { converted: null });
  const holdings = [
    holding(1, 10, { converted: lira }),
    holding(3, 10, { currency: "TRY", converted: same }),
    unknown,
    nowhere,
  ];
  const sum = total(
    holdings,
    holdings.map((each) => worth(each, each === unknown ? null : 11)),
  );
  assert.deepEqual(sum, { value: 473, gain: 43, missing: [unknown, nowhere] });
  assert.deepEqual(ratesUsed([...holdings, ...holdings]), lira.rates);
});

const symbol = (name: string, code: string, source: string) => ({ symbol: code, name, source }) as DovizSymbol;

test("a bank's offer is in the group of its currency", () => {
  const symbols = [
    symbol("ABD Doları", "USD", "market"),
    symbol("ABD Doları", "akbank-USD", "Akbank"),
    symbol("Euro", "EUR", "market"),
  ];
  assert.deepEqual(
    groupOffers(symbols).map((each) => [each.symbol, each.banks.map((bank) => bank.symbol)]),
    [
      ["USD", ["akbank-USD"]],
      ["EUR", []],
    ],
  );
});

test("amounts of a company abroad name their own currency, those in dollars none", () => {
  const overview = (filings: string | null, estimates: string | null) =>
    ({
      metrics: { currency: filings },
      revenueEstimates: { currency: estimates },
      earnings: [{ currency: estimates }],
    }) as Overview;
  const none = { filings: null, revenueEstimates: null, earnings: null };
  assert.deepEqual(currenciesOf(overview("CNY", "USD")), { filings: "CNY", revenueEstimates: "USD", earnings: "USD" });
  assert.deepEqual(currenciesOf(overview("USD", "CNY")), { filings: "USD", revenueEstimates: "CNY", earnings: "CNY" });
  assert.deepEqual(currenciesOf(overview("CNY", null)), { ...none, filings: "CNY" });
  assert.deepEqual(currenciesOf(overview("USD", null)), none);
  assert.deepEqual(currenciesOf({ metrics: null, revenueEstimates: null, earnings: [] } as unknown as Overview), none);
});
