import assert from "node:assert/strict";
import { test } from "node:test";

import { isUsable, newKeyOf, statesOf } from "../api-keys/state.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z");
const [BEFORE, LATER] = ["2026-11-23T11:00:00.000Z", "2026-11-23T13:00:00.000Z"];
const NONE = { revoked_at: null, expires_at: null, previous_until: null };
const words = (times: object) => statesOf({ ...NONE, ...times }, NOW).map(([word]) => word);

test("a key is active, expired or revoked; a revoked one shows nothing else", () => {
  assert.deepEqual(words({}), ["keyActive"]);
  assert.deepEqual(words({ expires_at: LATER }), ["keyActive", "keyExpiresAt"]);
  assert.deepEqual(words({ expires_at: BEFORE, previous_until: LATER }), ["keyExpired"]);
  assert.deepEqual(words({ revoked_at: BEFORE, expires_at: BEFORE }), ["keyRevoked"]);
  assert.deepEqual(words({ previous_until: LATER }), ["keyActive", "keyOldUntil"]);
  assert.deepEqual(words({ previous_until: BEFORE }), ["keyActive"]);
  assert.deepEqual(
    [isUsable({ ...NONE, expires_at: LATER }, NOW), isUsable({ ...NONE, expires_at: BEFORE }, NOW)],
    [true, false],
  );
});

test("empty fields of the form leave the scope open and the key without an end", () => {
  const fields = new FormData();
  fields.set("name", " Ticker ");
  fields.set("expires", "");
  fields.set("symbols", " , ");
  assert.deepEqual(newKeyOf(fields), { name: "Ticker", scope: { feeds: [], symbols: [] }, expires_at: null });
});

test("a key works to the end of its last day, where the user is", () => {
  const fields = new FormData();
  fields.set("name", "Ticker");
  fields.set("expires", "2026-12-31");
  fields.set("symbols", "AAPL, sector:Energy");
  for (const feed of ["market", "crypto"]) fields.append("feeds", feed);
  const { scope, expires_at } = newKeyOf(fields);
  assert.deepEqual(scope, { feeds: ["market", "crypto"], symbols: ["AAPL", "sector:Energy"] });
  assert.equal(new Date(expires_at ?? "").getDate(), 31);
  assert.equal(new Date(expires_at ?? "").getHours(), 23);
});
