import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import type { Bar, HistoryMetadata, QuoteData, SymbolInfo } from "../src/tradingview/index.ts";
import { Datafeed } from "../src/tradingview/index.ts";
import { FakeSocket, newest, welcome } from "./fake-socket.ts";

const AAPL = { name: "AAPL", ticker: "AAPL", type: "stock", exchange: "NASDAQ", description: "Apple Inc." };
const symbol = AAPL as SymbolInfo;
const MINUTE = 60_000;
const OPENED = Date.parse("2026-11-20T15:30:00Z");
const time = (minute: number) => new Date(OPENED + minute * MINUTE).toISOString().replace(".000", "");
const history = (minutes: number[]) => ({
  ...{ s: "ok", t: minutes.map((each) => OPENED / 1000 + each * 60) },
  ...{ o: minutes.map(() => 10), h: minutes.map(() => 12), l: minutes.map(() => 9), c: minutes.map(() => 11) },
  v: minutes.map(() => 100),
});

/** Answers the datafeed's requests by path; returns the datafeed and the addresses that it asked. */
function open(context: TestContext, answers: Record<string, object | [number, object]>, address = "http://localhost") {
  const real = { fetch: globalThis.fetch, WebSocket: globalThis.WebSocket };
  const asked: URL[] = [];
  globalThis.fetch = (async (url: string) => {
    asked.push(new URL(url));
    const given = answers[asked.at(-1)?.pathname.replace("/api/udf/", "") ?? ""] ?? {};
    const [status, body] = Array.isArray(given) ? given : [200, given];
    return new Response(JSON.stringify(body), { status, headers: { "Retry-After": "0" } });
  }) as typeof fetch;
  globalThis.WebSocket = FakeSocket as unknown as typeof WebSocket;
  FakeSocket.made = [];
  const datafeed = new Datafeed({ address });
  context.after(() => {
    datafeed.close();
    Object.assign(globalThis, real);
  });
  return { datafeed, asked };
}

const barsOf = (datafeed: Datafeed, firstDataRequest = true) =>
  new Promise<[Bar[], HistoryMetadata]>((resolve, reject) =>
    datafeed.getBars(
      symbol,
      "1",
      { from: 5, to: OPENED / 1000 + 1, countBack: 2, firstDataRequest },
      (bars, meta) => resolve([bars, meta]),
      reject,
    ),
  );

const live = (minute: number, prices: Partial<Bar> = {}, final = false) => ({
  ...{ ticker: "AAPL", time: time(minute), open: 10.5, high: 11.5, low: 10, close: 11, volume: 40, updates: 3 },
  ...prices,
  final,
});
const frame = (reason: string | null, ...data: object[]) => ({
  ...{ type: "bars", feed: "market", epoch: "e", seq: 7, interval: "1m", ...(reason ? { reason } : {}) },
  data,
});

/** Answers the commands so far, as one that has a feed's bars. */
function acknowledge(feed = "market", key = "AAPL"): FakeSocket {
  const socket = newest();
  if (feed === "market") socket.receive(welcome("market", "doviz"));
  for (const { id, bars = "D" } of socket.commands()) {
    socket.receive({ type: "subscribed", feed, symbols: [key], rejected: [], interval: 250, bars, id });
  }
  return socket;
}

test("bars have milliseconds, and their request the chart's parameters", async (context) => {
  const { datafeed, asked } = open(context, { history: history([-1, 0]) });
  const [bars, meta] = await barsOf(datafeed);
  assert.deepEqual(bars.at(-1), { time: OPENED, open: 10, high: 12, low: 9, close: 11, volume: 100 });
  assert.equal(meta.noData, false);
  const { searchParams } = asked[0] as URL;
  assert.deepEqual(
    [...searchParams],
    [
      ["symbol", "AAPL"],
      ["resolution", "1"],
      ["from", "5"],
      ["to", String(OPENED / 1000 + 1)],
      ["countback", "2"],
    ],
  );
});

test("a span without bars names the one before it in milliseconds", async (context) => {
  const { datafeed } = open(context, { history: { s: "no_data", nextTime: OPENED / 1000 } });
  assert.deepEqual(await barsOf(datafeed), [[], { noData: true, nextTime: OPENED }]);
});

