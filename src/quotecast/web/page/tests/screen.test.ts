import assert from "node:assert/strict";
import { test } from "node:test";

import type { StockQuote } from "quotecast-client";
import { fits, type Screen } from "../panes/screen.ts";

const QUOTE = {
  ticker: "AAPL",
  price: 110,
  changePercent: 10,
  open: 102,
  high: 110,
  low: 101,
  previousClose: 100,
  volume: "5000",
  sector: "Energy",
} as StockQuote;

for (const [screen, isFitting] of [
  [{}, true],
  [{ sector: "Energy" }, true],
  [{ sector: "Utilities" }, false],
  [{ minPrice: "110", maxPrice: "110" }, true],
  [{ minPrice: "110.01" }, false],
  [{ maxChange: "9.99" }, false],
  [{ minChange: "-1", maxChange: "" }, true],
  [{ minVolume: "5001" }, false],
  [{ signal: "newHigh" }, true],
  [{ signal: "newLow" }, false],
  [{ signal: "gapUp" }, true],
  [{ signal: "gapDown" }, false],
  [{ signal: "a word of another version" }, true],
] as [Screen, boolean][])
  test(`a quote ${isFitting ? "fits" : "does not fit"} ${JSON.stringify(screen)}`, () => {
    assert.equal(fits(QUOTE, screen), isFitting);
  });

test("an unknown value fits no bound and shows no signal", () => {
  const unknown = { ...QUOTE, changePercent: null, volume: null, open: null, high: null };
  const screens: Screen[] = [{ minChange: "-100" }, { minVolume: "0" }, { signal: "gapUp" }, { signal: "newHigh" }];
  for (const screen of screens) assert.equal(fits(unknown, screen), false);
});
