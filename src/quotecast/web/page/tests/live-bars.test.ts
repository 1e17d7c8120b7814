import assert from "node:assert/strict";
import { test } from "node:test";

import { skips } from "../live-bars.ts";

test("closings that follow each other skip nothing; those that are further apart do", () => {
  assert.equal(skips(null, "2026-11-20T15:01:00Z", "1m"), false);
  assert.equal(skips("2026-11-20T15:01:00Z", null, "1m"), false);
  assert.equal(skips("2026-11-20T15:01:00Z", "2026-11-20T15:02:00Z", "1m"), false);
  assert.equal(skips("2026-11-20T15:01:00Z", "2026-11-20T15:03:00Z", "1m"), true);
  assert.equal(skips("2026-11-20T05:00:00Z", "2026-11-23T05:00:00Z", "D"), false);
});
