import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import "./fake-service.ts";

import type { AlertShown } from "quotecast-client";
import { alerts, deleteAlert, loadAlerts, setActive } from "../alerts/store.ts";
import { instrumentOf } from "../instruments.ts";
import { session } from "../session.ts";
import {
  chooseList,
  deleted,
  deleteList,
  lists,
  loadWatched,
  moveWatched,
  openAccount,
  renameList,
  toggleWatched,
  undoDelete,
  watched,
} from "../watchlists.ts";
import { changeElsewhere } from "./fake-browser.ts";
import { answer, call, calls, pass, settle } from "./fake-service.ts";

const PATH = "/api/watchlist";
const SYMBOLS = `GET ${PATH}`;
const LISTS = "GET /api/watchlists";
/** Longer than the first waits of a retry. */
const LATER = 2000;
const FIRST = { id: "default", name: "Watchlist" };
const keys = (symbols = watched.value) => symbols.map((each) => each.key).join(" ");
const entries = (...tickers: string[]) => tickers.map((ticker) => ({ ticker, type: "stock" }));
const logIn = (token = "t") => {
  session.value = { token, user: { id: "u", name: "N", email: "e" } } as never;
};

beforeEach(() => {
  calls.length = 0;
  session.value = null;
  openAccount("u", false);
  logIn();
});

test("an answer counts after the same user has logged in again", async () => {
  const loaded = loadWatched();
  const shown = loadAlerts();
  const [first, second] = [await call("GET /api/alerts"), await call(SYMBOLS)];
  logIn("another");
  await first.answer(200, []);
  await second.answer(200, entries("A"));
  await answer(LISTS, [FIRST, { id: "1", name: "One" }]);
  await Promise.all([loaded, shown]);
  assert.equal(keys(), "A");
  assert.equal(lists.value.length, 2);
  assert.deepEqual(alerts.value, []);
});

test("an answer to another user does not count", async () => {
  const loaded = loadWatched();
  const first = await call(SYMBOLS);
  session.value = { token: "x", user: { id: "other", name: "N", email: "e" } } as never;
  await first.answer(200, entries("A"));
  await answer(LISTS, [FIRST]);
  await loaded;
  assert.equal(keys(), "");
});

test("lists load once the service answers, however often it fails", async () => {
  const loaded = loadWatched();
  await answer(SYMBOLS, { detail: "away" }, 503);
  await pass(LATER);
  await (await call(SYMBOLS)).fail();
  await pass(LATER);
  await answer(SYMBOLS, { detail: "busy" }, 429, { "Retry-After": "20" });
  await pass(LATER);
  assert.deepEqual(calls, []);
  await pass(30_000);
  await answer(SYMBOLS, entries("A"));
  await answer(LISTS, [FIRST]);
  await loaded;
  assert.equal(keys(), "A");
});

test("no request is repeated that the service refuses, or after the user has left", async () => {
  const refused = assert.rejects(loadWatched());
  await answer(SYMBOLS, { detail: "no" }, 403);
  await refused;
  const left = assert.rejects(loadWatched());
  await answer(SYMBOLS, { detail: "away" }, 503);
  session.value = null;
  await pass(LATER);
  await left;
  assert.deepEqual(calls, []);
});

test("a new account gets every symbol of this browser, though the service takes only some a minute", async () => {
  const symbols = ["A", "gone", "B", "C"].map((key) => instrumentOf("stock", key));
  const own = [
    { ...FIRST, symbols },
    { id: "local", name: "One", symbols },
  ];
  changeElsewhere("quotecast.watchlists", JSON.stringify(own));
  session.value = null;
  openAccount("u", true);
  logIn();
  const loaded = loadWatched();
  await answer("POST /api/watchlists", { id: "1" }, 201);
  await answer(`POST ${PATH}`, {}, 201);
  await answer(`POST ${PATH}`, { detail: "unknown" }, 404);
  await answer(`POST ${PATH}`, { detail: "busy" }, 429, { "Retry-After": "20" });
  const removed = toggleWatched(instrumentOf("stock", "C"));
  await answer(`DELETE ${PATH}/C?type=stock`, { detail: "not yet" }, 404);
  await removed;
  // What the service has so far is not what the reader sees, in this window or in another one.
  const chosen = chooseList("default");
  changeElsewhere("quotecast.watchlistsOfAccount", JSON.stringify([{ ...FIRST, symbols: [] }]));
  await settle();
  assert.deepEqual(calls, []);
  await pass(30_000);
  const late = await call(`POST ${PATH}`);
  assert.deepEqual(late.body, { ticker: "B", type: "stock" });
  await late.answer(201, {});
  await answer(SYMBOLS, entries("A", "B"));
  await answer(SYMBOLS, entries("A", "B"));
  await answer(LISTS, [FIRST, { id: "1", name: "One" }]);
  await Promise.all([loaded, chosen]);
  assert.equal(keys(), "A B");
  assert.deepEqual(
    lists.value.map((each) => each.id),
    ["default", "1"],
  );
});

