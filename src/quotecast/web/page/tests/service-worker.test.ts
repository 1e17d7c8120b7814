import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake-service.ts";

import { feedStates } from "../service.ts";
import { registerWorker } from "../service-worker.ts";
import { pass } from "./fake-service.ts";

test("a service that comes back is asked for a newer page, also while its data is stale", async () => {
  let looks = 0;
  const registration = { update: async () => (looks += 1) };
  const container = { addEventListener: () => {}, register: async () => registration };
  Object.defineProperty(navigator, "serviceWorker", { configurable: true, value: container });
  registerWorker();
  for (const state of ["connecting", "stale", "live"] as const) feedStates.value = { market: state };
  await pass(60_000);
  assert.equal(looks, 3);
});
