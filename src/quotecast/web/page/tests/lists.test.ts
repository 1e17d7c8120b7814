import assert from "node:assert/strict";
import { test } from "node:test";

import { chosenColumns } from "../chosen-columns.ts";
import type { Column } from "../columns.ts";
import { type Instrument, instrumentOf } from "../instruments.ts";
import {
  areLists,
  findList,
  isFree,
  joinLists,
  moveSymbol,
  putBack,
  removeList,
  restoreList,
  type WatchList,
} from "../lists.ts";
import { moveIndex, nearest, stretches } from "../row-moves.ts";
import { nextSorting, sortingOf, sortingText } from "../sorting.ts";

const stocks = (...keys: string[]): Instrument[] => keys.map((key) => instrumentOf("stock", key));
const list = (id: string, name: string, ...keys: string[]): WatchList => ({ id, name, symbols: stocks(...keys) });
const keys = (symbols: readonly Instrument[]) => symbols.map((each) => each.key).join("");

test("a moved symbol takes its place, and none is lost", () => {
  const symbols = stocks("A", "B", "C", "D");
  const [a, , , d] = symbols as [Instrument, Instrument, Instrument, Instrument];
  assert.equal(keys(moveSymbol(symbols, a, 2)), "BCAD");
  assert.equal(keys(moveSymbol(symbols, d, 0)), "DABC");
  assert.equal(keys(moveSymbol(symbols, a, 99)), "BCDA");
  assert.equal(keys(moveSymbol(symbols, d, -5)), "DABC");
  assert.equal(keys(moveSymbol(symbols, instrumentOf("crypto", "A"), 2)), "ABCD");
});

test("a deleted list comes back in its place; the first list stays", () => {
  const lists = [list("default", "First"), list("1", "One", "A"), list("2", "Two")];
  assert.deepEqual(removeList(lists, "default"), lists);
  const rest = removeList(lists, "1");
  assert.deepEqual(
    rest.map((each) => each.id),
    ["default", "2"],
  );
  assert.deepEqual(restoreList(rest, lists[1] as WatchList, 1), lists);
  assert.equal(findList(rest, "1").id, "default");
});

test("removed items come back where they were, whichever comes first", () => {
  const all = stocks("A", "B", "C", "D");
  const [a, b, , d] = all as [Instrument, Instrument, Instrument, Instrument];
  const isSame = (one: Instrument, other: Instrument) => one.key === other.key;
  const rest = stocks("C");
  assert.equal(keys(putBack(putBack(rest, a, all, isSame), b, stocks("B", "C", "D"), isSame)), "ABC");
  assert.equal(keys(putBack(putBack(rest, b, stocks("B", "C"), isSame), a, all, isSame)), "ABC");
  assert.equal(keys(putBack(rest, d, all, isSame)), "CD");
  assert.equal(putBack(all, b, all, isSame), all);
});

test("a name is free unless another list has it in any case", () => {
  const lists = [list("default", "First"), list("1", "One")];
  assert.equal(isFree(lists, " one "), false);
  assert.equal(isFree(lists, "ONE", "1"), true);
  assert.equal(isFree(lists, "Two"), true);
});

test("the service's lists get the symbols that the page knows", () => {
  const known = [list("default", "Old", "A"), list("gone", "Gone", "B")];
  const joined = joinLists(
    [
      { id: "default", name: "New" },
      { id: "2", name: "Two" },
    ],
    known,
  );
  assert.deepEqual(joined, [
    { id: "default", name: "New", symbols: stocks("A") },
    { id: "2", name: "Two", symbols: null },
  ]);
});

test("stored lists are valid if the first one is the default list", () => {
  assert.equal(areLists([list("default", "First", "A"), { id: "1", name: "One", symbols: null }]), true);
  for (const bad of [5, [], [list("1", "One")], [{ id: "default", name: "x", symbols: [5] }], [null]])
    assert.equal(areLists(bad), false);
});

test("keys move within the rows", () => {
  const moves = ["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"].map((key) => moveIndex(key, 5, 10, 4));
  assert.deepEqual(moves, [6, 4, 9, 1, 0, 9]);
  assert.equal(moveIndex("ArrowUp", 0, 10, 4), 0);
  assert.equal(moveIndex("ArrowDown", 9, 10, 4), 9);
  assert.equal(moveIndex("Enter", 5, 10, 4), null);
  assert.equal(moveIndex("Home", 0, 0, 4), null);
});

test("rows in view and the active row have the height of all rows", () => {
  const drawn = (from: number, to: number, extra: number) =>
    stretches(100, from, to, extra).map(({ index, height }) => (height ? `${index}+${height}` : `${index}`));
  assert.deepEqual(drawn(50, 52, 50), ["0+50", "50", "51", "52+48"]);
  assert.deepEqual(drawn(50, 52, 5), ["0+5", "5", "6+44", "50", "51", "52+48"]);
  assert.deepEqual(drawn(0, 2, 99), ["0", "1", "2+97", "99"]);
  assert.deepEqual(drawn(0, 0, -1), ["0+100"]);
  assert.deepEqual(stretches(0, 0, 0, 0), []);
});

test("an arrow key moves to the nearest tile in its direction", () => {
  const tile = (left: number, top: number, width = 10, height = 10) => ({ left, top, width, height });
  const tiles = [tile(0, 0), tile(10, 0), tile(0, 10), tile(10, 10), tile(20, 0, 10, 20)];
  const from = tiles[0] as ReturnType<typeof tile>;
  assert.equal(nearest("ArrowRight", from, tiles), 1);
  assert.equal(nearest("ArrowDown", from, tiles), 2);
  assert.equal(nearest("ArrowLeft", from, tiles), null);
  assert.equal(nearest("Enter", from, tiles), null);
  assert.equal(nearest("ArrowLeft", tiles[4] as typeof from, tiles), 1);
});

const column = (title: Column["title"], more: Partial<Column> = {}): Column => ({
  title,
  text: () => "",
  value: () => 1,
  ...more,
});

test("a heading sorts in its usual direction, then in the other one, then not", () => {
  const columns = [column("symbol"), column("last"), column("dayLine", { value: undefined as never })];
  const [symbol, last] = columns as [Column, Column];
  const clicks = (each: Column, isFirst: boolean) => {
    const one = nextSorting(null, each, isFirst);
    const two = nextSorting(one, each, isFirst);
    return [one, two, nextSorting(two, each, isFirst)].map(sortingText);
  };
  assert.deepEqual(clicks(last, false), ["-last", "last", ""]);
  assert.deepEqual(clicks(symbol, true), ["symbol", "-symbol", ""]);
  assert.deepEqual(sortingOf("-last", columns), { title: "last", descending: true });
  for (const text of [undefined, "", "-", "volume", "dayLine"]) assert.equal(sortingOf(text, columns), null);
});

test("chosen columns are in the table's order and stay in a narrow table", () => {
  const all = [column("symbol"), column("last"), column("bid", { rank: 4 }), column("ask", { rank: 4 })];
  const usual = all.slice(0, 2);
  const titles = (text?: string) => chosenColumns(all, usual, text).map((each) => `${each.title}${each.rank ?? ""}`);
  assert.deepEqual(titles("ask,last,nonsense"), ["symbol", "last0", "ask0"]);
  for (const text of [undefined, "", "nonsense"]) assert.deepEqual(titles(text), ["symbol", "last"]);
});
