import assert from "node:assert/strict";
import { test } from "node:test";

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
