import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";

import { ApiError, Client, type ClientOptions, type Feed, StreamRefused } from "../src/index.ts";
import { type Answers, FakeRoutes } from "./fake-routes.ts";
import { FakeSocket, newest, openFake, welcome } from "./fake-socket.ts";

const KEY = "qc_live_0123456789abcdef01234567_CANARY-secret-of-43-characters-0123456789abc";
const TICKET = "/api/keys/ticket";
/** Longer than the first wait before a reconnection. */
const RETRY_MS = 1000;
const FULL = { type: "error", code: 403, detail: 'Plan "free" has at most 2 sockets' };

/** Returns a source of tickets, which fails in turn with each of the failures. */
function countTickets(...failures: Error[]) {
  const given: string[] = [];
  const ticket = async () => {
    const failure = failures.shift();
    if (failure) throw failure;
    given.push(`qc_ticket_${given.length + 1}`);
    return given.at(-1) as string;
  };
  return { given, ticket };
}

/** Lets promises settle; a fake clock does not hold this one. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

async function pass(context: TestContext, milliseconds: number): Promise<void> {
  context.mock.timers.tick(milliseconds);
  await settle();
}

const urls = () => FakeSocket.made.map(({ url }) => url);
const stateOf = ({ state, refusal, refusalDetail }: Feed<"market">) => [state, refusal, refusalDetail];

/** Opens a client over fake routes and fake sockets. */
function openClient(context: TestContext, answers: Answers, options: ClientOptions = {}) {
  FakeSocket.made = [];
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const routes = new FakeRoutes(answers);
  const client = new Client("https://quotes.example.com", { fetch: routes.fetch, WebSocket: FakeSocket, ...options });
  return { client, routes };
}

test("each request carries the key in a header, and follows no redirect", async () => {
  const given: RequestInit[] = [];
  const answer: typeof fetch = async (_, init) => {
    given.push(init ?? {});
    return Response.json({});
  };
  await new Client("http://localhost", { fetch: answer, apiKey: KEY, token: "t" }).call("GET /api/market/movers");
  await new Client("http://localhost", { fetch: answer }).call("GET /api/market/movers");
  assert.deepEqual(
    given.map(({ headers, redirect }) => [{ ...(headers as object) }, redirect]),
    [
      [{ Authorization: "Bearer t", "X-API-Key": KEY }, "error"],
      [{}, undefined],
    ],
  );
});

test("a client with a key takes a ticket for each connection, and the address has no key", async (context) => {
  const answers = { [TICKET]: ["a", "b/c"].map((ticket) => ({ body: { ticket, expires_in: 30 } })) };
  const { client, routes } = openClient(context, answers, { apiKey: KEY });
  const connection = client.connect();
  context.after(() => connection.close());
  await settle();
  newest().receive(FULL);
  newest().break(4453);
  await pass(context, RETRY_MS);
  assert.deepEqual(urls(), [
    "wss://quotes.example.com/api/ws?ticket=a",
    "wss://quotes.example.com/api/ws?ticket=b%2Fc",
  ]);
  assert.deepEqual(
    routes.requests.map(({ method, path, headers }) => [method, path, headers.get("X-API-Key")]),
    [
      ["POST", TICKET, KEY],
      ["POST", TICKET, KEY],
    ],
  );
});

test("each reconnection has a new ticket", async (context) => {
  const { given, ticket } = countTickets();
  openFake(context, { ticket });
  await settle();
  for (const code of [1006, 4452, 4453]) {
    newest().receive(welcome("market"));
    newest().break(code);
    await pass(context, RETRY_MS);
  }
  assert.deepEqual(given, ["qc_ticket_1", "qc_ticket_2", "qc_ticket_3", "qc_ticket_4"]);
  assert.deepEqual(
    urls(),
    given.map((each) => `ws://localhost/api/ws?ticket=${each}`),
  );
});

test("a source of tickets that fails is asked again after growing waits", async (context) => {
  const { ticket } = countTickets(new TypeError("fetch failed"), new ApiError(503, { detail: "no tickets now" }));
  const feed = openFake(context, { ticket }).feed("market");
  await settle();
  assert.equal(feed.state, "connecting");
  await pass(context, 400);
  assert.deepEqual(urls(), []);
  await pass(context, 799);
  assert.deepEqual(urls(), []);
  await pass(context, 1);
  assert.deepEqual(urls(), ["ws://localhost/api/ws?ticket=qc_ticket_1"]);
});

