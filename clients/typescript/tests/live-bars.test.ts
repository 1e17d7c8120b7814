import assert from "node:assert/strict";
import { test } from "node:test";

import type { AnyBars } from "../src/feed-types.ts";
import { type BarsChange, type FeedName, LiveBars } from "../src/index.ts";
import { type FakeSocket, newest, openFake, welcome } from "./fake-socket.ts";

const COLUMNS = ["ticker", "time", "open", "high", "low", "close", "volume", "updates", "final"];
const time = (minute: number) => `2026-11-20T15:${minute}:00Z`;
const bar = (ticker: string, minute: number, final: boolean) => ({
  ...{ ticker, time: time(minute), open: 1, high: 2, low: 1, close: 2, volume: 5, updates: 3 },
  final,
});
const frame = (fields: Partial<AnyBars>): AnyBars =>
  ({ type: "bars", epoch: "e", seq: 7, interval: "1m", data: [], ...fields }) as AnyBars;
const closing = (minute: number, ...tickers: string[]) =>
  frame({
    data: tickers.map((ticker) => bar(ticker, minute - 1, true)),
    closed: { time: time(minute), count: tickers.length },
  });

const acknowledgement = (feed: FeedName, id: unknown, ...symbols: string[]) => ({
  ...{ type: "subscribed", feed, symbols, rejected: [], interval: 250, bars: "1m", id },
});
const snapshot = (seq: number, reason: string, ...keys: string[]) => ({
  ...{ type: "snapshot", feed: "market", epoch: "e", seq, reason },
  data: keys.map((ticker) => ({ ticker, price: 1 })),
});

/** Opens a market feed with bars of two symbols, which have a snapshot. */
function openBars(context: Parameters<typeof openFake>[0]) {
  const changes: BarsChange[] = [];
  const connection = openFake(context);
  const feed = connection.feed("market", { bars: "1m", onBars: (change) => changes.push(change) });
  feed.follow(["A", "B"]);
  const socket = newest();
  socket.receive(welcome("market"));
  const [command] = socket.commands();
  socket.receive(
    acknowledgement("market", command?.id, "A", "B"),
    { ...frame({ reason: "resync", epoch: "", seq: 0 }), feed: "market" },
    snapshot(7, "resync", "A", "B"),
  );
  return { feed, socket, command, changes };
}

function reconnect(context: Parameters<typeof openFake>[0]): FakeSocket {
  newest().break();
  context.mock.timers.tick(1000);
  newest().receive(welcome("market"));
  return newest();
}

test("bars in progress are followed by final ones, whose marker moves the time", () => {
  const bars = new LiveBars("market", "1m");
  const begun = bars.take(frame({ reason: "subscribe", data: [bar("A", 30, false)] }));
  assert.equal(begun?.missing, "all", "the first bars of a client lack all closed ones");
  bars.take(frame({ data: [bar("A", 31, false)] }));
  const change = bars.take(closing(31, "A"));
  assert.deepEqual([change?.closed, change?.bars.length, bars.since], [time(31), 1, time(31)]);
  assert.equal(bars.newest.get("A")?.time, time(31), "the bar in progress is newer than the final one");
  assert.equal(bars.take(frame({ reason: "subscribe", data: [bar("B", 31, false)] }))?.missing, "added");
  assert.equal(bars.take(frame({ reason: "resume" }))?.missing, null);
  assert.equal(bars.take(frame({ reason: "resync", data: [bar("B", 32, false)] }))?.missing, "all");
  assert.deepEqual([[...bars.newest.keys()], bars.since], [["B"], null]);
});

const closedBar = (minute: number) => ({ time: time(minute), open: 1, high: 2, low: 1, close: 2, volume: 5 });

