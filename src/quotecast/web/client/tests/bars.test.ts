import assert from "node:assert/strict";
import { test } from "node:test";

import { type Bar, Bars, type Interval, type Tick } from "../index.ts";

const bar = (time: string, price = 10, volume = 100): Bar => ({
  time,
  open: price,
  high: price,
  low: price,
  close: price,
  volume,
});
const tick = (time: string, price: number, more: Partial<Tick> = {}): Tick => ({
  price,
  at: Date.parse(time),
  volume: null,
  continues: true,
  ...more,
});

function barsWith(
  interval: Interval,
  history: Bar[],
  options: { zone?: "America/New_York" | "UTC"; trades?: (at: number) => boolean } = {},
): Bars {
  const bars = new Bars({ interval, zone: "UTC", ...options });
  bars.load(history);
  return bars;
}

const times = (bars: Bars) => bars.all.map((each) => each.time);

test("a tick extends its bar, and the volume since the last tick counts for that bar", () => {
  const bars = barsWith("1m", [bar("2026-11-20T15:00:00Z")]);
  bars.take(tick("2026-11-20T15:00:10Z", 12, { volume: 1000 }));
  bars.take(tick("2026-11-20T15:00:20Z", 9, { volume: 1005 }));
  assert.deepEqual(bars.all, [{ time: "2026-11-20T15:00:00Z", open: 10, high: 12, low: 9, close: 9, volume: 105 }]);
  assert.equal(bars.isIncomplete, false);
});

test("a tick after its end begins the next bar", () => {
  const bars = barsWith("5m", [bar("2026-11-20T15:00:00Z")]);
  const begun = bars.take(tick("2026-11-20T15:05:00Z", 8));
  assert.deepEqual(begun, bar("2026-11-20T15:05:00Z", 8, 0));
  assert.deepEqual(times(bars), ["2026-11-20T15:00:00Z", "2026-11-20T15:05:00Z"]);
  assert.equal(bars.isIncomplete, false);
});

test("bars are incomplete after a gap in the ticks, and no bar counts the volume of the gap", () => {
  for (const late of [
    tick("2026-11-20T15:03:30Z", 8, { volume: 9000 }),
    tick("2026-11-20T15:00:30Z", 8, { volume: 9000, continues: false }),
  ]) {
    const bars = barsWith("1m", [bar("2026-11-20T15:00:00Z")]);
    bars.take(tick("2026-11-20T15:00:10Z", 10, { volume: 1000 }));
    assert.equal(bars.isIncomplete, false);
    const changed = bars.take(late);
    assert.ok(changed && changed.volume <= 100);
    assert.equal(bars.isIncomplete, true);
    bars.load([bar("2026-11-20T15:00:00Z")]);
    assert.equal(bars.isIncomplete, false);
  }
});

test("a tick of another venue makes no bar, and the history of that venue replaces all bars", () => {
  const bars = barsWith("1m", [bar("2026-11-20T15:00:00Z")]);
  bars.take(tick("2026-11-20T15:00:10Z", 14, { venue: "Binance" }));
  assert.equal(bars.isIncomplete, false);
  assert.equal(bars.take(tick("2026-11-20T15:00:20Z", 90, { venue: "Kraken" })), null);
  assert.equal(bars.isIncomplete, true);
  bars.load([bar("2026-11-20T15:00:00Z", 88)]);
  assert.equal(bars.isIncomplete, false);
  bars.take(tick("2026-11-20T15:00:30Z", 91, { venue: "Kraken" }));
  assert.deepEqual(bars.all, [{ ...bar("2026-11-20T15:00:00Z", 88), high: 91, close: 91 }]);
});

test("the service's bars replace older ones and leave newer ones", () => {
  const bars = barsWith("1m", [bar("2026-11-20T15:00:00Z")]);
  bars.take(tick("2026-11-20T15:03:10Z", 14));
  bars.take(tick("2026-11-20T15:04:10Z", 15));
  const history = [
    bar("2026-11-20T15:00:00Z", 11),
    bar("2026-11-20T15:01:00Z", 12),
    bar("2026-11-20T15:03:00Z", 13, 70),
  ];
  bars.load(history);
  assert.deepEqual(bars.all, [...history.slice(0, 2), { ...history[2], high: 14 }, bar("2026-11-20T15:04:00Z", 15, 0)]);
});

test("a pair's day ends at midnight in UTC", () => {
  const bars = barsWith("D", [bar("2026-11-20T00:00:00Z")]);
  bars.take(tick("2026-11-20T23:59:59.999Z", 11));
  bars.take(tick("2026-11-21T00:00:00Z", 12));
  assert.deepEqual(times(bars), ["2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"]);
});

test("a stock's day, week and month begin at midnight in New York, summer and winter", () => {
  const cases: [Interval, string, string, string][] = [
    ["D", "2026-11-19T05:00:00Z", "2026-11-20T04:59:59Z", "2026-11-20T05:00:00Z"],
    ["D", "2026-07-01T04:00:00Z", "2026-07-02T03:59:59Z", "2026-07-02T04:00:00Z"],
    ["W", "2026-11-16T05:00:00Z", "2026-11-23T04:59:59Z", "2026-11-23T05:00:00Z"],
    ["M", "2026-10-01T04:00:00Z", "2026-11-01T03:59:59Z", "2026-11-01T04:00:00Z"],
    ["D", "2026-03-08T05:00:00Z", "2026-03-09T03:59:59Z", "2026-03-09T04:00:00Z"],
    ["4h", "2026-07-01T13:30:00Z", "2026-07-01T15:59:59Z", "2026-07-01T16:00:00Z"],
  ];
  for (const [interval, first, before, next] of cases) {
    const bars = barsWith(interval, [bar(first)], { zone: "America/New_York" });
    bars.take(tick(before, 11));
    assert.deepEqual(times(bars), [first], `${interval} ${before}`);
    bars.take(tick(next, 12));
    assert.deepEqual(times(bars), [first, next]);
    assert.equal(bars.isIncomplete, false);
  }
});

test("a session after days without one makes the bars incomplete", () => {
  const bars = barsWith("D", [bar("2026-11-20T05:00:00Z")], { zone: "America/New_York" });
  bars.take(tick("2026-11-23T14:30:00Z", 11));
  assert.deepEqual(times(bars), ["2026-11-20T05:00:00Z", "2026-11-23T05:00:00Z"]);
  assert.equal(bars.isIncomplete, true);
});

test("a price outside the hours, or older than the last bar, changes nothing", () => {
  const close = Date.parse("2026-11-20T21:00:00Z");
  const bars = barsWith("5m", [bar("2026-11-20T20:55:00Z")], { trades: (at) => at < close });
  assert.equal(bars.take(tick("2026-11-20T21:00:00Z", 99)), null);
  assert.equal(bars.take(tick("2026-11-20T20:54:59Z", 99)), null);
  assert.deepEqual(bars.all, [bar("2026-11-20T20:55:00Z")]);
});
