import assert from "node:assert/strict";
import { test } from "node:test";

import { instrumentOf } from "../instruments.ts";
import { parseSymbol, withSymbol } from "../query.ts";

test("an address names a symbol of each feed; stocks are the default", () => {
  assert.deepEqual(parseSymbol("?symbol=BTC%2FUSDT&type=crypto"), instrumentOf("crypto", "BTC/USDT"));
  assert.deepEqual(parseSymbol("?symbol=msft"), instrumentOf("stock", "MSFT"));
  assert.deepEqual(parseSymbol("?symbol=gram-altin&type=doviz"), instrumentOf("doviz", "gram-altin"));
});

test("an address without a valid symbol names none", () => {
  for (const search of ["", "?symbol=", "?symbol=A&type=bond", "?symbol=%3Cb%3E", `?symbol=${"A".repeat(41)}`])
    assert.equal(parseSymbol(search), null);
});

test("another symbol leaves the other fields of the address as they are", () => {
  const search = withSymbol("?workspace=night&symbol=AAPL&type=stock", instrumentOf("crypto", "BTC/USDT"));
  assert.equal(search, "?workspace=night&symbol=BTC%2FUSDT&type=crypto");
});
