import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { decode } from "@msgpack/msgpack";

import { Connection, type FeedName, ROWS, rowsInMessagePack } from "../src/index.ts";
import { FakeSocket, HEARTBEAT_MS, newest, openFake, type Sent, welcome } from "./fake-socket.ts";

/** Longer than the first wait before a reconnection, and shorter than a watchdog. */
const RETRY_MS = 1000;

const subscribed = (feed: FeedName, id: unknown, ...symbols: string[]) => ({
  type: "subscribed",
  feed,
  symbols,
  rejected: [],
  id,
});
const snapshot = (feed: FeedName, seq: number, reason: string, ...keys: string[]) => ({
  type: "snapshot",
  feed,
  epoch: "e",
  seq,
  reason,
  data: keys.map((key) => ({ [feed === "doviz" ? "symbol" : "ticker"]: key, price: seq })),
});
const heartbeat = (feed: FeedName, seq: number, state = "live") => ({
  type: "heartbeat",
  feed,
  epoch: seq ? "e" : "",
  seq,
  timestamp: "2026-11-22T10:00:00.000Z",
  state,
  market: "open",
});

/** Answers the commands of a feed as a server with its data does. */
function answer(socket: FakeSocket, seq: number): void {
  for (const { action, feed, id, symbols, since } of socket.commands())
    if (action === "subscribe") {
      const reason = since === undefined ? "subscribe" : since === "none" ? "resync" : "resume";
      const keys = reason === "resume" ? [] : (symbols as string[]);
      socket.receive(
        subscribed(feed as FeedName, id, ...(symbols as string[])),
        snapshot(feed as FeedName, seq, reason, ...keys),
      );
    }
}

function reconnect(context: TestContext): FakeSocket {
  newest().break();
  context.mock.timers.tick(RETRY_MS);
  return newest();
}

const cursors = (commands: Sent[]) => Object.fromEntries(commands.map(({ feed, since }) => [feed, since]));

test("one socket serves every feed, each with its own list, interval and fields", (context) => {
  const connection = openFake(context, { encoding: ROWS });
  connection.feed("market", { interval: 1000, fields: ["price"] }).follow(["AAPL"]);
  connection.feed("crypto").follow("all");
  const socket = newest();
  assert.deepEqual([socket.url, socket.subprotocols], ["ws://localhost/api/ws", ["quotecast.v1.rows"]]);
  socket.receive(welcome("market", "crypto", "doviz"));
  connection.feed("doviz").follow(["USD"]);
  const common = { action: "subscribe", since: "none" };
  assert.deepEqual(socket.commands(), [
    { ...common, feed: "market", symbols: ["AAPL"], interval: 1000, fields: ["price"], id: 1 },
    { ...common, feed: "crypto", symbols: "all", interval: 250, fields: "all", id: 1 },
    { ...common, feed: "doviz", symbols: [], interval: 250, fields: "all", id: 1 },
    { action: "subscribe", feed: "doviz", symbols: ["USD"], id: 2 },
  ]);
  assert.equal(FakeSocket.made.length, 1);
  assert.throws(() => connection.feed("doviz"), /doviz/);
});

test("rows in MessagePack have their own subprotocol", (context) => {
  openFake(context, { encoding: rowsInMessagePack(decode) });
  assert.deepEqual(newest().subprotocols, ["quotecast.v1.rows.msgpack"]);
});

test("each feed resumes with its own cursor", (context) => {
  const connection = openFake(context);
  const feeds = (["market", "crypto"] as const).map((name) => connection.feed(name));
  for (const feed of feeds) feed.follow(["A"]);
  newest().receive(welcome("market", "crypto"));
  answer(newest(), 3);
  newest().receive(heartbeat("crypto", 8));
  const second = reconnect(context);
  assert.deepEqual(
    feeds.map((feed) => feed.state),
    ["connecting", "connecting"],
  );
  second.receive(welcome("market", "crypto"));
  assert.deepEqual(cursors(second.commands()), { market: "e-3", crypto: "e-8" });
});

test("a heartbeat before the answer to a cursor does not move it", (context) => {
  const feed = openFake(context).feed("market");
  feed.follow(["A"]);
  newest().receive(welcome("market"));
  answer(newest(), 3);
  const second = reconnect(context);
  second.receive(welcome("market"), heartbeat("market", 9), heartbeat("market", 0, "down"));
  const third = reconnect(context);
  third.receive(welcome("market"));
  assert.deepEqual(cursors(third.commands()), { market: "e-3" });
});

test("a cursor never covers a symbol whose snapshot has not come", (context) => {
  const feed = openFake(context).feed("market");
  feed.follow(["A"]);
  newest().receive(welcome("market"));
  answer(newest(), 3);
  feed.follow(["A", "B"]);
  newest().receive({ type: "update", feed: "market", epoch: "e", seq: 4, data: [{ ticker: "A", price: 4 }] });
  const [command] = newest().commands();
  newest().receive(subscribed("market", command?.id, "A", "B"));
  const second = reconnect(context);
  second.receive(welcome("market"));
  assert.deepEqual(cursors(second.commands()), { market: "none" });
});

