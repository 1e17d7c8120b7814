import assert from "node:assert/strict";
import { test } from "node:test";
import { boundsOf } from "../panes/chart/overlay-lines.ts";
import { freeSlot } from "../panes/chart/slots.ts";
import { parseSpecs, type Spec, usual, writeSpecs } from "../panes/chart/specs.ts";
import { Study } from "../panes/chart/studies.ts";
import type { Candle } from "../panes/chart-bars.ts";

/** Bars of five minutes over three days, with the moves of a fixed generator. */
function bars(count: number, minutes = 5): Candle[] {
  let [state, price] = [7, 100];
  const next = () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  return Array.from({ length: count }, (_, index) => {
    const open = price;
    price += 2 * (next() - 0.5);
    const high = Math.max(open, price) + next();
    const low = Math.min(open, price) - next();
    const time = new Date(Date.UTC(2026, 10, 18) + index * minutes * 60_000).toISOString();
    return { time, open, high, low, close: price, volume: index % 17 ? Math.round(1000 * next()) : 0 };
  });
}

const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

/** The definitions of the indicators, computed from the beginning for each bar. */
const DEFINED: Record<string, (given: readonly Candle[]) => (number | null)[]> = {
  "sma 5": (given) => (given.length < 5 ? [null] : [mean(given.slice(-5).map((each) => each.close))]),
  "ema 4": (given) => {
    const ema = given.map((each) => each.close).reduce((before, close) => before + (2 / 5) * (close - before));
    return [given.length < 4 ? null : ema];
  },
  "bollinger 5 2": (given) => {
    if (given.length < 5) return [null, null, null];
    const closes = given.slice(-5).map((each) => each.close);
    const middle = mean(closes);
    const deviation = Math.sqrt(mean(closes.map((each) => (each - middle) ** 2)));
    return [middle + 2 * deviation, middle, middle - 2 * deviation];
  },
  "rsi 3": (given) => {
    const moves = given.slice(1).map((each, index) => each.close - (given[index] as Candle).close);
    if (moves.length < 3) return [null];
    const wilder = (values: readonly number[]) =>
      values.slice(3).reduce((before, each) => before + (each - before) / 3, mean(values.slice(0, 3)));
    const [gain, loss] = [
      wilder(moves.map((each) => Math.max(0, each))),
      wilder(moves.map((each) => Math.max(0, -each))),
    ];
    return [100 - 100 / (1 + gain / loss)];
  },
  "atr 3": (given) => {
    const ranges = given.map((each, index) => {
      const before = given[index - 1]?.close ?? each.close;
      return Math.max(each.high, before) - Math.min(each.low, before);
    });
    if (ranges.length < 3) return [null];
    return [ranges.slice(3).reduce((before, each) => before + (each - before) / 3, mean(ranges.slice(0, 3)))];
  },
  vwap: (given) => {
    const day = (given.at(-1) as Candle).time.slice(0, 10);
    const today = given.filter((each) => each.time.startsWith(day));
    const volume = today.reduce((sum, each) => sum + (each.volume ?? 0), 0);
    const turnover = today.reduce(
      (sum, each) => sum + ((each.high + each.low + each.close) / 3) * (each.volume ?? 0),
      0,
    );
    return [volume ? turnover / volume : null];
  },
};

function assertNear(found: readonly (number | null)[], wanted: readonly (number | null)[], what: string): void {
  assert.equal(found.length, wanted.length, what);
  found.forEach((value, index) => {
    const expected = wanted[index] ?? null;
    const isSame = value === null || expected === null ? value === expected : Math.abs(value - expected) < 1e-6;
    assert.ok(isSame, `${what}: ${value} is not ${expected}`);
  });
}

const studyOf = (text: string, interval: "5m" | "D" = "5m"): Study =>
  new Study(parseSpecs(text)[0] as Spec, "crypto", interval);

for (const [text, define] of Object.entries(DEFINED)) {
  test(`${text} equals its definition at every bar`, () => {
    const given = bars(600);
    studyOf(text)
      .load(given)
      .forEach((values, index) => {
        if (index % 20 < 3 || index < 12) assertNear(values, define(given.slice(0, index + 1)), `${text} at ${index}`);
      });
  });

  test(`${text} of a live bar equals that of a whole computation`, () => {
    const given = bars(320);
    const study = studyOf(text);
    study.load(given.slice(0, 270));
    for (const bar of given.slice(269)) {
      // A bar begins without volume, moves, and ends as the history has it.
      const moves = [{ ...bar, close: bar.open, volume: 0 }, { ...bar, close: bar.high + 3, high: bar.high + 3 }, bar];
      const taken = moves.map((each) => study.take(each));
      const all = given.slice(0, given.indexOf(bar) + 1);
      assertNear(taken.at(-1) ?? [], define(all), `${text} at ${bar.time}`);
    }
  });
}

test("MACD is the difference of two EMAs, and its signal the EMA of that", () => {
  const given = bars(200);
  const [fast, slow] = [studyOf("ema 4").load(given), studyOf("ema 9").load(given)];
  studyOf("macd 4 9 3")
    .load(given)
    .forEach(([macd, signal, histogram], index) => {
      if (index < 8) assert.equal(macd, null);
      else
        assertNear(
          [macd ?? null, histogram ?? null],
          [(fast[index]?.[0] ?? 0) - (slow[index]?.[0] ?? 0), (macd ?? 0) - (signal ?? 0)],
          `${index}`,
        );
    });
});

test("an older bar needs a whole computation", () => {
  const given = bars(30);
  const study = studyOf("sma 5");
  study.load(given);
  assert.equal(study.take(given[28] as Candle), null);
});

test("VWAP has no value in bars of a day, nor without volumes", () => {
  assert.deepEqual(studyOf("vwap", "D").load(bars(3)).at(-1), [null]);
  const without = bars(3).map((bar) => ({ ...bar, volume: null }));
  assert.deepEqual(studyOf("vwap").load(without).at(-1), [null]);
});

test("a pane's memory holds indicators within their bounds", () => {
  assert.deepEqual(parseSpecs(undefined), []);
  assert.deepEqual(parseSpecs("sma 9999,ema x,nonsense 3,vwap,macd 5"), [
    { kind: "sma", numbers: [400], slot: 0 },
    { kind: "ema", numbers: [50], slot: 1 },
    { kind: "vwap", numbers: [], slot: 3 },
    { kind: "macd", numbers: [5, 26, 9], slot: 4 },
  ]);
  const all = [usual("bollinger", 0), usual("rsi", 1)];
  assert.deepEqual(parseSpecs(writeSpecs(all)), all);
  assert.equal(parseSpecs("sma 5,".repeat(20)).length, 8);
});

test("an indicator has its place after others went, and a new one takes the first that is free", () => {
  const left = parseSpecs("sma 20,ema 50,rsi 14").filter(({ kind }) => kind !== "ema");
  assert.equal(writeSpecs(left), "sma 20,,rsi 14");
  assert.deepEqual(parseSpecs(writeSpecs(left)), left);
  const added = [...left, usual("atr", freeSlot(left))];
  assert.equal(writeSpecs(added), "sma 20,atr 14,rsi 14");
  assert.equal(freeSlot(added), 3);
});

test("the scale has room for the values of overlays in view", () => {
  const overlays = [
    { colour: "", values: [[1], [2], [null], [7]] },
    { colour: "", values: [[9, 5, null]] },
  ];
  assert.deepEqual(boundsOf(overlays, -4, 2), [1, 9]);
  assert.deepEqual(boundsOf(overlays, 1, 9), [2, 7]);
  assert.equal(boundsOf(overlays, 2, 2), null);
});