test("no request of a new account goes to the user after it", async () => {
  changeElsewhere("quotecast.watchlists", JSON.stringify([{ ...FIRST, symbols: [instrumentOf("stock", "A")] }]));
  session.value = null;
  openAccount("u", true);
  logIn();
  const loaded = loadWatched();
  await (await call(`POST ${PATH}`)).fail();
  session.value = { token: "x", user: { id: "other", name: "N", email: "e" } } as never;
  // The next user's lists do not wait until the requests of this one end.
  await showFirst("B");
  await pass(LATER);
  await loaded;
  assert.deepEqual(calls, []);
});

async function showFirst(...tickers: string[]): Promise<void> {
  const loaded = loadWatched();
  await answer(SYMBOLS, entries(...tickers));
  await answer(LISTS, [FIRST]);
  await loaded;
}

test("a symbol that goes while the list loads stays away", async () => {
  await showFirst("A", "B");
  const loaded = chooseList("default");
  const early = await call(SYMBOLS);
  const removed = toggleWatched(instrumentOf("stock", "A"));
  await answer(`DELETE ${PATH}/A?type=stock`, null, 204);
  await removed;
  await early.answer(200, entries("A", "B"));
  assert.equal(keys(), "B");
  await answer(SYMBOLS, entries("B"));
  await loaded;
  assert.equal(keys(), "B");
});

test("an order that the service has not stored yet outlives an answer of before", async () => {
  await showFirst("A", "B");
  const loaded = chooseList("default");
  const early = await call(SYMBOLS);
  moveWatched(instrumentOf("stock", "A"), 1, true);
  await pass(LATER);
  await early.answer(200, entries("A", "B"));
  assert.equal(keys(), "B A");
  await answer(`PUT ${PATH}/order`, []);
  await answer(SYMBOLS, entries("B", "A"));
  await loaded;
  assert.equal(keys(), "B A");
});

test("an order that the service refuses goes", async () => {
  await showFirst("A", "B");
  moveWatched(instrumentOf("stock", "A"), 1, true);
  await pass(LATER);
  await answer(`PUT ${PATH}/order`, { detail: "no" }, 500);
  await answer(SYMBOLS, entries("A", "B"));
  assert.equal(keys(), "A B");
});

test("a failed change reverts itself, and not another one", async () => {
  await showFirst("A", "B", "C");
  const [failing, done] = [instrumentOf("stock", "A"), instrumentOf("stock", "B")].map(toggleWatched);
  const first = await call(`DELETE ${PATH}/A?type=stock`);
  await answer(`DELETE ${PATH}/B?type=stock`, null, 204);
  await done;
  await first.answer(500, { detail: "no" });
  await failing;
  assert.equal(keys(), "A C");
});

test("a list whose deletion fails is back, and its undo is no longer offered", async () => {
  const loaded = loadWatched();
  await answer(SYMBOLS, []);
  await answer(LISTS, [FIRST, { id: "1", name: "One" }, { id: "2", name: "Two" }]);
  await loaded;
  const names = () => lists.value.map((each) => each.name).join(" ");
  const deletion = deleteList("1");
  await answer(`${SYMBOLS}?list=1`, entries("A"));
  const request = await call("DELETE /api/watchlists/1");
  assert.equal(deleted.value?.list.name, "One");
  const renamed = renameList("2", "Second");
  await answer("PATCH /api/watchlists/2", {});
  await renamed;
  await request.answer(500, { detail: "no" });
  await deletion;
  assert.equal(names(), "Watchlist One Second");
  assert.equal(deleted.value, null);
  // The reader may ask for it back before the service has refused.
  const again = deleteList("1");
  const undone = undoDelete();
  await answer("DELETE /api/watchlists/1", { detail: "no" }, 500);
  await Promise.all([again, undone]);
  assert.equal(names(), "Watchlist One Second");
  assert.equal(deleted.value, null);
  assert.deepEqual(calls, []);
});

test("a failed change of an alert reverts itself, and not another one", async () => {
  const [one, two] = ["1", "2"].map((id) => ({ id, active: true })) as [AlertShown, AlertShown];
  const shown = loadAlerts();
  await answer("GET /api/alerts", [one, two]);
  await shown;
  const paused = setActive(one, false);
  const gone = deleteAlert(two);
  const request = await call("PATCH /api/alerts/1");
  await answer("DELETE /api/alerts/2", null, 204);
  await gone;
  await request.answer(500, { detail: "no" });
  await paused;
  assert.deepEqual(alerts.value, [one]);
  const kept = deleteAlert(one);
  await answer("DELETE /api/alerts/1", { detail: "no" }, 500);
  await kept;
  assert.deepEqual(alerts.value, [one]);
});