test("a cursor never covers a symbol that the server did not know", (context) => {
  const feed = openFake(context).feed("market");
  feed.follow(["A", "NEW"]);
  newest().receive(welcome("market"));
  const [command] = newest().commands();
  const rejected = [{ symbol: "NEW", code: 404 }];
  newest().receive({ ...subscribed("market", command?.id, "A"), rejected }, snapshot("market", 3, "resync", "A"));
  const second = reconnect(context);
  second.receive(welcome("market"));
  assert.deepEqual(cursors(second.commands()), { market: "none" });
});

test("a symbol that is in the list by another name does not cost the cursor", (context) => {
  const feed = openFake(context).feed("market");
  feed.follow(["A"]);
  newest().receive(welcome("market"));
  answer(newest(), 3);
  feed.follow(["A", "a"]);
  const [command] = newest().commands();
  newest().receive(subscribed("market", command?.id, "A"), heartbeat("market", 9));
  const second = reconnect(context);
  second.receive(welcome("market"));
  assert.deepEqual(cursors(second.commands()), { market: "e-9" });
});

test("symbols that change without a connection cost the cursor only if there are more", (context) => {
  const feed = openFake(context).feed("market");
  feed.follow(["A", "B"]);
  newest().receive(welcome("market"));
  answer(newest(), 3);
  newest().break();
  feed.follow(["A"]);
  context.mock.timers.tick(RETRY_MS);
  newest().receive(welcome("market"));
  const [command] = newest().commands();
  assert.deepEqual([command?.symbols, command?.since], [["A"], "e-3"]);
  newest().receive(subscribed("market", command?.id, "A"), snapshot("market", 3, "resume"));
  assert.deepEqual([...feed.copy.quotes.keys()], ["A"]);
  newest().break();
  feed.follow(["A", "C"]);
  context.mock.timers.tick(RETRY_MS);
  newest().receive(welcome("market"));
  assert.deepEqual(cursors(newest().commands()), { market: "none" });
});

test("quotes on their way when their symbol leaves the list do not stay", (context) => {
  const feed = openFake(context).feed("market");
  feed.follow(["A", "B"]);
  newest().receive(welcome("market"));
  answer(newest(), 3);
  feed.follow(["A"]);
  const [command] = newest().commands();
  newest().receive({ type: "update", feed: "market", epoch: "e", seq: 4, data: [{ ticker: "B", price: 4 }] });
  newest().receive(subscribed("market", command?.id, "A"));
  assert.deepEqual([...feed.copy.quotes.keys()], ["A"]);
});

test("a list that loses a symbol beside a group starts over", (context) => {
  const feed = openFake(context).feed("market");
  feed.follow(["A", "sector:Energy"]);
  newest().receive(welcome("market"));
  answer(newest(), 3);
  feed.follow(["sector:Energy"]);
  assert.deepEqual(
    newest()
      .commands()
      .map(({ action, symbols, since }) => [action, symbols, since]),
    [
      ["unsubscribe", "all", undefined],
      ["subscribe", ["sector:Energy"], "none"],
    ],
  );
});

test("other fields replace the copy", (context) => {
  const feed = openFake(context).feed("market");
  feed.follow(["A"]);
  newest().receive(welcome("market"));
  answer(newest(), 3);
  feed.select(["volume"]);
  const commands = newest().commands();
  assert.deepEqual(commands, [
    { action: "unsubscribe", feed: "market", symbols: "all", id: 2 },
    { action: "subscribe", feed: "market", symbols: ["A"], since: "none", interval: 250, fields: ["volume"], id: 3 },
  ]);
  const data = [{ ticker: "A", volume: "7" }];
  newest().receive(subscribed("market", 3, "A"), { ...snapshot("market", 4, "resync"), data });
  assert.deepEqual([...feed.copy.quotes.values()], data);
});

test("a feed without a provider is refused, and the others go on", (context) => {
  const connection = openFake(context);
  const feeds = (["market", "crypto", "doviz"] as const).map((name) => connection.feed(name));
  newest().receive(welcome("market", "crypto"));
  assert.deepEqual(
    newest()
      .commands()
      .map(({ feed }) => feed),
    ["market", "crypto"],
  );
  newest().receive(snapshot("market", 3, "resync"));
  newest().receive({ type: "error", feed: "crypto", code: 404, detail: "No provider", id: 1 });
  context.mock.timers.tick(5 * RETRY_MS);
  assert.deepEqual(
    feeds.map((feed) => feed.state),
    ["live", "refused", "refused"],
  );
  assert.deepEqual(newest().commands(), []);
  assert.equal(FakeSocket.made.length, 1);
});

