import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { ApiError, Client, type ClientOptions, ConnectionFailed, RateLimited } from "../src/index.ts";
import { type Answers, FakeRoutes } from "./fake-routes.ts";

const STATUS = "/api/market/status";
const REFUSAL = { status: 429, body: { detail: "Too Many Requests", code: "too_many_requests", request_id: "r1" } };

function open(context: TestContext, answers: Answers, options: ClientOptions = {}) {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const routes = new FakeRoutes(answers);
  return { routes, client: new Client("http://localhost/", { fetch: routes.fetch, ...options }) };
}

/** Lets requests and answers pass. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

async function pass(context: TestContext, milliseconds: number): Promise<void> {
  await settle();
  context.mock.timers.tick(milliseconds);
  await settle();
}

test("a refused request is repeated when the service allows, and not before", async (context) => {
  const { routes, client } = open(context, {
    [STATUS]: [{ ...REFUSAL, headers: { "Retry-After": "7" } }, { body: { status: "running" } }],
  });
  const answer = client.call("GET /api/market/status");
  await pass(context, 6999);
  assert.equal(routes.requests.length, 1);
  await pass(context, 1);
  assert.equal((await answer).status, "running");
  assert.equal(routes.requests.length, 2);
});

test("Retry-After may be a date", async (context) => {
  const at = new Date(5000).toUTCString();
  const { routes, client } = open(context, { [STATUS]: [{ ...REFUSAL, headers: { "Retry-After": at } }, {}] });
  const answer = client.call("GET /api/market/status");
  await pass(context, 4999);
  assert.equal(routes.requests.length, 1);
  await pass(context, 1);
  await answer;
});

test("a wait that is too long is an error at once, with code and request id", async (context) => {
  const { routes, client } = open(context, { [STATUS]: [{ ...REFUSAL, headers: { "Retry-After": "61" } }] });
  await assert.rejects(client.call("GET /api/market/status"), (error) => {
    assert.ok(error instanceof RateLimited && error instanceof ApiError);
    assert.deepEqual(
      [error.status, error.code, error.requestId, error.retryAfter, error.message],
      [429, "too_many_requests", "r1", 61, "Too Many Requests"],
    );
    return true;
  });
  assert.equal(routes.requests.length, 1);
});

test("a service without a provider is not asked again", async (context) => {
  const body = { detail: "No provider", code: "no_provider" };
  const { routes, client } = open(context, { [STATUS]: [{ status: 503, body, headers: { "X-Request-ID": "r1" } }] });
  await assert.rejects(client.call("GET /api/market/status"), { code: "no_provider" });
  assert.equal(routes.requests.length, 1);
});

test("requests without an answer are repeated after growing waits, and then fail", async (context) => {
  const { routes, client } = open(context, { [STATUS]: [new TypeError("fetch failed")] });
  const outcome = client.call("GET /api/market/status").catch((error: unknown) => error);
  for (const count of [2, 3, 4]) {
    await pass(context, 5000);
    assert.equal(routes.requests.length, count);
  }
  const error = await outcome;
  assert.ok(error instanceof ConnectionFailed && error.cause instanceof TypeError);
});

test("a request that adds something is repeated only with a key", async (context) => {
  const path = "/api/portfolio/holdings";
  const { routes, client } = open(context, { [path]: [{ status: 503, body: { detail: "later" } }, { body: {} }] });
  const body = { ticker: "AAPL", shares: 1, avg_cost: 1 };
  await assert.rejects(client.call("POST /api/portfolio/holdings", { body }), { status: 503 });
  context.mock.timers.reset();
  const second = open(context, { [path]: [{ status: 503 }, { body: {} }] });
  const answer = second.client.call("POST /api/portfolio/holdings", { body, key: "k" });
  await pass(context, 2000);
  await answer;
  assert.deepEqual([routes.requests.length, second.routes.requests.length], [1, 2]);
});

test("a request ends when its signal says so, also while it waits", async (context) => {
  const { routes, client } = open(context, { [STATUS]: [{ ...REFUSAL, headers: { "Retry-After": "7" } }] });
  const given = new AbortController();
  const answer = client.call("GET /api/market/status", { signal: given.signal }).catch((error: unknown) => error);
  await settle();
  given.abort();
  assert.equal(((await answer) as Error).name, "AbortError");
  assert.equal(routes.requests.length, 1);
});

test("an answer that is no JSON has its status, and the request id of its header", async (context) => {
  const { client } = open(
    context,
    {},
    { retries: 0, fetch: async () => new Response("<html>", { status: 502, headers: { "X-Request-ID": "r2" } }) },
  );
  await assert.rejects(client.call("GET /api/market/status"), { status: 502, requestId: "r2", code: undefined });
});

test("a login's token goes with later requests, and a logout makes it void", async (context) => {
  const user = { id: "1", name: "A", email: "a@example.com" };
  const { routes, client } = open(context, {
    "/api/auth/login": [{ body: { token: "t", user } }],
    "/api/auth/sessions/current": [{ body: null }],
  });
  await client.login("a@example.com", "secret");
  assert.equal(client.token, "t");
  await client.logout();
  assert.equal(client.token, null);
  assert.deepEqual(
    routes.requests.map(({ method, path, headers }) => [method, path, headers.get("Authorization")]),
    [
      ["POST", "/api/auth/login", null],
      ["DELETE", "/api/auth/sessions/current", "Bearer t"],
    ],
  );
});
