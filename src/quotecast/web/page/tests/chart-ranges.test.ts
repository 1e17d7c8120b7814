import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseInterval, chooseRange, countOf, INTERVALS, RANGES, spanOf, startOf } from "../panes/chart/ranges.ts";

const FEEDS = ["market", "crypto", "doviz"] as const;

test("every range and every interval of every feed can be chosen, in any order", () => {
  for (const feed of FEEDS)
    for (const range of RANGES) {
      assert.equal(spanOf(feed, chooseRange(feed, range)).range, range);
      for (const interval of INTERVALS[feed]) {
        const chosen = spanOf(feed, chooseInterval(feed, range, interval));
        assert.equal(chosen.interval, interval);
        assert.ok(RANGES.indexOf(chosen.range) <= RANGES.indexOf(range));
      }
    }
});

test("a range stays where the interval has few enough bars", () => {
  assert.deepEqual(chooseInterval("crypto", "1D", "1m"), { range: "1D", interval: "1m" });
  assert.deepEqual(chooseInterval("crypto", "5Y", "1m"), { range: "1D", interval: "1m" });
  assert.deepEqual(chooseInterval("market", "1M", "1m"), { range: "1M", interval: "1m" });
});

test("a chart asks for three thousand bars at most", () => {
  for (const range of RANGES)
    for (const interval of INTERVALS.crypto)
      assert.ok(countOf(chooseInterval("crypto", range, interval).range as "1D", interval) <= 3000);
});

test("a range starts by the calendar, whatever bars are missing", () => {
  const end = Date.UTC(2026, 10, 28, 12);
  assert.equal(startOf("YTD", end), Date.UTC(2026, 0));
  assert.equal(startOf("5D", end), Date.UTC(2026, 10, 23, 12));
});

test("what another page stored is not believed", () => {
  assert.deepEqual(spanOf("market", { range: "9Y", interval: "30m" }), { range: "1D", interval: "5m" });
  assert.deepEqual(spanOf("crypto", { range: "5Y", interval: "1m" }), { range: "5Y", interval: "W" });
});
