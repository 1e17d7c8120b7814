import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import "./fake-browser.ts";

import { age, compact, difference, percent, price, quantity, quotedPrice, time } from "../formats.ts";
import { hours, zone } from "../time-choice.ts";
import { language, say } from "../words.ts";

afterEach(() => {
  language.value = "en";
  hours.value = "auto";
  zone.value = "local";
});

test("a price has two decimals, more where it is small, and a dash where there is none", () => {
  const prices = [1234.567, 99.12345, 0.123456789, 5, 0, null, undefined];
  assert.deepEqual(prices.map(price), ["1,234.57", "99.1235", "0.12345679", "5.00", "0.00", "–", "–"]);
});

test("the prices of an instrument keep the most decimals that they have had", () => {
  const shown = [43.767, 43.8459, 43.77, 99.5, 104.25, 43.5].map((each) => quotedPrice("USD", each));
  assert.deepEqual(shown, ["43.767", "43.8459", "43.7700", "99.5000", "104.25", "43.5000"]);
  assert.deepEqual([quotedPrice("EUR", 43.5), quotedPrice("EUR", null)], ["43.50", "–"]);
  assert.equal(quotedPrice("PEPE/USDT", 0.0000071), "0.0000071");
});

test("no price or change that is not zero reads as zero", () => {
  assert.deepEqual([0.00001234567, 0.0000000012345].map(price), ["0.00001235", "0.000000001235"]);
  assert.deepEqual([0.00000066, -0.0000123].map(difference), ["+0.00000066", "-0.000012"]);
});

test("quantities have all their decimals, and no more than an account stores", () => {
  assert.deepEqual([0.00012345, 0.1 + 0.2, 1500, null].map(quantity), ["0.00012345", "0.3", "1,500", "–"]);
});

test("changes have their sign, and none at zero", () => {
  assert.deepEqual(
    [1.5, -0.25, 0].map((each) => percent(each)),
    ["+1.50%", "-0.25%", "0.00%"],
  );
  assert.deepEqual([12.345, -0.12345, 0].map(difference), ["+12.35", "-0.1235", "0.00"]);
});

test("Turkish has its own commas, points and signs", () => {
  language.value = "tr";
  assert.equal(price(1234.567), "1.234,57");
  assert.equal(percent(-1.5), "-%1,50");
  assert.equal(say("logIn"), "Giriş yap");
});

test("large numbers and durations are short", () => {
  assert.deepEqual([950, 4_500_000, 2e12].map(compact), ["950", "4.5M", "2T"]);
  assert.deepEqual(
    [4_900, 65_000, 7_300_000].map((each) => age(each)),
    ["4s", "1m", "2h"],
  );
});

test("times are of the zone and the clock that the reader chose", () => {
  zone.value = "exchange";
  assert.match(time("2026-11-20T21:05:00Z"), /^04:05\sPM$/);
  hours.value = "24";
  assert.equal(time("2026-11-20T21:05:00Z"), "16:05");
  assert.equal(time("2026-11-20T05:00:00Z"), "00:00");
});
