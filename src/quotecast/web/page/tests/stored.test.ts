import assert from "node:assert/strict";
import { test } from "node:test";
import { isInstrument } from "../instruments.ts";
import { areLists } from "../lists.ts";
import { isOneOf, isRecord, isText, sharedSignal, storedSignal } from "../stored.ts";
import { parseLayout } from "../workspaces.ts";
import { changeElsewhere, storage } from "./fake-browser.ts";

/** Values of another version of the page, or of anyone. */
const BAD: readonly unknown[] = [5, "x", [null], {}, { feed: "x", key: 5, token: 1, user: null }, true, null];

test("a value that is not valid counts as none", () => {
  for (const [place, bad] of BAD.entries()) {
    storage.values.set(`quotecast.bad${place}`, JSON.stringify(bad));
    assert.equal(storedSignal(`bad${place}`, "auto", isOneOf(["auto", "dark"])).value, "auto");
  }
  storage.values.set("quotecast.broken", "{");
  assert.equal(storedSignal("broken", "auto", isText).value, "auto");
});

test("no guard of the page accepts a value of another kind", () => {
  for (const bad of BAD) {
    assert.equal(isInstrument(bad), false, JSON.stringify(bad));
    assert.equal(areLists(bad), false, JSON.stringify(bad));
    assert.equal(parseLayout(bad), null, JSON.stringify(bad));
  }
  assert.equal(isRecord([]), false);
  assert.equal(isText(""), false);
});

test("a value is stored from its first change on, and null removes it", () => {
  const value = storedSignal<string | null>("kept", "first", (each): each is string | null => isText(each));
  assert.equal(storage.values.has("quotecast.kept"), false);
  value.value = "second";
  assert.equal(storage.values.get("quotecast.kept"), '"second"');
  assert.equal(storedSignal("kept", "first", isText).value, "second");
  value.value = null;
  assert.equal(storage.values.has("quotecast.kept"), false);
});

test("a shared value follows the other windows, and ignores what is not valid", () => {
  const value = sharedSignal("shared", "mine", isText);
  changeElsewhere("quotecast.shared", '"theirs"');
  assert.equal(value.value, "theirs");
  changeElsewhere("quotecast.other", '"nothing"');
  assert.equal(value.value, "theirs");
  changeElsewhere("quotecast.shared", "5");
  assert.equal(value.value, "mine");
});

test("a browser that stores nothing keeps values while the page is open", () => {
  storage.refuses = true;
  try {
    const value = storedSignal("refused", "auto", isText);
    value.value = "dark";
    assert.equal(value.value, "dark");
  } finally {
    storage.refuses = false;
  }
});