test("a source of tickets that never answers is asked again", async (context) => {
  let asked = 0;
  openFake(context, {
    ticket: () => {
      asked += 1;
      return new Promise(() => {});
    },
  });
  await pass(context, 30_000);
  await pass(context, RETRY_MS);
  assert.equal(asked, 2);
});

test("a ticket that comes after the end opens nothing", async (context) => {
  const { given, ticket } = countTickets();
  const connection = openFake(context, { ticket });
  connection.close();
  await settle();
  assert.deepEqual([given.length, urls()], [1, []]);
});

test("a check asks for another ticket and ignores the first", async (context) => {
  const { ticket } = countTickets();
  const connection = openFake(context, { ticket });
  connection.check();
  await pass(context, 0);
  assert.deepEqual(urls(), ["ws://localhost/api/ws?ticket=qc_ticket_2"]);
});

for (const [name, refusal, expected] of [
  [
    "a key that the service refuses",
    new ApiError(401, { detail: "The API key has expired", code: "invalid_key" as never }),
    ["refused", 401, "The API key has expired"],
  ],
  [
    "a plan without sockets",
    new ApiError(403, { detail: 'Plan "free" has no sockets' }),
    ["refused", 403, 'Plan "free" has no sockets'],
  ],
  ["a page that gives up", new StreamRefused("Log in again", 1), ["refused", 1, "Log in again"]],
] as const)
  test(`${name} gets no further question for a ticket`, async (context) => {
    const { ticket, given } = countTickets(refusal);
    const feed = openFake(context, { ticket }).feed("market");
    await settle();
    await pass(context, 60_000);
    assert.deepEqual(stateOf(feed), expected);
    assert.deepEqual(given, []);
  });

for (const [code, closeCode, detail] of [
  [401, 4401, "The API key has expired"],
  [403, 4403, 'Plan "free" includes doviz only'],
] as const)
  test(`a socket refused with ${closeCode} ends the stream with the reason`, async (context) => {
    const { client } = openClient(context, {}, countTickets());
    const stream = client.stream(["market:AAPL"]);
    const first = stream.next();
    const outcome = first.catch((error: unknown) => error);
    await settle();
    newest().receive({ type: "error", code, detail });
    newest().break(closeCode);
    const error = await outcome;
    assert.ok(error instanceof StreamRefused);
    assert.deepEqual([error.code, error.message], [closeCode, detail]);
    await pass(context, 60_000);
    assert.equal(FakeSocket.made.length, 1);
  });

test("the reason of one connection does not stay for the next", async (context) => {
  const feed = openFake(context, countTickets()).feed("market");
  await settle();
  newest().receive(FULL);
  newest().break(4453);
  await pass(context, RETRY_MS);
  newest().break(4401);
  assert.deepEqual(stateOf(feed), ["refused", 4401, ""]);
});

test("a plan with a least interval gets that one, also after a change of the list", (context) => {
  const feed = openFake(context).feed("market", { interval: 100 });
  feed.follow(["AAPL"]);
  newest().receive({ ...welcome("market"), limits: { symbols: 2, interval: 600 } });
  feed.select(["price"]);
  const asked = newest()
    .commands()
    .filter(({ action }) => action === "subscribe");
  assert.deepEqual(
    asked.map(({ interval }) => interval),
    [1000, 1000],
  );
});

test("no object and no error shows the key", async (context) => {
  const { client } = openClient(context, { [TICKET]: [new TypeError("fetch failed")] }, { apiKey: KEY });
  const connection = client.connect();
  context.after(() => connection.close());
  const error = await client.newTicket().catch((cause: unknown) => cause);
  const shown = [client, client.rest, connection, error].map((each) => inspect(each, { depth: 9, showHidden: true }));
  assert.ok(!`${shown} ${JSON.stringify([client, connection])}`.includes("CANARY"));
});

test("a key that no header can carry is an error that does not show it", () => {
  for (const apiKey of [`${KEY}\n`, ` ${KEY}`, `${KEY}é`, ""])
    assert.throws(
      () => new Client("http://localhost", { apiKey }),
      (error) => error instanceof TypeError && !inspect(error).includes("CANARY"),
    );
});

test("a client has a key or tickets", () => {
  assert.throws(() => new Client("http://localhost", { apiKey: KEY, ticket: async () => "t" }), /not both/);
});