test("errors are the service's, and an unknown symbol the one that charts know", async (context) => {
  const { datafeed } = open(context, {
    history: [503, { detail: "No data yet for stocks", s: "error", errmsg: "No data yet for stocks" }],
    symbols: [404, { code: "symbol_not_found", s: "error", errmsg: "Symbol not found" }],
  });
  await assert.rejects(barsOf(datafeed), (reason) => String(reason).includes("No data yet"));
  const found = await new Promise((resolve) => datafeed.resolveSymbol("X", resolve, resolve));
  assert.equal(found, "unknown_symbol");
});

test("a path over its limit is asked again after the service's wait", async (context) => {
  const answers: Record<string, [number, object]> = { history: [429, { detail: "Too Many Requests" }] };
  const { datafeed, asked } = open(context, answers);
  await assert.rejects(barsOf(datafeed), (reason) => String(reason) === "Too Many Requests");
  assert.equal(asked.length, 2);
});

test("a live bar continues the last bar of the history, and the next one begins afresh", async (context) => {
  const { datafeed } = open(context, { history: history([-1, 0]) });
  await barsOf(datafeed);
  const bars: Bar[] = [];
  let gaps = 0;
  datafeed.subscribeBars(
    symbol,
    "1",
    (bar) => bars.push(bar),
    "chart",
    () => {
      gaps += 1;
    },
  );
  const socket = acknowledge();
  socket.receive(frame("resync", live(0, { high: 13, close: 12.5 })));
  assert.deepEqual(bars.pop(), { time: OPENED, open: 10, high: 13, low: 9, close: 12.5, volume: 100 });
  socket.receive(frame(null, live(1)), frame(null, live(0, {}, true)), frame(null, live(1, { close: 11.25 })));
  assert.deepEqual(
    bars.map((bar) => [bar.time - OPENED, bar.open, bar.close]),
    [
      [MINUTE, 10.5, 11],
      [MINUTE, 10.5, 11.25],
    ],
    "the final bar of the minute before comes too late for a chart",
  );
  assert.equal(gaps, 0);
});

test("a live bar that has all of the history's bar replaces it, and one that began live is the feed's", async (context) => {
  const { datafeed } = open(context, { history: history([-1, 0]) });
  await barsOf(datafeed);
  const bars: Bar[] = [];
  datafeed.subscribeBars(
    symbol,
    "1",
    (bar) => bars.push(bar),
    "chart",
    () => {},
  );
  const socket = acknowledge();
  const whole = { open: 9.5, high: 13, low: 8, close: 12.5, volume: 500 };
  socket.receive(frame("resync", live(0, whole)));
  assert.deepEqual(bars.pop(), { time: OPENED, ...whole });
  socket.receive(frame(null, live(1, { high: 20 })), frame(null, live(1, { open: 10, high: 12 })));
  assert.deepEqual(
    bars.map((bar) => [bar.open, bar.high]),
    [
      [10.5, 20],
      [10, 12],
    ],
  );
});

test("a gap that the service cannot fill resets the chart's cache", async (context) => {
  const { datafeed } = open(context, { history: history([-1, 0]) });
  await barsOf(datafeed);
  const gaps: string[] = [];
  const times: number[] = [];
  for (const id of ["a", "b"]) {
    datafeed.subscribeBars(
      symbol,
      "1",
      (bar) => times.push(bar.time - OPENED),
      id,
      () => gaps.push(id),
    );
  }
  const socket = acknowledge();
  socket.receive(frame("resync", live(0)), frame(null, live(1)));
  assert.deepEqual(gaps, []);
  socket.receive(frame("resync", live(1)));
  assert.deepEqual(gaps, [], "the bar in progress is the same one");
  socket.receive(frame("resync", live(5)), frame(null, live(5)));
  assert.deepEqual(gaps, ["a", "b"]);
  assert.equal(times.at(-1), 5 * MINUTE);
});

