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

test("a price in another currency names its rates", async () => {
  const rest = new Rest({ address: ADDRESS });
  const prices = await rest.call("GET /api/prices", { query: { symbols: "AAPL,gram-altin", currency: "EUR" } });
  assert.deepEqual(Object.keys(prices), ["AAPL", "gram-altin"]);
  assert.equal(prices.AAPL?.rates.at(-1)?.to, "EUR");
  const query = { currency: "EUR", date: "2026-03-31" };
  const past = await rest.call("GET /api/prices/{symbol}", { path: { symbol: "BTC/USDT" }, query });
  assert.deepEqual([past.symbol, past.date, past.status], ["BTC/USDT", "2026-03-31", "close"]);
});

test("prices have terms, days have a quality, and the past is what was known", async () => {
  const rest = new Rest({ address: ADDRESS });
  const path = { symbol: "AAPL" };
  const price = await rest.call("GET /api/prices/{symbol}", { path });
  const { feeds } = await rest.call("GET /api/market/status");
  assert.deepEqual([price.terms?.show, feeds.stocks?.terms?.show], ["yes", "yes"]);
  const quality = await rest.call("GET /api/quality", { query: { feed: "crypto", symbol: "BTC/USDT" } });
  assert.deepEqual([quality.feed, quality.symbol?.symbol, quality.symbols], ["crypto", "BTC/USDT", null]);
  const actions = await rest.call("GET /api/market/actions", { query: { symbols: "AAPL", start: "2020-01-01" } });
  assert.ok(actions.length > 0 && actions.every((each) => each.symbol === "AAPL" && each.knownAt === null));
  const unknown = rest.call("GET /api/prices/{symbol}", { path, query: { as_of: "2000-01-01T00:00:00Z" } });
  await assert.rejects(unknown, (error) => error instanceof ApiError && error.status === 422);
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

for (const [hasNew, sent] of [
  [true, ["Bearer old", "Bearer new"]],
  [false, ["Bearer old"]],
] as const)
  test(`a request with a void token ${hasNew ? "is repeated with the next one" : "fails without another"}`, async () => {
    let token = "old";
    const tokens: unknown[] = [];
    const rest = new Rest({
      address: ADDRESS,
      token: () => token,
      onVoidToken: async () => {
        if (hasNew) token = "new";
        return hasNew;
      },
      fetch: async (_, { headers } = {}) => {
        tokens.push((headers as Record<string, string>).Authorization);
        return Response.json({ id: "1" }, { status: token === "new" ? 200 : 401 });
      },
    });
    const asked = rest.call("GET /api/auth/profile");
    if (hasNew) assert.equal((await asked).id, "1");
    else await assert.rejects(asked, (error) => error instanceof ApiError && error.status === 401);
    assert.deepEqual(tokens, sent);
  });
