import assert from "node:assert/strict";
import { test } from "node:test";

import { FakeMarket, quote, snapshot, until, update } from "./fake-market.ts";

const PAIRS = ["BTC/USDT", "ETH/USDT"] as const;

test("viewers share one socket, and each hears of its own symbols only", async () => {
  const market = new FakeMarket();
  const { live } = market.client;
  const calls = { bitcoin: 0, both: 0 };
  const ends = [
    live.watch(["BTC/USDT"], () => {
      calls.bitcoin += 1;
    }),
    live.watch(PAIRS, () => {
      calls.both += 1;
    }),
  ];
  const socket = await market.socket();
  await until(() => socket.commands.some(({ symbols }) => Array.isArray(symbols) && symbols.length === 2));
  socket.receive(snapshot(1, "resync", quote("BTC/USDT", 1), quote("ETH/USDT", 2)));
  assert.deepEqual(calls, { bitcoin: 1, both: 1 });
  socket.receive(update(2, [{ ticker: "ETH/USDT", price: 3 }]));
  assert.deepEqual(calls, { bitcoin: 1, both: 2 });
  assert.deepEqual([live.quote("BTC/USDT")?.price, live.quote("ETH/USDT")?.price], [1, 3]);
  assert.equal(market.sockets.length, 1);
  for (const end of ends) end();
  await until(() => socket.isClosed);
  assert.equal(live.quote("BTC/USDT"), undefined, "a quote that nobody follows would be old");
});

test("a viewer that leaves takes its symbols with it", async () => {
  const market = new FakeMarket();
  const { live } = market.client;
  const endBoth = live.watch(PAIRS, () => {});
  const socket = await market.socket();
  socket.receive(snapshot(1, "resync", quote("BTC/USDT", 1), quote("ETH/USDT", 2)));
  const endOne = live.watch(["btc-usdt", "crypto:BTC/USDT"], () => {});
  endBoth();
  await until(() => socket.commands.some(({ action }) => action === "unsubscribe"));
  assert.deepEqual(socket.commands.find(({ action }) => action === "unsubscribe")?.symbols, ["ETH/USDT"]);
  assert.equal(live.quote("crypto:BTC/USDT")?.price, 1);
  assert.equal(live.quote("ETH/USDT"), undefined);
  endOne();
  await until(() => socket.isClosed);
});

test("a viewer of a known symbol does not wait until another one is found", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const pass = async (): Promise<void> => {
    context.mock.timers.tick(30);
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const path = "/api/market/quotes?symbols=BTC,BTC";
  const market = new FakeMarket({ [path]: [new TypeError("fetch failed")] });
  const { live } = market.client;
  const endOfFirst = live.watch(["BTC/USDT"], () => {});
  await pass();
  endOfFirst();
  await pass();
  assert.equal(market.sockets[0]?.isClosed, true);
  const ends = [live.watch(["BTC"], () => {})];
  await pass();
  ends.push(live.watch(["BTC/USDT"], () => {}));
  await pass();
  assert.equal(market.sockets.length, 2);
  for (const end of ends) end();
  await pass();
});

test("a symbol is found when the service comes back", async () => {
  const path = "/api/market/quotes?symbols=BTC,BTC";
  const market = new FakeMarket({ [path]: [new TypeError("fetch failed"), { body: { BTC: { ticker: "BTC" } } }] });
  const end = market.client.live.watch(["BTC"], () => {});
  await until(() => market.sockets.length > 0);
  end();
});
