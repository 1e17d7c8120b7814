import assert from "node:assert/strict";
import { test } from "node:test";

import type { CryptoQuote, DovizQuote } from "quotecast-client";
import { pastMoments, SpreadHistory, spreadPath } from "../panes/spreads.ts";
import { rateBetween, ratesOf, turnoverOf, usualCurrency } from "../panes/turnover.ts";
import { byDay, newYorkDay, weekOf } from "../panes/week.ts";

const pair = (ticker: string, price: number, volume: number | null = null) =>
  ({ ticker, price, volume }) as CryptoQuote;
const currency = (symbol: string, price: number, unit = `1 ${symbol}`) =>
  ({ symbol, price, unit, category: "currency", currency: "TRY" }) as DovizQuote;

test("a turnover is converted over the rates that are known", () => {
  const rates = ratesOf([pair("BTC/USD", 100_000), pair("USDT/EUR", 0.8)], [currency("USD", 40), currency("EUR", 50)]);
  assert.equal(rateBetween(rates, "USD", "USD"), 1);
  assert.equal(rateBetween(rates, "USD", "TRY"), 40);
  assert.equal(rateBetween(rates, "EUR", "USD"), 1.25);
  assert.equal(rateBetween(rates, "USDT", "USD"), 1);
  assert.equal(rateBetween(rates, "JPY", "USD"), null);
  assert.deepEqual(turnoverOf(pair("ETH/EUR", 2000, 10), rates, "USD"), { amount: 25_000, currency: "USD" });
  assert.deepEqual(turnoverOf(pair("ETH/BTC", 0.03, 100), rates, "USD")?.currency, "USD");
});

test("a turnover without a rate stays in its own currency: a stablecoin is no dollar", () => {
  const rates = ratesOf([pair("BTC/USDT", 100_000)], [currency("USD", 40), currency("JPY", 27, "100 JPY")]);
  assert.deepEqual(turnoverOf(pair("BTC/USDT", 100_000, 2), rates, "USD"), { amount: 200_000, currency: "USDT" });
  assert.equal(turnoverOf(pair("BTC/USDT", 100_000, null), rates, "USD"), null);
  assert.equal(rateBetween(rates, "JPY", "TRY"), null);
  assert.equal(usualCurrency(["BTC/USDT", "ETH/USDT", "BTC/EUR"]), "USDT");
  assert.equal(usualCurrency([]), "USD");
});

test("a price of zero gives no rate", () => {
  assert.equal(rateBetween(ratesOf([pair("A/B", 0)], []), "A", "B"), null);
});

test("a week is Monday to Sunday in New York; on a weekend the next one counts", () => {
  const week = { from: "2026-11-16", to: "2026-11-22" };
  for (const day of ["2026-11-16", "2026-11-18", "2026-11-20"]) assert.deepEqual(weekOf(day), week);
  for (const day of ["2026-11-21", "2026-11-22", "2026-11-23"]) assert.equal(weekOf(day).from, "2026-11-23");
  assert.deepEqual(weekOf("2026-12-30", 1), { from: "2027-01-04", to: "2027-01-10" });
  assert.equal(newYorkDay(Date.parse("2026-11-20T03:00:00Z")), "2026-11-19");
});

test("reports are by day: before the open first, unknown hours last", () => {
  const report = (date: string, hour: string, symbol: string) => ({ date, hour, symbol });
  const given = [
    report("2026-11-17", "", "Z"),
    report("2026-11-17", "amc", "B"),
    report("2026-11-16", "amc", "C"),
    report("2026-11-17", "bmo", "Y"),
    report("2026-11-17", "amc", "A"),
  ];
  assert.deepEqual(
    byDay(given).map(([day, reports]) => `${day} ${reports.map((each) => each.symbol).join("")}`),
    ["2026-11-16 C", "2026-11-17 YABZ"],
  );
});

test("spreads have a point every fifteen seconds, and recorded ones in their order", () => {
  const history = new SpreadHistory();
  for (const at of [0, 5_000, 15_000, 16_000]) history.note("akbank-USD", at, at);
  history.insert("akbank-USD", 7, -1000);
  history.insert("akbank-USD", 8, -1000);
  assert.deepEqual(
    history.of("akbank-USD").map((each) => each.spread),
    [8, 0, 15_000],
  );
  assert.deepEqual(history.of("unknown"), []);
  const moments = pastMoments(Date.parse("2026-11-20T15:30:00Z"));
  assert.equal(moments.length, 12);
  assert.deepEqual(
    moments.slice(0, 2).map((each) => new Date(each).toISOString()),
    ["2026-11-20T14:00:00.000Z", "2026-11-20T12:00:00.000Z"],
  );
});

test("a spread's line goes by time, the widest spread at the top", () => {
  const points = [
    { at: 0, spread: 2 },
    { at: 10, spread: 4 },
    { at: 40, spread: 3 },
  ];
  assert.equal(spreadPath(points, 80, 10), "M0 10L20 0L80 5");
  assert.equal(spreadPath(points.slice(0, 1), 80, 10), "");
  assert.equal(
    spreadPath(
      points.map((each) => ({ ...each, spread: 1 })),
      80,
      10,
    ),
    "M0 5L20 5L80 5",
  );
});
