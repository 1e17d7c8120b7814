import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { decode } from "@msgpack/msgpack";

import {
  Connection,
  type ConnectionOptions,
  type Copy,
  type Feed,
  type FeedName,
  JSON_TEXT,
  messagePack,
  ROWS,
  rowsInMessagePack,
} from "../src/index.ts";
import { ADDRESS, Line, until } from "./service.ts";

const NAMES = ["market", "crypto", "doviz"] as const;
const ENCODINGS = [ROWS, JSON_TEXT, rowsInMessagePack(decode), messagePack(decode)];

function connect(context: TestContext, options: Partial<ConnectionOptions> = {}): Connection {
  const connection = new Connection({ address: ADDRESS, ...options });
  context.after(() => connection.close());
  return connection;
}

async function throughLine(context: TestContext): Promise<{ line: Line; connection: Connection }> {
  const line = new Line();
  context.after(() => line.close());
  return { line, connection: connect(context, { address: await line.open() }) };
}

/** Follows all of every feed. */
const followAll = (connection: Connection): Feed<FeedName>[] =>
  NAMES.map((name) => {
    const feed = connection.feed<FeedName>(name, { interval: 100 });
    feed.follow("all");
    return feed;
  });

const quotesOf = ({ quotes }: Copy<FeedName>): object => Object.fromEntries([...quotes].sort());

for (const encoding of ENCODINGS)
  test(`${encoding.subprotocol} brings a snapshot of each feed, then what moves`, async (context) => {
    const feeds = followAll(connect(context, { encoding }));
    await until(() => feeds.every((feed) => feed.copy.quotes.size > 20), "snapshots");
    const first = feeds.map((feed) => feed.copy.seq);
    await until(() => feeds.every((feed, index) => feed.copy.seq > (first[index] ?? 0)), "updates");
    assert.deepEqual(
      feeds.map((feed) => feed.state),
      ["live", "live", "live"],
    );
    const [, crypto] = feeds;
    assert.equal((crypto as Feed<"crypto">).copy.quotes.get("BTC/USDT")?.symbol, "BTC");
  });

for (const encoding of ENCODINGS)
  test(`${encoding.subprotocol} brings bars beside quotes`, async (context) => {
    const feed = connect(context, { encoding }).feed("crypto", { interval: 100, bars: "1m" });
    feed.follow("all");
    await until(() => feed.bars.newest.size > 5, "bars in progress");
    const bar = feed.bars.newest.get("BTC/USDT") ?? [...feed.bars.newest.values()][0];
    assert.ok(bar && bar.low <= bar.close && bar.close <= bar.high && (bar.updates ?? 0) > 0);
    feed.selectBars("D");
    await until(() => feed.bars.newest.size > 5, "bars of days");
    assert.match([...feed.bars.newest.values()][0]?.time ?? "", /T00:00:00Z$/);
  });

test("every encoding gives the same copy", async (context) => {
  const connections = ENCODINGS.map((encoding) => followAll(connect(context, { encoding })));
  for (const index of NAMES.keys()) {
    const [first, ...others] = connections.map((feeds) => (feeds[index] as Feed<FeedName>).copy);
    assert.ok(first);
    await until(() => first.epoch !== "" && others.every(({ since }) => since === first.since), "one cursor");
    for (const copy of others) assert.deepEqual(quotesOf(copy), quotesOf(first));
  }
});

for (const encoding of [ROWS, JSON_TEXT])
  test(`${encoding.subprotocol}: selected fields come alone, beside those that do not move`, async (context) => {
    const feed = connect(context, { encoding }).feed("market", { interval: 100, fields: ["price"] });
    feed.follow("all");
    const quote = () => feed.copy.quotes.get("AAPL");
    await until(() => quote() !== undefined, "a snapshot");
    const fixed = ["type", "ticker", "name", "previousClose", "sector", "industry"];
    assert.deepEqual(Object.keys(quote() ?? {}).sort(), [...fixed, "price"].sort());
    const first = feed.copy.seq;
    await until(() => feed.copy.seq > first, "an update");
    for (const each of feed.copy.quotes.values()) assert.ok(!("volume" in each));
    feed.select("all");
    await until(() => typeof quote()?.volume === "string", "the other fields");
    feed.select(["change", "volume"]);
    await until(() => quote()?.price === undefined, "two fields");
    assert.deepEqual(Object.keys(quote() ?? {}).sort(), [...fixed, "change", "volume"].sort());
  });

