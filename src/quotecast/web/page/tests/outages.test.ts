import assert from "node:assert/strict";
import { test } from "node:test";

import { trades } from "../market-hours.ts";
import { type FeedView, outageOf } from "../outages.ts";

const feed = (name: FeedView["name"], state: FeedView["state"], lastFrameAt = 2000, lastQuotesAt = 1000): FeedView => ({
  name,
  state,
  lastFrameAt,
  lastQuotesAt,
});

test("there is no outage while all feeds are live, or before their first quotes", () => {
  assert.equal(outageOf([feed("market", "live"), feed("crypto", "connecting", 0, 0)]), null);
});

test("a lost connection counts from its last frame, and goes before a feed that is stale", () => {
  const found = outageOf([
    feed("market", "connecting", 3000),
    feed("crypto", "connecting", 2500),
    feed("doviz", "stale"),
  ]);
  assert.deepEqual(found, { word: "lostSince", feeds: ["market", "crypto"], since: 2500 });
});

test("a stale feed counts from its last quotes", () => {
  assert.deepEqual(outageOf([feed("market", "live"), feed("doviz", "stale")]), {
    word: "staleSince",
    feeds: ["doviz"],
    since: 1000,
  });
});

const at = Date.parse;
const [open, close] = ["2026-11-23T14:30:00.000Z", "2026-11-23T21:00:00.000Z"];
const nextDay = "2026-11-24T14:30:00.000Z";

test("stocks trade from the opening to before the close, and always where the market never closes", () => {
  const closed = { nextOpen: open, nextClose: close };
  const running = { nextOpen: nextDay, nextClose: close };
  assert.deepEqual([trades(closed, at(open) - 1), trades(closed, at(open))], [false, true]);
  assert.deepEqual(
    [trades(running, at(close) - 1), trades(running, at(close)), trades(running, at(nextDay))],
    [true, false, true],
  );
  assert.equal(trades({ nextOpen: null, nextClose: null }, 0), true);
  assert.equal(trades(null, at(open)), false);
});
