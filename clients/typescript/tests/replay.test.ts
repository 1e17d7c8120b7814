import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { Replay, type ReplayOptions } from "../src/index.ts";
import { FakeSocket, newest } from "./fake-socket.ts";

const AT = "2026-11-20T14:31:00.000Z";

function play(context: TestContext, options: Pick<ReplayOptions<"market">, "ticket"> = {}) {
  const real = globalThis.WebSocket;
  globalThis.WebSocket = FakeSocket as unknown as typeof WebSocket;
  context.after(() => {
    globalThis.WebSocket = real;
  });
  const seen: unknown[] = [];
  const replay = new Replay({
    address: "http://localhost",
    feed: "market",
    symbols: ["AAPL", "MSFT"],
    at: AT,
    speed: 10,
    onChange: ({ keys }) => seen.push(keys),
    onMoment: (at) => seen.push(at),
    onEnd: (end) => seen.push(end),
    ...options,
  });
  return { replay, seen, socket: newest() };
}

const snapshot = {
  type: "snapshot",
  epoch: "e",
  seq: 7,
  reason: "subscribe",
  columns: ["ticker", "price"],
  data: [["AAPL", 10]],
};

test("a replay asks its feed for a moment and a speed, and copies what was recorded", (context) => {
  const { replay, seen, socket } = play(context);
  assert.equal(socket.url, `ws://localhost/api/ws/market?symbols=AAPL%2CMSFT&at=${encodeURIComponent(AT)}&speed=10`);
  assert.deepEqual(socket.subprotocols, ["quotecast.v1.rows"]);
  socket.receive({ type: "welcome", at: AT, replayed: true }, snapshot);
  socket.receive({ type: "update", epoch: "e", seq: 8, data: [["AAPL", 11]] });
  assert.deepEqual(seen, [AT, ["AAPL"], ["AAPL"]]);
  assert.deepEqual(replay.copy.quotes.get("AAPL") as unknown, { ticker: "AAPL", price: 11 });
});

test("a replay ends with the reason of the service, or at the end of the recording", (context) => {
  const early = play(context);
  early.socket.receive({ type: "error", code: 422, detail: "at: Not recorded" });
  early.socket.break(4422);
  assert.deepEqual(early.seen, [{ isWhole: false, reason: "at: Not recorded" }]);
  const whole = play(context);
  whole.socket.break(4410);
  assert.deepEqual(whole.seen, [{ isWhole: true, reason: null }]);
});

test("a ticket opens a replay, and a ticket that fails ends it", async (context) => {
  const before = FakeSocket.made.length;
  play(context, { ticket: async () => "qc_ticket_a" });
  assert.equal(FakeSocket.made.length, before);
  await Promise.resolve();
  assert.match(newest().url, /&ticket=qc_ticket_a$/);
  const failed = play(context, { ticket: () => Promise.reject(new Error("Tickets are not available now")) });
  await Promise.resolve();
  assert.deepEqual(failed.seen, [{ isWhole: false, reason: "Tickets are not available now" }]);
  assert.equal(FakeSocket.made.length, before + 1);
});

test("a replay that closes before its ticket comes opens nothing", async (context) => {
  const before = FakeSocket.made.length;
  play(context, { ticket: async () => "qc_ticket_a" }).replay.close();
  await Promise.resolve();
  assert.equal(FakeSocket.made.length, before);
});

test("a closed replay says nothing more", (context) => {
  const { replay, seen, socket } = play(context);
  replay.close();
  assert.equal(socket.closed, true);
  socket.break();
  assert.deepEqual(seen, []);
});
