import { computed, signal } from "@preact/signals";
import { announcement, focusOn, maximised, moving, nameOf, titleOf, undoOffer } from "./frame-state.ts";
import { closeTab, detachTab, neighbourIn, showTab, tabsOf } from "./groups.ts";
import { changeShown, DEFAULT, frontOf, inOrder, isShown, type Kind, newPane, type Place } from "./layout.ts";
import { layout, loadLayout, merge, putLayout } from "./layout-store.ts";
import { popOut } from "./pop-out.ts";
import { isRecord, isText, sharedSignal } from "./stored.ts";
import { insertPlace } from "./tiling.ts";
import { type Changes, mapChanges, NO_CHANGES, noteChange, stepBack, stepForward } from "./undo.ts";
import { say, type Word } from "./words.ts";
import {
  activeOf,
  addMemory,
  insertWorkspace,
  keepMemories,
  type Layout,
  MOST_WORKSPACES,
  moveWorkspace,
  removeWorkspace,
  renameWorkspace,
  replacePanes,
} from "./workspaces.ts";

const changes = signal<Changes<Layout>>(NO_CHANGES);
// Undo reverts the changes of this window, and not those that came from another one.
merge.subscribe((take) => {
  if (take) changes.value = mapChanges(changes.value, take);
});
export const workspaces = computed(() => layout.value.workspaces);
export const activeWorkspace = computed(() => activeOf(layout.value));
/** Places of the panes on the grid, also of one that is on its way. */
export const places = computed(() => moving.value?.now ?? activeWorkspace.value.panes);

/** Loads the layout of the account or of this browser. */
export async function loadArrangement(): Promise<void> {
  await loadLayout();
  changes.value = NO_CHANGES;
  undoOffer.value = null;
  leave();
}

/** Ends a move and restores a maximised pane: another layout comes. */
function leave(): void {
  moving.value = null;
  maximised.value = null;
}

function commit(next: Layout, offer: typeof undoOffer.value = null): void {
  if (next === layout.value) return;
  changes.value = noteChange(changes.value, layout.value);
  undoOffer.value = offer;
  moving.value = null;
  putLayout(next);
}

/** Arranges the panes of the active workspace and saves the layout; their choices stay. */
export function arrange(next: readonly Place[]): void {
  commit(keepMemories(replacePanes(layout.value, next), layout.value));
}

/** Changes the choices of a pane in a workspace, by default in the active one; undo leaves them as they are. */
export function remember(id: string, memory: Record<string, string>, workspace = activeWorkspace.value.id): void {
  putLayout(addMemory(layout.value, workspace, id, memory));
  if (popOut) poppedMemory.value = { id, memory, workspace, at: Date.now() };
}

interface PoppedMemory {
  readonly id: string;
  readonly memory: Record<string, string>;
  readonly workspace: string;
  /** Time of the change, which tells it from the same one before (Unix milliseconds). */
  readonly at: number;
}
const isPopped = (value: unknown): value is PoppedMemory | null =>
  value === null ||
  (isRecord(value) &&
    isText(value.id) &&
    isText(value.workspace) &&
    isRecord(value.memory) &&
    Object.values(value.memory).every((each) => typeof each === "string"));

/** The last choice of a pane in a pop-out: the windows of the whole page keep it, for a pop-out stores no layout. */
const poppedMemory = sharedSignal<PoppedMemory | null>("poppedMemory", null, isPopped);
const earlier = poppedMemory.value;
poppedMemory.subscribe((next) => {
  if (next && next !== earlier && !popOut) remember(next.id, next.memory, next.workspace);
});

function travel(step: typeof stepBack, word: Word): void {
  const found = step(changes.value, layout.value);
  if (!found) return;
  const before = new Set(activeWorkspace.value.panes.map((each) => each.id));
  const focused = document.activeElement?.closest<HTMLElement>(".pane")?.dataset.pane;
  const [rest, present] = found;
  changes.value = rest;
  undoOffer.value = null;
  leave();
  putLayout(keepMemories(present, layout.value));
  announcement.value = say(word);
  const back = activeWorkspace.value.panes.filter((each) => !before.has(each.id));
  const now = activeWorkspace.value.panes.find((each) => each.id === focused);
  if (back.length === 1) focusOn({ pane: back[0]?.id ?? null, part: "pane" });
  else if (focused && !(now && isShown(now))) focusOn({ pane: now ? frontOf(now) : null, part: "pane" });
}

