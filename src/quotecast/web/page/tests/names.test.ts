import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake-browser.ts";
import { instrumentOf } from "../instruments.ts";
import { instrumentName, sectorName } from "../names.ts";
import { language } from "../words.ts";

const pound = instrumentOf("doviz", "GBP");

test("sectors, which the service names in English, and currencies, in Turkish, have names in the reader's language", () => {
  language.value = "en";
  assert.deepEqual([sectorName("Energy"), instrumentName(pound, "İngiliz Sterlini")], ["Energy", "British Pound"]);
  language.value = "tr";
  assert.deepEqual([sectorName("Energy"), instrumentName(pound, "İngiliz Sterlini")], ["Enerji", "İngiliz Sterlini"]);
});

test("a coin, a stock with the code of a currency and a sector that nobody knows keep their names", () => {
  language.value = "en";
  assert.equal(instrumentName(instrumentOf("doviz", "gram-altin"), "Gram Altın"), "Gram Altın");
  assert.equal(instrumentName(instrumentOf("stock", "ALL"), "Allstate"), "Allstate");
  assert.equal(sectorName("Shipping"), "Shipping");
});
