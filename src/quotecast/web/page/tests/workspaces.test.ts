import assert from "node:assert/strict";
import { test } from "node:test";

import { addPlace, DEFAULT, newPane } from "../layout.ts";
import { closePlace } from "../tiling.ts";
import { NO_CHANGES, noteChange, stepBack, stepForward } from "../undo.ts";
import {
  activeOf,
  addMemory,
  FIRST_LAYOUT,
  insertWorkspace,
  keepMemories,
  knownOf,
  type Layout,
  MOST_WORKSPACES,
  mergeLayouts,
  moveWorkspace,
  parseLayout,
  removeWorkspace,
  renameWorkspace,
  replacePanes,
} from "../workspaces.ts";

const ids = (layout: Layout) => layout.workspaces.map((each) => each.id);
const withThree = ["b", "c"].reduce(
  (layout, id) => insertWorkspace(layout, { id, name: id, panes: DEFAULT }),
  FIRST_LAYOUT,
);

test("a layout without workspaces becomes the first workspace", () => {
  const parsed = parseLayout({ panes: [DEFAULT[0]] });
  assert.deepEqual(parsed, { workspaces: [{ id: "first", name: "", panes: [DEFAULT[0]] }], active: "first" });
});

test("parseLayout returns null for anything else, and leaves invalid workspaces out", () => {
  for (const nothing of [null, undefined, 3, [], {}, { panes: 3 }, { workspaces: [] }, { workspaces: [{ id: 1 }] }])
    assert.equal(parseLayout(nothing), null);
  const good = { id: "a", name: "A", panes: [] };
  const parsed = parseLayout({ workspaces: [null, good, { ...good, name: "again" }, { id: "b" }], active: "gone" });
  assert.deepEqual(parsed, { workspaces: [good], active: "a" });
  const many = Array.from({ length: 50 }, (_, index) => ({ ...good, id: String(index) }));
  assert.equal(parseLayout({ workspaces: many, active: "0" })?.workspaces.length, MOST_WORKSPACES);
});

test("a stored layout is read as it was written", () => {
  assert.deepEqual(parseLayout(JSON.parse(JSON.stringify(withThree))), withThree);
});

test("a new workspace opens beside the active one; its neighbour opens when it goes", () => {
  assert.deepEqual(ids(withThree), ["first", "b", "c"]);
  assert.equal(activeOf(withThree).id, "c");
  const without = removeWorkspace(withThree, "c");
  assert.deepEqual([ids(without), without.active], [["first", "b"], "b"]);
  assert.equal(removeWorkspace(withThree, "b").active, "c");
  assert.equal(removeWorkspace(FIRST_LAYOUT, "first"), FIRST_LAYOUT);
});

test("workspaces change their order and names, within bounds", () => {
  assert.deepEqual(ids(moveWorkspace(withThree, "c", -2)), ["c", "first", "b"]);
  assert.equal(moveWorkspace(withThree, "c", 1), withThree);
  assert.equal(renameWorkspace(withThree, "b", `  ${"x".repeat(90)}`).workspaces[1]?.name, "x".repeat(40));
});

test("undo goes back change by change, redo forward, and a new change forgets the undone ones", () => {
  let changes = noteChange(noteChange<number>(NO_CHANGES, 1), 2);
  const back = stepBack(changes, 3);
  assert.ok(back);
  assert.equal(back[1], 2);
  assert.equal(stepBack(back[0], back[1])?.[1], 1);
  assert.deepEqual(stepForward(...back), [changes, 3]);
  changes = noteChange(back[0], 2);
  assert.equal(stepForward(changes, 4), null);
  assert.equal(stepBack(NO_CHANGES, 1), null);
  const long = Array.from({ length: 99 }).reduce<typeof changes>((all, _, index) => noteChange(all, index), changes);
  assert.equal(long.past.length, 50);
});

test("undoing a closed pane brings it back with its choices, and reverts no choice of another", () => {
  const chosen = DEFAULT.map((each) => ({ ...each, memory: { range: "1D" } }));
  const before = replacePanes(FIRST_LAYOUT, chosen);
  const closed = replacePanes(before, closePlace(chosen, "news"));
  const changed = replacePanes(
    closed,
    activeOf(closed).panes.map((each) => ({ ...each, memory: { range: "5Y" } })),
  );
  const memories = Object.fromEntries(
    activeOf(keepMemories(before, changed)).panes.map((e) => [e.id, e.memory?.range]),
  );
  assert.equal(memories.news, "1D");
  assert.equal(memories.chart, "5Y");
});

test("a choice of a pane goes to its own workspace, also after another is open", () => {
  const changed = addMemory(withThree, "b", "chart", { range: "5Y" });
  const memories = changed.workspaces.map((each) => each.panes.find(({ id }) => id === "chart")?.memory?.range);
  assert.deepEqual(memories, [undefined, "5Y", undefined]);
  assert.equal(changed.active, "c");
  assert.equal(addMemory(withThree, "gone", "chart", { range: "5Y" }), withThree);
});

test("of two windows the newer wins, and no workspace that only the other has is lost", () => {
  const known = knownOf(withThree);
  const mine = replacePanes(removeWorkspace(withThree, "b"), addPlace(DEFAULT, newPane(DEFAULT, "chart")));
  const theirs = insertWorkspace(withThree, { id: "d", name: "theirs", panes: [] });
  const merged = mergeLayouts(mine, theirs, known);
  assert.deepEqual(ids(merged), ["first", "c", "d"]);
  assert.equal(activeOf(merged), activeOf(mine));
  assert.equal(mergeLayouts(mine, withThree, known), mine);
});

const arranged = (layout: Layout, id: string) => replacePanes(layout, addPlace(DEFAULT, newPane(DEFAULT, "chart")), id);
const workspaceOf = (layout: Layout, id: string) => layout.workspaces.find((each) => each.id === id);

test("a workspace that only the other window changed is taken from there", () => {
  const known = knownOf(withThree);
  const mine = arranged(withThree, "c");
  const theirs = renameWorkspace(arranged(arranged(withThree, "b"), "c"), "c", "theirs");
  const merged = mergeLayouts(mine, theirs, known);
  assert.equal(workspaceOf(merged, "b"), workspaceOf(theirs, "b"));
  assert.equal(workspaceOf(merged, "c"), workspaceOf(mine, "c"));
  assert.equal(workspaceOf(merged, "first"), workspaceOf(mine, "first"));
  assert.equal(merged.active, mine.active);
});

test("a workspace that the other window deleted goes, unless this window changed or shows it", () => {
  const known = knownOf(withThree);
  const theirs = removeWorkspace(removeWorkspace(withThree, "b"), "c");
  assert.deepEqual(ids(mergeLayouts(withThree, theirs, known)), ["first", "c"]);
  assert.deepEqual(ids(mergeLayouts(arranged(withThree, "b"), theirs, known)), ["first", "b", "c"]);
});

test("the order of the other window holds unless this window has changed it", () => {
  const known = knownOf(withThree);
  const theirs = moveWorkspace(withThree, "c", -2);
  const mine = insertWorkspace({ ...withThree, active: "first" }, { id: "d", name: "mine", panes: [] });
  assert.deepEqual(ids(mergeLayouts(mine, theirs, known)), ["c", "d", "first", "b"]);
  assert.deepEqual(ids(mergeLayouts(moveWorkspace(mine, "b", -2), theirs, known)), ["b", "first", "d", "c"]);
});
