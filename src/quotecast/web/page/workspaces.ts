import { DEFAULT, type Place, parsePlaces } from "./layout.ts";
import { isRecord } from "./stored.ts";

export const MOST_WORKSPACES = 20;
export const LONGEST_NAME = 40;
/** Id of the first workspace, and of a layout that was stored before there were several. */
const FIRST = "first";

/** A named arrangement of panes; the page names one without a name. */
export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly panes: readonly Place[];
}

/** A stored layout: the workspaces in the order of their tabs, and the id of the shown one. */
export interface Layout {
  readonly workspaces: readonly Workspace[];
  readonly active: string;
}

export const FIRST_LAYOUT: Layout = { workspaces: [{ id: FIRST, name: "", panes: DEFAULT }], active: FIRST };

/** Returns the workspace on the screen. */
export const activeOf = ({ workspaces, active }: Layout): Workspace =>
  workspaces.find((each) => each.id === active) ?? (workspaces[0] as Workspace);

/** Returns the valid workspaces of a stored layout, also of one without workspaces; null for anything else. */
export function parseLayout(stored: unknown): Layout | null {
  if (!isRecord(stored)) return null;
  if (!Array.isArray(stored.workspaces)) {
    const panes = parsePlaces(stored.panes);
    return panes && { workspaces: [{ id: FIRST, name: "", panes }], active: FIRST };
  }
  const found = stored.workspaces.map(parseWorkspace).filter((each) => each !== null);
  const workspaces = found.filter((each, index) => found.findIndex(({ id }) => id === each.id) === index);
  if (!workspaces.length) return null;
  const active = workspaces.some((each) => each.id === stored.active) ? String(stored.active) : workspaces[0]?.id;
  return { workspaces: workspaces.slice(0, MOST_WORKSPACES), active: active as string };
}

function parseWorkspace(value: unknown): Workspace | null {
  if (!isRecord(value) || typeof value.id !== "string" || typeof value.name !== "string") return null;
  const panes = parsePlaces(value.panes);
  return panes && { id: value.id, name: value.name.slice(0, LONGEST_NAME), panes };
}

const changeOne = (layout: Layout, id: string, change: Partial<Workspace>): Layout => ({
  ...layout,
  workspaces: layout.workspaces.map((each) => (each.id === id ? { ...each, ...change } : each)),
});

/** Returns the layout with other panes in a workspace, by default in the active one. */
export const replacePanes = (layout: Layout, panes: readonly Place[], id = activeOf(layout).id): Layout =>
  changeOne(layout, id, { panes });

/** Returns the layout with more choices of one pane; a pane that is gone has none. */
export function addMemory(layout: Layout, workspace: string, pane: string, memory: Place["memory"]): Layout {
  const found = layout.workspaces.find((each) => each.id === workspace);
  if (!found) return layout;
  const add = (each: Place) => (each.id === pane ? { ...each, memory: { ...each.memory, ...memory } } : each);
  return replacePanes(layout, found.panes.map(add), workspace);
}

export const renameWorkspace = (layout: Layout, id: string, name: string): Layout =>
  changeOne(layout, id, { name: name.trim().slice(0, LONGEST_NAME) });

/** Returns the layout with a new workspace after the active one, which becomes active. */
export function insertWorkspace(layout: Layout, added: Workspace): Layout {
  const at = layout.workspaces.findIndex((each) => each.id === activeOf(layout).id) + 1;
  return { workspaces: layout.workspaces.toSpliced(at, 0, added), active: added.id };
}

/** Returns the layout without a workspace, the last of which stays; a neighbour of an active one becomes active. */
export function removeWorkspace(layout: Layout, id: string): Layout {
  const at = layout.workspaces.findIndex((each) => each.id === id);
  if (at < 0 || layout.workspaces.length === 1) return layout;
  const workspaces = layout.workspaces.toSpliced(at, 1);
  const neighbour = workspaces[Math.min(at, workspaces.length - 1)] as Workspace;
  return { workspaces, active: layout.active === id ? neighbour.id : layout.active };
}

/** Returns the layout with a workspace moved by a number of tabs. */
export function moveWorkspace(layout: Layout, id: string, step: number): Layout {
  const from = layout.workspaces.findIndex((each) => each.id === id);
  const to = from + step;
  if (from < 0 || to < 0 || to >= layout.workspaces.length) return layout;
  const moved = layout.workspaces[from] as Workspace;
  return { ...layout, workspaces: layout.workspaces.toSpliced(from, 1).toSpliced(to, 0, moved) };
}

/** The text of each workspace by its id, in their order: it tells whether one has changed since. */
export type Known = ReadonlyMap<string, string>;

export const knownOf = (layout: Layout | null): Known =>
  new Map(layout?.workspaces.map((each) => [each.id, JSON.stringify(each)]));

/**
 * Returns this window's layout with what another window has changed meanwhile; of one that both changed, this window's.
 *
 * `known` is of the last common layout: a workspace in it that one of the windows lacks was deleted there. The workspace
 * on this screen stays.
 */
export function mergeLayouts(mine: Layout, theirs: Layout, known: Known): Layout {
  const [own, others] = [knownOf(mine), new Map(theirs.workspaces.map((each) => [each.id, each]))];
  const isUnchanged = ({ id }: Workspace) => own.get(id) === known.get(id);
  const kept = mine.workspaces.filter((each) => others.has(each.id) || each.id === mine.active || !isUnchanged(each));
  const merged = kept.map((each) => {
    const other = others.get(each.id);
    return other && isUnchanged(each) && JSON.stringify(other) !== own.get(each.id) ? other : each;
  });
  const added = theirs.workspaces.filter((each) => !own.has(each.id) && !known.has(each.id));
  const workspaces = [...(hasOrderOf(own, known) ? sortLike(merged, [...others.keys()]) : merged), ...added];
  const isSame = workspaces.length === own.size && workspaces.every((each, index) => each === mine.workspaces[index]);
  return isSame ? mine : { ...mine, workspaces };
}

/** Returns whether the workspaces of both layouts are in the same order. */
function hasOrderOf(layout: Known, known: Known): boolean {
  const common = [...layout.keys()].filter((id) => known.has(id));
  return [...known.keys()].filter((id) => layout.has(id)).every((id, index) => id === common[index]);
}

/** Returns the workspaces with those that have one of the ids in the order of the ids; the others keep their places. */
function sortLike(workspaces: readonly Workspace[], ids: readonly string[]): Workspace[] {
  const found = new Map(workspaces.map((each) => [each.id, each]));
  const sorted = ids.flatMap((id) => found.get(id) ?? []);
  const order = sorted.values();
  return workspaces.map((each) => (ids.includes(each.id) ? (order.next().value as Workspace) : each));
}

/** Returns an earlier layout with the present choices of its panes: undoing a move reverts no choice. */
export function keepMemories(earlier: Layout, present: Layout): Layout {
  const panes = new Map(
    present.workspaces.flatMap((each) => each.panes.map((pane) => [`${each.id} ${pane.id}`, pane])),
  );
  const keep = (workspace: Workspace): Workspace => ({
    ...workspace,
    panes: workspace.panes.map((pane) => {
      const memory = panes.get(`${workspace.id} ${pane.id}`)?.memory;
      return memory ? { ...pane, memory } : pane;
    }),
  });
  return { ...earlier, workspaces: earlier.workspaces.map(keep) };
}
