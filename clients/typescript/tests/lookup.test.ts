import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, UnknownSymbols } from "../src/index.ts";
import { splitName } from "../src/names.ts";
import { type Answers, FakeRoutes } from "./fake-routes.ts";

const stock = (ticker: string) => ({ type: "stock_quote", ticker });
const pair = (ticker: string) => ({ type: "crypto_quote", ticker });
const metal = (symbol: string) => ({ type: "doviz_quote", symbol });
const NO_PROVIDER = { status: 503, body: { detail: "no", code: "no_provider" } };

function open(answers: Answers) {
  const routes = new FakeRoutes(answers);
  return { routes, client: new Client("http://localhost", { fetch: routes.fetch, retries: 0 }) };
}

test("a name says which feeds may have it", () => {
  const cases: [string, string[], string][] = [
    ["AAPL", ["market", "doviz"], "AAPL"],
    ["BTC/USDT", ["crypto"], "BTC/USDT"],
    ["gram-altin", ["market", "crypto", "doviz"], "gram-altin"],
    ["doviz:USD", ["doviz"], "USD"],
    ["crypto:all", ["crypto"], "all"],
    ["stocks:AAPL", ["market"], "AAPL"],
    ["Stock:all", ["market"], "all"],
    ["sector:Energy", ["market"], "sector:Energy"],
    [" bank:akbank", ["doviz"], "bank:akbank"],
  ];
  for (const [name, feeds, symbol] of cases) assert.deepEqual(splitName(name), { feeds, symbol });
});

test("a text is a list of names, not of letters", async () => {
  const { client } = open({
    "/api/market/quotes?symbols=AAPL,MSFT": [{ body: { AAPL: stock("AAPL"), MSFT: stock("MSFT") } }],
  });
  assert.deepEqual(Object.keys(await client.quotes("AAPL, MSFT")), ["AAPL", "MSFT"]);
});

test("quotes are of the first feed that has the name, by the names that ask", async () => {
  const { routes, client } = open({
    "/api/market/quotes?symbols=aapl,btc-usdt,usd,nope": [{ body: { AAPL: stock("AAPL") } }],
    "/api/crypto/quotes/btc-usdt": [{ body: pair("BTC/USDT") }],
    "/api/doviz/quotes/usd": [{ body: metal("USD") }],
  });
  const quotes = await client.quotes(["aapl", "btc-usdt", "usd", "nope"]);
  assert.deepEqual(quotes, { aapl: stock("AAPL"), "btc-usdt": pair("BTC/USDT"), usd: metal("USD") });
  assert.deepEqual(routes.paths.slice(0, 2), [
    "/api/market/quotes?symbols=aapl,btc-usdt,usd,nope",
    "/api/crypto/quotes/btc-usdt",
  ]);
});

test("a former symbol gets the quote of the present one, by the name that asks", async () => {
  const { routes, client } = open({
    "/api/market/quotes?symbols=fb,AAPL": [
      { body: { META: stock("META"), AAPL: stock("AAPL") }, headers: { "X-Renamed-Symbols": "FB=META" } },
    ],
    "/api/crypto/quotes/matic-usdt": [
      { body: pair("POL/USDT"), headers: { "X-Renamed-Symbols": "MATIC-USDT=POL/USDT" } },
    ],
  });
  const quotes = await client.quotes(["fb", "AAPL", "crypto:matic-usdt"]);
  assert.deepEqual(quotes, { fb: stock("META"), AAPL: stock("AAPL"), "crypto:matic-usdt": pair("POL/USDT") });
  assert.equal(routes.paths.length, 2);
});

test("many names of a feed are one request, and a whole feed is by symbol", async () => {
  const pairs = [..."ABCDEF"].map((each) => `${each}/USDT`);
  const { routes, client } = open({
    "/api/crypto/quotes": [{ body: Object.fromEntries(pairs.map((each) => [each, pair(each)])) }],
  });
  assert.equal(Object.keys(await client.quotes(pairs)).length, 6);
  assert.deepEqual(Object.keys(await client.quotes(["crypto:all"])), pairs);
  assert.equal(routes.requests.length, 2);
});

test("the ticker ALL is not the whole market", async () => {
  const { client } = open({ "/api/market/quotes?symbols=ALL,ALL": [{ body: { ALL: stock("ALL") } }] });
  assert.deepEqual(Object.keys(await client.quotes(["ALL"])), ["ALL"]);
});

test("a feed without a provider has no symbols; another error is an error", async () => {
  const market = "/api/market/quotes?symbols=usd,usd";
  const { client } = open({ [market]: [NO_PROVIDER], "/api/doviz/quotes/usd": [{ body: metal("USD") }] });
  assert.deepEqual(await client.quotes(["usd"]), { usd: metal("USD") });
  const failing = open({ [market]: [{ status: 503, body: { detail: "no data", code: "no_data" } }] });
  await assert.rejects(failing.client.quotes(["usd"]), { code: "no_data" });
});

test("all quotes of a feed come page by page, in the order of symbols", async () => {
  const { client, routes } = open({
    "/api/crypto/quotes?limit=2&after=": [
      { body: { "A/B": pair("A/B"), "B/C": pair("B/C") }, headers: { "X-Next-After": "B/C" } },
    ],
    "/api/crypto/quotes?limit=2&after=B/C": [{ body: { "C/D": pair("C/D") } }],
  });
  const found = [];
  for await (const quote of client.allQuotes("crypto", 2)) found.push(quote.ticker);
  assert.deepEqual(found, ["A/B", "B/C", "C/D"]);
  assert.equal(routes.requests.length, 2);
});

test("the newest bars are the last page turned round; a span has all of its pages", async () => {
  const bars = (...times: string[]) => times.map((time) => ({ time }));
  const path = "/api/crypto/bars/BTC/USDT";
  const { client } = open({
    [`${path}?order=desc&limit=2&timeframe=1m`]: [{ body: bars("3", "2") }],
    [`${path}?start=1&order=asc&limit=1000&timeframe=1h`]: [{ body: bars("1", "2"), headers: { "X-Next-Page": "p" } }],
    [`${path}?start=1&order=asc&limit=1000&page=p&timeframe=1h`]: [{ body: bars("3") }],
  });
  const times = async (...given: Parameters<typeof client.bars>) =>
    (await client.bars(...given)).map(({ time }) => time);
  assert.deepEqual(await times("BTC/USDT", { interval: "1m", limit: 2 }), ["2", "3"]);
  assert.deepEqual(await times("BTC/USDT", { start: "1" }), ["1", "2", "3"]);
  await assert.rejects(client.bars("nope"), UnknownSymbols);
});

test("unknown symbols say what they may mean", async () => {
  const errors = [{ field: "symbol", message: "Did you mean AAPL?" }];
  const body = { detail: "Symbol not found", code: "symbol_not_found", errors };
  const { client } = open({
    "/api/market/quotes/APPL": [{ status: 404, body }],
    "/api/market/quotes/MSTF": [{ status: 500 }],
  });
  const message = "no feed has APPL; APPL: Did you mean AAPL?";
  await assert.rejects(client.bars("APPL"), { message, proposals: { APPL: "Did you mean AAPL?" } });
  await assert.rejects(client.bars("MSTF"), { message: "no feed has MSTF" });
});
