import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { DEFLATE, Feed, type FeedName, type FeedOptions, JSON_TEXT, Rest } from "../index.ts";
import { MSGPACK } from "../msgpack.ts";
import { ADDRESS, Line, until } from "./service.ts";

function openFeed<N extends FeedName>(
  context: TestContext,
  options: Omit<FeedOptions<N>, "address">,
  address = ADDRESS,
): Feed<N> {
  const feed = new Feed<N>({ address, interval: 100, ...options });
  context.after(() => feed.close());
  return feed;
}

for (const encoding of [JSON_TEXT, DEFLATE, MSGPACK])
  test(`${encoding.subprotocol} brings a snapshot, then what moves`, async (context) => {
    const feed = openFeed(context, { feed: "crypto", encoding });
    feed.follow("all");
    await until(() => feed.copy.quotes.size > 50, "a snapshot");
    const first = feed.copy.seq;
    await until(() => feed.copy.seq > first, "an update");
    assert.equal(feed.state, "live");
    assert.equal(feed.copy.quotes.get("BTC/USDT")?.symbol, "BTC");
  });

test("the client adds and drops symbols on the open connection", async (context) => {
  const line = new Line();
  context.after(() => line.close());
  const feed = openFeed(context, { feed: "market" }, await line.open());
  feed.follow(["AAPL"]);
  await until(() => feed.copy.quotes.has("AAPL"), "AAPL");
  feed.follow(["MSFT", "sector:Energy"]);
  await until(() => feed.copy.quotes.size > 5, "MSFT and a sector");
  assert.ok(!feed.copy.quotes.has("AAPL"));
  feed.follow(["MSFT"]);
  await until(() => feed.copy.quotes.size === 1, "the sector leaves with its group");
  assert.deepEqual([...feed.copy.quotes.keys()], ["MSFT"]);
  assert.equal(line.connections, 1);
});

test("the client follows the stock ALL alone", async (context) => {
  const feed = openFeed(context, { feed: "market" });
  feed.follow(["ALL"]);
  await until(() => feed.copy.quotes.has("ALL"), "ALL");
  assert.deepEqual([...feed.copy.quotes.keys()], ["ALL"]);
});

test("a feed resumes with its cursor after its connection breaks", async (context) => {
  const line = new Line();
  context.after(() => line.close());
  const feed = openFeed(context, { feed: "doviz" }, await line.open());
  feed.follow("all");
  await until(() => feed.copy.quotes.size > 0 && feed.state === "live", "a snapshot");
  const held = feed.copy.quotes;
  const seq = feed.copy.seq;
  line.cut();
  await until(() => feed.state === "connecting", "the loss is noticed");
  assert.ok(held.size > 0, "what is known stays while the line is down");
  await until(() => feed.state === "live" && feed.copy.seq > seq, "it is back");
  assert.equal(line.connections, 2);
});

test("a connection that is silent for two heartbeats counts as lost", async (context) => {
  const line = new Line();
  context.after(() => line.close());
  const feed = openFeed(context, { feed: "market" }, await line.open());
  feed.follow(["AAPL"]);
  await until(() => feed.state === "live", "a first connection");
  line.mute = true;
  await until(() => feed.state === "connecting", "the watchdog barks");
  line.mute = false;
  await until(() => feed.state === "live", "it is back");
});

test("the copy equals the routes' answer at the same cursor", async (context) => {
  const feed = openFeed(context, { feed: "market" });
  feed.follow(["AAPL", "MSFT", "NVDA"]);
  const rest = new Rest({ address: ADDRESS });
  // A route may answer between two frames: repeat until both have the same cursor.
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const response = await fetch(`${ADDRESS}/api/market/quotes?symbols=AAPL,MSFT,NVDA`);
    const [tag, quotes] = [response.headers.get("ETag"), await response.json()];
    const tagOfCopy = () => `W/"${feed.copy.since}"`;
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (tag === tagOfCopy()) {
      assert.deepEqual(Object.fromEntries([...feed.copy.quotes].sort()), quotes);
      return;
    }
  }
  assert.fail(`never at the same point as ${await rest.call("GET /api/health")}`);
});