test("the client adds and drops symbols on the open connection", async (context) => {
  const { line, connection } = await throughLine(context);
  const feed = connection.feed("market", { interval: 100 });
  feed.follow(["AAPL"]);
  await until(() => feed.copy.quotes.has("AAPL"), "AAPL");
  feed.follow(["MSFT", "sector:Energy"]);
  await until(() => feed.copy.quotes.size > 5 && !feed.copy.quotes.has("AAPL"), "MSFT and a sector");
  feed.follow(["MSFT"]);
  await until(() => feed.copy.quotes.size === 1, "the sector leaves with its group");
  assert.deepEqual([...feed.copy.quotes.keys()], ["MSFT"]);
  assert.equal(line.connections, 1);
});

test("the client follows the stock ALL alone", async (context) => {
  const feed = connect(context).feed("market");
  feed.follow(["ALL"]);
  await until(() => feed.copy.quotes.size > 0, "ALL");
  assert.deepEqual([...feed.copy.quotes.keys()], ["ALL"]);
});

test("a list that is too long is reported, and the other feeds go on", async (context) => {
  const reasons: string[] = [];
  const connection = connect(context);
  const market = connection.feed("market", { onError: (detail) => reasons.push(detail) });
  market.follow(Array.from({ length: 3000 }, (_, index) => `X${index}`));
  const crypto = connection.feed("crypto");
  crypto.follow("all");
  await until(() => reasons.length > 0 && crypto.state === "live", "an error");
});

test("feeds resume with their cursors after the connection breaks", async (context) => {
  const { line, connection } = await throughLine(context);
  const feeds = followAll(connection);
  const live = () => feeds.every((feed) => feed.copy.quotes.size > 0 && feed.state === "live");
  await until(live, "snapshots");
  const seqs = feeds.map((feed) => feed.copy.seq);
  line.cut();
  await until(() => feeds.every((feed) => feed.state === "connecting"), "the loss is noticed");
  assert.ok(
    feeds.every((feed) => feed.copy.quotes.size > 0),
    "what is known stays while the line is down",
  );
  await until(() => live() && feeds.every((feed, index) => feed.copy.seq > (seqs[index] ?? 0)), "they are back");
  assert.equal(line.connections, 2);
});

test("a connection that is silent for two heartbeats counts as lost", async (context) => {
  const { line, connection } = await throughLine(context);
  const feed = connection.feed("market");
  feed.follow(["AAPL"]);
  await until(() => feed.state === "live", "a first connection");
  line.mute = true;
  await until(() => feed.state === "connecting", "the watchdog barks");
  line.mute = false;
  await until(() => feed.state === "live", "it is back");
});

test("the copy equals the routes' answer at the same cursor", async (context) => {
  const copies = new Map<string, string>();
  const feed = connect(context).feed("market", {
    interval: 100,
    onChange: (_, copy) => copies.set(`W/"${copy.since}"`, JSON.stringify(quotesOf(copy))),
  });
  feed.follow(["AAPL", "MSFT", "NVDA"]);
  const answers = new Map<string, object>();
  const asking = setInterval(async () => {
    const response = await fetch(`${ADDRESS}/api/market/quotes?symbols=AAPL,MSFT,NVDA`);
    answers.set(response.headers.get("ETag") ?? "", (await response.json()) as object);
  }, 20);
  context.after(() => clearInterval(asking));
  // A route may answer between two frames.
  const shared = () => [...answers.keys()].find((tag) => copies.has(tag));
  await until(() => shared() !== undefined, "a cursor of both");
  const tag = shared() ?? "";
  assert.deepEqual(JSON.parse(copies.get(tag) ?? "{}"), answers.get(tag));
});
