import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { ApiError, Client, type ClientOptions } from "../src/index.ts";
import { type FakeAnswer, FakeRoutes } from "./fake-routes.ts";
import { FakeSocket, newest, openFake, welcome } from "./fake-socket.ts";

const TICKET = "/api/auth/ticket";

/** Lets promises settle; a fake clock does not hold this one. */
const settle = () => new Promise((resolve) => setImmediate(resolve));
const urls = () => FakeSocket.made.map(({ url }) => url);

async function pass(context: TestContext, milliseconds: number): Promise<void> {
  context.mock.timers.tick(milliseconds);
  await settle();
}

/** Opens a socket of a client over fake routes; returns the requests that came. */
async function connectWith(context: TestContext, answer: FakeAnswer, options: ClientOptions) {
  FakeSocket.made = [];
  const routes = new FakeRoutes({ [TICKET]: [answer] });
  const client = new Client("https://quotes.example.com", { fetch: routes.fetch, WebSocket: FakeSocket, ...options });
  const connection = client.connect();
  context.after(() => connection.close());
  await settle();
  return routes.requests.map(({ method, path, headers }) => [method, path, headers.get("Authorization")]);
}

/** Opens a connection of a page whose user may come and go: the source gives a ticket while there is one. */
async function openPage(context: TestContext, user: string | null) {
  const page = { user, failure: null as Error | null };
  const ticket = async () => {
    if (page.failure) throw page.failure;
    return page.user && `qc_ticket_of_${page.user}`;
  };
  const connection = openFake(context, { ticket });
  await settle();
  newest().receive(welcome("market"));
  return { page, connection };
}

test("a client with a user's token takes a ticket for its socket", async (context) => {
  const made = { body: { ticket: "qc_ticket_a", expires_in: 30 } };
  assert.deepEqual(await connectWith(context, made, { token: "t" }), [["POST", TICKET, "Bearer t"]]);
  assert.deepEqual(urls(), ["wss://quotes.example.com/api/ws?ticket=qc_ticket_a"]);
});

for (const [why, answer] of [
  ["feeds show users no more than everybody", { body: { ticket: null, expires_in: 30 } }],
  ["the session has ended", { status: 401, body: { detail: "Invalid or expired token" } }],
  ["an edge has no users", { status: 404, body: { detail: "Not found" } }],
] as const)
  test(`a client opens its socket without a ticket where ${why}`, async (context) => {
    await connectWith(context, answer, { token: "t" });
    assert.deepEqual(urls(), ["wss://quotes.example.com/api/ws"]);
  });

test("a client without a user asks for no ticket", async (context) => {
  assert.deepEqual(await connectWith(context, {}, {}), []);
  assert.deepEqual(urls(), ["wss://quotes.example.com/api/ws"]);
});

test("a login and a logout open the socket anew", async (context) => {
  const { page, connection } = await openPage(context, null);
  for (const user of ["ayşe", "bo", null]) {
    page.user = user;
    await connection.renew();
    await pass(context, 0);
    newest().receive(welcome("market"));
  }
  assert.deepEqual(urls(), [
    "ws://localhost/api/ws",
    "ws://localhost/api/ws?ticket=qc_ticket_of_ay%C5%9Fe",
    "ws://localhost/api/ws?ticket=qc_ticket_of_bo",
    "ws://localhost/api/ws",
  ]);
});

test("feeds send nothing until the new socket is open", async (context) => {
  const { page, connection } = await openPage(context, null);
  const feed = connection.feed("market");
  page.user = "bo";
  await connection.renew();
  await pass(context, 0);
  feed.follow(["AAPL"]);
  assert.deepEqual([feed.state, newest().sent], ["connecting", []]);
  newest().receive(welcome("market"));
  assert.deepEqual(
    newest()
      .commands()
      .map(({ symbols }) => symbols),
    [["AAPL"]],
  );
});

test("a login that changes no rights leaves the socket open", async (context) => {
  const { connection } = await openPage(context, null);
  await connection.renew();
  await pass(context, 0);
  assert.equal(urls().length, 1);
});

test("a login opens feeds that were refused before", async (context) => {
  const { page, connection } = await openPage(context, null);
  newest().receive({ type: "error", code: 403, detail: 'Plan "anonymous" includes no feeds' });
  newest().break(4403);
  page.user = "bo";
  await connection.renew();
  await pass(context, 0);
  assert.equal(newest().url, "ws://localhost/api/ws?ticket=qc_ticket_of_bo");
});

test("a ticket that fails leaves the socket open, and is asked for again while the connection is", async (context) => {
  const { page, connection } = await openPage(context, null);
  page.failure = new ApiError(503, { detail: "Tickets are not available now" });
  const renewed = connection.renew();
  await pass(context, 0);
  assert.equal(urls().length, 1);
  page.failure = null;
  page.user = "bo";
  await pass(context, 5000);
  await pass(context, 0);
  assert.equal(await renewed, true);
  assert.equal(newest().url, "ws://localhost/api/ws?ticket=qc_ticket_of_bo");
  connection.close();
  assert.equal(await connection.renew(), false);
  await pass(context, 0);
  assert.equal(urls().length, 2);
});