test("bars that begin after the history reset the cache too", async (context) => {
  const { datafeed } = open(context, { history: history([-1, 0]) });
  await barsOf(datafeed);
  let gaps = 0;
  datafeed.subscribeBars(
    symbol,
    "1",
    () => undefined,
    "chart",
    () => {
      gaps += 1;
    },
  );
  acknowledge().receive(frame("resync", live(1)), frame(null, live(2)));
  assert.equal(gaps, 1, "the last bar of the history may have changed before the first live one");
});

test("days are at midnight UTC of their date", async (context) => {
  const { datafeed } = open(context, {});
  const times: string[] = [];
  const day = (type: string, name: string) =>
    datafeed.subscribeBars(
      { ...symbol, type, name },
      "1D",
      (bar) => times.push(new Date(bar.time).toISOString()),
      name,
    );
  day("stock", "AAPL");
  acknowledge().receive({ ...frame("resync", live(0, { time: "2026-11-20T05:00:00Z" } as never)), interval: "D" });
  day("forex", "USD");
  const usd = { ...live(0), symbol: "USD", time: "2026-11-19T21:00:00Z" };
  acknowledge("doviz", "USD").receive({ ...frame("resync", usd), feed: "doviz", interval: "D" });
  assert.deepEqual(times, ["2026-11-20T00:00:00.000Z", "2026-11-20T00:00:00.000Z"]);
});

test("each resolution has a line of its own, which ends with its last chart", (context) => {
  const { datafeed } = open(context, {});
  datafeed.subscribeBars(symbol, "1", () => undefined, "a");
  datafeed.subscribeBars(symbol, "5", () => undefined, "b");
  datafeed.subscribeBars(symbol, "1", () => undefined, "c");
  assert.equal(FakeSocket.made.length, 2);
  datafeed.unsubscribeBars("a");
  assert.deepEqual([FakeSocket.made[0]?.closed, FakeSocket.made[1]?.closed], [false, false]);
  datafeed.unsubscribeBars("c");
  datafeed.unsubscribeBars("b");
  assert.deepEqual([FakeSocket.made[0]?.closed, FakeSocket.made[1]?.closed], [true, true]);
});

test("a resolution without live bars reads its newest bars again", async (context) => {
  context.mock.timers.enable({ apis: ["setInterval", "Date"], now: OPENED });
  const { datafeed, asked } = open(context, { history: history([-30, 0]) });
  const first = new Promise<Bar>((resolve) => datafeed.subscribeBars(symbol, "30", resolve, "chart"));
  context.mock.timers.tick(10_000);
  assert.equal((await first).time, OPENED - 30 * MINUTE);
  assert.equal(asked.length, 1);
  assert.equal(asked[0]?.searchParams.get("countback"), "2");
  assert.equal(FakeSocket.made.length, 0);
});

test("quotes keep the names of the watchlist", async (context) => {
  const { datafeed } = open(context, {
    symbols: AAPL,
    quotes: { s: "ok", d: [{ s: "ok", n: "NASDAQ:AAPL", v: { lp: 1 } }] },
  });
  const data: QuoteData[] = [];
  datafeed.subscribeQuotes([], ["NASDAQ:AAPL"], (quotes) => data.push(...quotes), "list");
  while (!FakeSocket.made.length) await new Promise(setImmediate);
  const quote = { ticker: "AAPL", price: 2, change: -1, changePercent: null, volume: "500" };
  acknowledge().receive({ type: "snapshot", feed: "market", epoch: "e", seq: 1, reason: "resync", data: [quote] });
  assert.deepEqual(data.at(0), { s: "ok", n: "NASDAQ:AAPL", v: { lp: 1 } });
  assert.deepEqual(data.at(-1), {
    ...{ s: "ok", n: "NASDAQ:AAPL" },
    v: { short_name: "AAPL", exchange: "NASDAQ", description: "Apple Inc.", lp: 2, ch: -1, volume: 500 },
  });
  datafeed.unsubscribeQuotes("list");
  assert.equal(newest().closed, true);
});

test("the address may end with a slash", async (context) => {
  const { datafeed, asked } = open(context, { history: { s: "no_data" } }, "http://localhost/");
  await barsOf(datafeed);
  assert.equal(asked[0]?.pathname, "/api/udf/history");
  datafeed.subscribeBars(symbol, "1", () => undefined, "chart");
  assert.equal(newest().url, "ws://localhost/api/ws");
});