/** Reverts the last change of panes or workspaces. */
export const undo = (): void => travel(stepBack, "undone");

/** Repeats the change that was undone last. */
export const redo = (): void => travel(stepForward, "redone");

/** Adds a pane to the active workspace, brings it into view and focuses it; returns its id. */
export function addPane(kind: Kind, memory?: Record<string, string>): string {
  const before = activeWorkspace.value.panes;
  const pane = newPane(before, kind, memory);
  maximised.value = null;
  arrange(changeShown(before, (shown) => insertPlace(shown, pane)));
  focusOn({ pane: pane.id, part: "pane" });
  return pane.id;
}

/** Focuses the first pane of a kind, which comes before its tabs, or adds one; returns its id. */
export function showPane(kind: Kind): string {
  const found = inOrder(activeWorkspace.value.panes).find((each) => each.kind === kind);
  if (!found) return addPane(kind);
  if (maximised.value !== frontOf(found)) maximised.value = null;
  openTab(found.id, "pane");
  return found.id;
}

/** Shows a pane before the others in its place, and focuses it or its tab. */
export function openTab(id: string, part: "pane" | "tab"): void {
  const { panes } = activeWorkspace.value;
  if (maximised.value !== null) maximised.value = id;
  if (panes.some((each) => each.id === id && !isShown(each))) putLayout(replacePanes(layout.value, showTab(panes, id)));
  focusOn({ pane: id, part });
}

/** Makes a tab a pane of its own. */
export function detachPane(id: string): void {
  maximised.value = null;
  arrange(detachTab(activeWorkspace.value.panes, id));
  focusOn({ pane: id, part: "grip" });
}

/** Closes a pane; the focus goes to the tab beside it, to the next pane, or to the tab of the workspace. */
export function closePane(id: string): void {
  const { panes } = activeWorkspace.value;
  const closed = panes.find((each) => each.id === id);
  if (!closed) return;
  const tabs = tabsOf(panes, id);
  const next = neighbourIn(tabs.length > 1 ? tabs : inOrder(panes.filter(isShown)), id)?.id ?? null;
  if (maximised.value === id) maximised.value = tabs.length > 1 ? next : null;
  commit(replacePanes(layout.value, closeTab(panes, id)), { word: "paneClosed", name: titleOf(closed) });
  focusOn({ pane: next, part: "grip" });
}

/** Arranges the active workspace as in a new browser. */
export function resetLayout(): void {
  maximised.value = null;
  commit(replacePanes(layout.value, DEFAULT), { word: "layoutReset", name: nameOf(activeWorkspace.value) });
}

/** Shows a workspace. */
export function openWorkspace(id: string): void {
  if (id === activeWorkspace.value.id || !workspaces.value.some((each) => each.id === id)) return;
  leave();
  putLayout({ ...layout.value, active: id });
}

/** Opens a new workspace; returns its id. */
export function addWorkspace(panes: readonly Place[] = DEFAULT, given?: string): string {
  if (!canAddWorkspace()) return activeWorkspace.value.id;
  const id = Math.random().toString(36).slice(2, 10);
  const name = given ?? say("workspaceNumber", { number: workspaces.value.length + 1 });
  leave();
  commit(insertWorkspace(layout.value, { id, name, panes }));
  focusOn({ pane: null, part: "pane" });
  return id;
}

export const canAddWorkspace = (): boolean => workspaces.value.length < MOST_WORKSPACES;

/** Deletes a workspace, except for the last one. */
export function deleteWorkspace(id: string): void {
  const deleted = workspaces.value.find((each) => each.id === id);
  if (!deleted) return;
  leave();
  commit(removeWorkspace(layout.value, id), { word: "workspaceDeleted", name: nameOf(deleted) });
  focusOn({ pane: null, part: "pane" });
}

export function nameWorkspace(id: string, name: string): void {
  const named = workspaces.value.find((each) => each.id === id);
  if (named && nameOf(named) !== name.trim()) commit(renameWorkspace(layout.value, id, name));
}

/** Moves the tab of a workspace. */
export function shiftWorkspace(id: string, step: number): void {
  commit(moveWorkspace(layout.value, id, step));
}
