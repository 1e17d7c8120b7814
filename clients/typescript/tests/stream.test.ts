import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { StreamRefused, UnknownSymbols } from "../src/index.ts";
import { bars, FakeMarket, quote, snapshot, update } from "./fake-market.ts";
import type { Answers } from "./fake-routes.ts";

/** Opens a market, whose streams end with the test. */
function open(context: TestContext, answers: Answers = {}) {
  const market = new FakeMarket(answers);
  const begin = async <S extends { next(): Promise<unknown>; close(): void }>(stream: S) => {
    context.after(() => stream.close());
    const first = stream.next() as ReturnType<S["next"]>;
    return { stream, first, socket: await market.socket(market.sockets.length) };
  };
  return { market, client: market.client, begin };
}

test("a stream has the first quotes, then what changes, then what is removed", async (context) => {
  const { client, begin } = open(context);
  const { stream, first, socket } = await begin(client.stream(["BTC/USDT", "ETH/USDT"]));
  socket.receive(snapshot(1, "resync", quote("BTC/USDT", 1), quote("ETH/USDT", 2)));
  assert.deepEqual((await first).value, {
    feed: "crypto",
    symbol: "BTC/USDT",
    quote: quote("BTC/USDT", 1),
    removed: false,
  });
  assert.equal((await stream.next()).value?.symbol, "ETH/USDT");
  socket.receive(update(2, [{ ticker: "BTC/USDT", price: 3 }], ["ETH/USDT"]));
  assert.equal((await stream.next()).value?.quote.price, 3);
  assert.deepEqual((await stream.next()).value, {
    feed: "crypto",
    symbol: "ETH/USDT",
    quote: quote("ETH/USDT", 2),
    removed: true,
  });
  assert.deepEqual([[...stream.quotes.keys()], stream.copies.get("crypto")?.cursor], [["BTC/USDT"], "e-2"]);
});

test("a slow reader gets the newest quote of each symbol", async (context) => {
  const { client, begin } = open(context);
  const { stream, first, socket } = await begin(client.stream(["BTC/USDT", "ETH/USDT"]));
  socket.receive(snapshot(1, "resync", quote("BTC/USDT", 1), quote("ETH/USDT", 2)));
  for (const price of [5, 6, 7]) socket.receive(update(price, [{ ticker: "BTC/USDT", price }]));
  const changes = [(await first).value, (await stream.next()).value];
  assert.deepEqual(
    changes.map((change) => [change?.symbol, change?.quote.price]),
    [
      ["BTC/USDT", 7],
      ["ETH/USDT", 2],
    ],
  );
});

test("a resync brings only what differs", async (context) => {
  const { client, begin } = open(context);
  const { stream, first, socket } = await begin(client.stream(["BTC/USDT", "ETH/USDT"]));
  socket.receive(snapshot(1, "resync", quote("BTC/USDT", 1), quote("ETH/USDT", 2)));
  await first;
  await stream.next();
  socket.receive(snapshot(1, "resync", quote("BTC/USDT", 1), quote("ETH/USDT", 4)));
  assert.equal((await stream.next()).value?.quote.price, 4);
});

test("the end of a loop closes the socket", async (context) => {
  const { client, market } = open(context);
  const reading = (async () => {
    for await (const _ of client.stream(["BTC/USDT"])) break;
  })();
  const socket = await market.socket();
  socket.receive(snapshot(1, "resync", quote("BTC/USDT", 1)));
  await reading;
  assert.ok(socket.isClosed);
});

test("a stream that is closed elsewhere ends its loop", async (context) => {
  const { client, begin } = open(context);
  const { stream, first } = await begin(client.stream(["BTC/USDT"]));
  stream.close();
  assert.deepEqual(await first, { done: true, value: undefined });
});

test("a stream throws at its end if nothing can help it", async (context) => {
  const { client, begin } = open(context);
  const unknown = client.stream(["NOPE"]);
  await assert.rejects(unknown.next(), (error) => error instanceof UnknownSymbols && error.symbols[0] === "NOPE");
  const refused = await begin(client.stream(["BTC/USDT"]));
  refused.socket.onclose?.({ code: 4400 });
  await assert.rejects(refused.first, (error) => error instanceof StreamRefused && error.code === 4400);
  const wrong = await begin(client.stream(["BTC/USDT"]));
  wrong.socket.receive({ type: "error", feed: "crypto", code: 400, detail: "at most 1000 symbols" });
  await assert.rejects(wrong.first, { code: 400, message: "at most 1000 symbols" });
});

test("live bars have the closed ones of REST before them, and no final bar is lost", async (context) => {
  const bar = (minute: number, close: number) => ({
    time: `2026-11-20T15:${minute}:00Z`,
    open: 1,
    high: 9,
    low: 1,
    close,
    volume: null,
  });
  const live = (minute: number, close: number, final: boolean) => ({
    ticker: "BTC/USDT",
    ...bar(minute, close),
    updates: 1,
    final,
  });
  const path = "/api/crypto/bars?source=own&end=2026-11-20T15:32:00Z&symbols=BTC/USDT&timeframe=1m";
  const { client, begin } = open(context, { [path]: [{ body: { "BTC/USDT": [bar(30, 1), bar(31, 2)] } }] });
  const { stream, first, socket } = await begin(client.streamBars(["BTC/USDT"], "1m"));
  socket.receive(bars({ reason: "resync", data: [live(32, 3, false)] }));
  socket.receive(snapshot(1, "resync", quote("BTC/USDT", 3)));
  const seen = [(await first).value?.bar, (await stream.next()).value?.bar, (await stream.next()).value?.bar];
  socket.receive(bars({ data: [live(32, 4, true)], closed: { time: "2026-11-20T15:33:00Z", count: 1 } }));
  socket.receive(bars({ data: [live(33, 5, false)] }));
  seen.push((await stream.next()).value?.bar, (await stream.next()).value?.bar);
  assert.deepEqual(
    seen.map((each) => [each?.time.slice(14, 16), each?.close, each?.final]),
    [
      ["32", 3, false],
      ["30", 1, true],
      ["31", 2, true],
      ["32", 4, true],
      ["33", 5, false],
    ],
  );
});