test("an answer that was asked for before bars went missing again leaves them missing", () => {
  const bars = new LiveBars("market", "1m");
  bars.take(frame({ reason: "subscribe", data: [bar("A", 30, false)] }));
  const { missed } = bars;
  bars.take(frame({ reason: "resync", data: [bar("A", 36, false)] }));
  bars.fill({ A: [closedBar(28), closedBar(29)] }, missed);
  assert.deepEqual([bars.isMissing, bars.since], [true, null], "minutes 30 to 35 have not come");
  bars.fill({ A: [closedBar(34), closedBar(35)] }, bars.missed);
  assert.deepEqual([bars.isMissing, bars.since], [false, time(36)]);
});

test("the newest bar of REST is not final while no bar is in progress", () => {
  const bars = new LiveBars("market", "1m");
  bars.take(frame({ reason: "subscribe" }));
  bars.fill({ A: [closedBar(29), closedBar(30)] });
  const held = [...(bars.held.get("A")?.values() ?? [])];
  assert.deepEqual(
    held.map(({ final }) => final),
    [true, false],
  );
  assert.equal(bars.since, null, "the bar of minute 30 may change");
});

test("rows follow the columns of the last frame with a reason", () => {
  const bars = new LiveBars("market", "1m");
  const row = (minute: number, final: boolean) => ["A", time(minute), 1, 2, 1, 2, 5, 3, final];
  bars.take(frame({ reason: "resync", columns: COLUMNS, data: [row(30, false)] }));
  const change = bars.take(frame({ data: [row(30, true)], closed: { time: time(31), count: 1 } }));
  const { ticker: key, ...rest } = bar("A", 30, true);
  assert.deepEqual(change?.bars, [{ key, ...rest }]);
});

test("a change of the interval drops all bars, and frames on their way", () => {
  const bars = new LiveBars("doviz", "1m");
  bars.take(frame({ reason: "resync" }));
  bars.take(closing(31));
  bars.reset("5m");
  assert.equal(bars.take(closing(32)), null);
  assert.equal(bars.since, null);
  const change = bars.take(frame({ interval: "5m", reason: "resume" }));
  assert.equal(change?.missing, "all", "bars of another interval are no bars to resume");
});

test("a feed asks for bars, and resumes them with the time of the last marker", (context) => {
  const { socket, command, changes, feed } = openBars(context);
  assert.deepEqual([command?.bars, command?.barsSince], ["1m", undefined]);
  assert.equal(changes[0]?.missing, "all");
  socket.receive({ ...closing(31, "A", "B"), feed: "market" });
  assert.deepEqual(
    changes.at(-1)?.bars.map(({ key }) => key),
    ["A", "B"],
  );
  const [resumed] = reconnect(context).commands();
  assert.deepEqual([resumed?.since, resumed?.bars, resumed?.barsSince], ["e-7", "1m", time(31)]);
  feed.follow(["A"]);
  assert.deepEqual([...feed.bars.newest.keys()], ["A", "B"], "until the server acknowledges it");
});

test("bars before a snapshot do not complete a subscription", (context) => {
  const { socket, feed } = openBars(context);
  feed.follow(["A", "B", "C"]);
  const [added] = socket.commands();
  socket.receive({ ...closing(31, "A"), feed: "market" }, acknowledgement("market", added?.id, "A", "B", "C"), {
    ...frame({ reason: "subscribe" }),
    feed: "market",
  });
  const [again] = reconnect(context).commands();
  assert.deepEqual([again?.since, again?.barsSince], ["none", undefined], "C has no snapshot yet");
});

test("another interval is one command; without bars a feed asks for none", (context) => {
  const { socket, feed } = openBars(context);
  feed.selectBars("1h");
  feed.selectBars("none");
  assert.deepEqual(
    socket.commands().map(({ action, bars, symbols }) => [action, bars, symbols]),
    [
      ["subscribe", "1h", undefined],
      ["subscribe", "none", undefined],
    ],
  );
  const [command] = reconnect(context).commands();
  assert.ok(command && !("bars" in command));
});
