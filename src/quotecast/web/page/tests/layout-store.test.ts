import assert from "node:assert/strict";
import { test } from "node:test";

import "./fake-service.ts";

import { nameWorkspace, redo, undo } from "../arrangement.ts";
import { layout, loadLayout, putLayout } from "../layout-store.ts";
import { session } from "../session.ts";
import { FIRST_LAYOUT, insertWorkspace, type Layout, renameWorkspace } from "../workspaces.ts";
import { changeElsewhere } from "./fake-browser.ts";
import { answer, call, calls, pass, settle } from "./fake-service.ts";

const [GET, PUT] = ["GET /api/terminal/layout", "PUT /api/terminal/layout"] as const;
const LATER = 1000;
const names = ({ workspaces }: Layout) => workspaces.map((each) => each.name);
const stored: Layout = insertWorkspace(renameWorkspace(FIRST_LAYOUT, "first", "A"), { id: "b", name: "B", panes: [] });

async function logIn(): Promise<void> {
  session.value = { token: "t", user: { id: "u", name: "N", email: "e" } } as never;
  const loaded = loadLayout();
  await answer(GET, { layout: stored, version: 1 });
  await loaded;
}

test("a refused save takes over what another window changed, and keeps this window's change when it fails", async () => {
  await logIn();
  putLayout(renameWorkspace(layout.value, "b", "mine"));
  await pass(LATER);
  await answer(PUT, { detail: "stale" }, 409);
  await answer(GET, { layout: renameWorkspace(stored, "first", "theirs"), version: 2 });
  assert.deepEqual(names(layout.value), ["theirs", "mine"]);
  await (await call(PUT)).fail();
  await pass(LATER);
  await answer(PUT, { detail: "stale" }, 409);
  await answer(GET, { layout: renameWorkspace(stored, "first", "again"), version: 3 });
  const put = await call(PUT);
  assert.deepEqual(names((put.body as { layout: Layout }).layout), ["again", "mine"]);
  await put.answer(200, { layout: null, version: 4 });
  await settle();
  assert.deepEqual(calls, []);
});

test("a layout that a save has loaded is not replaced by a later or slower answer", async () => {
  session.value = null;
  await loadLayout();
  session.value = { token: "t", user: { id: "u", name: "N", email: "e" } } as never;
  const loaded = loadLayout();
  const slow = await call(GET);
  putLayout(renameWorkspace(layout.value, "first", "early"));
  await pass(LATER);
  await answer(GET, { layout: stored, version: 7 });
  await answer(PUT, { layout: null, version: 8 });
  const shown = layout.value;
  putLayout(renameWorkspace(shown, "b", "newer"));
  await slow.answer(200, { layout: stored, version: 7 });
  await loaded;
  await loadLayout();
  assert.deepEqual(names(layout.value), ["A", "newer"]);
  await pass(LATER);
  const put = await call(PUT);
  assert.equal((put.body as { version: number }).version, 8);
  await put.answer(200, { layout: null, version: 9 });
});

test("another user's layout is not shown", async () => {
  session.value = null;
  await loadLayout();
  session.value = { token: "t", user: { id: "u", name: "N", email: "e" } } as never;
  const loaded = loadLayout();
  session.value = null;
  await loadLayout();
  await answer(GET, { layout: stored, version: 1 });
  await loaded;
  assert.notDeepEqual(names(layout.value), ["A", "B"]);
});

test("undo reverts the last change of this window, and not what another one changed or added", async () => {
  session.value = null;
  await loadLayout();
  await logIn();
  nameWorkspace("b", "mine");
  await pass(LATER);
  await answer(PUT, { detail: "stale" }, 409);
  const theirs = insertWorkspace(renameWorkspace(stored, "first", "theirs"), { id: "c", name: "C", panes: [] });
  await answer(GET, { layout: theirs, version: 2 });
  await answer(PUT, { layout: null, version: 3 });
  assert.deepEqual(names(layout.value), ["theirs", "mine", "C"]);
  undo();
  assert.deepEqual(names(layout.value), ["theirs", "B", "C"]);
  redo();
  assert.deepEqual(names(layout.value), ["theirs", "mine", "C"]);
});

test("two windows of a guest keep each other's workspaces", async () => {
  session.value = null;
  const store = (elsewhere: Layout) => changeElsewhere("quotecast.layout", JSON.stringify(elsewhere));
  store(stored);
  await loadLayout();
  for (const name of ["theirs", "again"]) {
    store(renameWorkspace(layout.value, "first", name));
    putLayout(renameWorkspace(layout.value, "b", `mine ${name}`));
    assert.deepEqual(names(layout.value), [name, `mine ${name}`]);
  }
});
