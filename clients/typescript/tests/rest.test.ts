import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiError, type RateLimit, RateLimited, Rest } from "../src/index.ts";
import { ADDRESS } from "./service.ts";

test("an answer reports the remaining requests of the limit", async () => {
  const limits: RateLimit[] = [];
  const rest = new Rest({ address: ADDRESS, onLimit: (limit) => limits.push(limit) });
  const quotes = await rest.call("GET /api/market/quotes", { query: { symbols: "AAPL" } });
  assert.equal(quotes.AAPL?.name, "Apple Inc.");
  assert.ok(limits[0] && limits[0].remaining < limits[0].limit);
});

test("an error has the service's status", async () => {
  const rest = new Rest({ address: ADDRESS });
  const asked = rest.call("GET /api/market/quotes/{symbol}", { path: { symbol: "../no" } });
  await assert.rejects(asked, (error) => error instanceof ApiError && error.status === 404);
});

test("a path over its limit gets no request before its time", async () => {
  let requests = 0;
  const countingFetch: typeof fetch = (...given) => {
    requests += 1;
    return fetch(...given);
  };
  const rest = new Rest({ address: ADDRESS, fetch: countingFetch });
  const ask = () => rest.call("GET /api/financials/company/{symbol}/earnings", { path: { symbol: "MSFT" } });
  const isRefusal = (error: unknown) => error instanceof RateLimited && error.retryAfter > 0;
  await assert.rejects(async () => {
    for (;;) await ask();
  }, isRefusal);
  const made = requests;
  await assert.rejects(ask, isRefusal);
  assert.equal(requests, made);
});