test("a feed without data subscribes again after a wait, or when it has data", (context) => {
  const feed = openFake(context).feed("market");
  feed.follow(["A"]);
  newest().receive(welcome("market"));
  const refusal = { type: "error", feed: "market", code: 503, detail: "No data yet" };
  const subscribe = { ...newest().commands()[0], id: 0 };
  newest().receive(refusal, heartbeat("market", 0, "down"));
  assert.equal(feed.state, "down");
  feed.follow(["A", "B"]);
  assert.deepEqual(newest().commands(), []);
  context.mock.timers.tick(RETRY_MS);
  assert.deepEqual(newest().commands(), [{ ...subscribe, symbols: ["A", "B"], id: 2 }]);
  newest().receive(refusal, heartbeat("market", 1));
  assert.deepEqual(newest().commands(), [{ ...subscribe, symbols: ["A", "B"], id: 3 }]);
  context.mock.timers.tick(5 * RETRY_MS);
  assert.deepEqual(newest().commands(), [], "the heartbeat took the place of the wait");
});

test("an answer after a refusal covers only its own symbols", (context) => {
  const feed = openFake(context).feed("market");
  feed.follow(["A"]);
  newest().receive(welcome("market"));
  feed.follow(["A", "B"]);
  newest().commands();
  newest().receive({ type: "error", feed: "market", code: 503, detail: "No data yet", id: 1 });
  newest().receive(subscribed("market", 2, "B"), snapshot("market", 3, "subscribe", "B"));
  context.mock.timers.tick(RETRY_MS);
  const [command] = newest().commands();
  assert.deepEqual([command?.symbols, command?.since], [["A", "B"], "none"]);
});

test("a rejected command has its reason reported", (context) => {
  const reasons: string[] = [];
  openFake(context).feed("market", { onError: (detail) => reasons.push(detail) });
  newest().receive(welcome("market"), { type: "error", feed: "market", code: 400, detail: "at most 1000 symbols" });
  assert.deepEqual(reasons, ["at most 1000 symbols"]);
});

test("a final close code ends all feeds", (context) => {
  const connection = openFake(context);
  const feeds = (["market", "crypto"] as const).map((name) => connection.feed(name));
  newest().receive(welcome("market", "crypto"));
  newest().break(4400);
  context.mock.timers.tick(60_000);
  connection.check();
  assert.deepEqual(
    feeds.map((feed) => feed.state),
    ["refused", "refused"],
  );
  assert.equal(FakeSocket.made.length, 1);
});

test("a handshake that fails without a close is tried again", (context) => {
  openFake(context);
  newest().onerror?.();
  context.mock.timers.tick(RETRY_MS);
  assert.equal(FakeSocket.made.length, 2);
});

test("without a WebSocket the error names the option", (context) => {
  const real = globalThis.WebSocket;
  context.after(() => {
    globalThis.WebSocket = real;
  });
  globalThis.WebSocket = undefined as unknown as typeof WebSocket;
  assert.throws(() => new Connection({ address: "http://localhost" }), /option `WebSocket`/);
});

test("a restarting server says when to reconnect", (context) => {
  openFake(context);
  newest().receive(welcome("market"), { type: "shutdown", retryAfterMs: 10_000 });
  newest().break(1012);
  context.mock.timers.tick(7999);
  assert.equal(FakeSocket.made.length, 1);
  context.mock.timers.tick(1);
  assert.equal(FakeSocket.made.length, 2);
});

test("two heartbeats without a frame count as a loss", (context) => {
  const feed = openFake(context).feed("market");
  newest().receive(welcome("market"));
  for (let beat = 0; beat < 3; beat += 1) {
    context.mock.timers.tick(2 * HEARTBEAT_MS - 1);
    newest().receive(heartbeat("crypto", 1));
  }
  assert.ok(!newest().closed);
  context.mock.timers.tick(2 * HEARTBEAT_MS);
  assert.ok(FakeSocket.made[0]?.closed);
  assert.equal(feed.state, "connecting");
});

test("a check without a pong counts as a loss", (context) => {
  const connection = openFake(context);
  newest().receive(welcome("market"), { type: "pong", timestamp: "2026-11-22T10:00:00.000Z" });
  newest().sent.length = 0;
  connection.check();
  assert.deepEqual(newest().sent, [{ action: "ping" }]);
  newest().receive({ type: "pong", timestamp: "2026-11-22T10:00:00.000Z" });
  context.mock.timers.tick(5000);
  assert.ok(!newest().closed);
  connection.check();
  context.mock.timers.tick(5000);
  assert.ok(FakeSocket.made[0]?.closed);
  connection.check();
  context.mock.timers.tick(0);
  assert.ok(FakeSocket.made.length > 1, "a check ends the wait");
});
