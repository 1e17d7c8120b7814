/** Panes that share a place: one is shown, the others are tabs behind it. */

import { changeShown, frontOf, type Place, rectangleOf } from "./layout.ts";
import { closePlace, dropPlace, fillPlaces, halvePlace, insertPlace, neighbourOf, type Side } from "./tiling.ts";

const find = (places: readonly Place[], id: string): Place | undefined => places.find((each) => each.id === id);

/** Returns the panes that share the place of a pane, in the order of their tabs. */
export function tabsOf(places: readonly Place[], id: string): Place[] {
  const own = find(places, id);
  return own ? places.filter((each) => frontOf(each) === frontOf(own)) : [];
}

/** Returns the pane after one in a row, or the one before the last; undefined for the only one. */
export function neighbourIn(row: readonly Place[], id: string): Place | undefined {
  const at = row.findIndex((each) => each.id === id);
  return row[at + 1] ?? row[at - 1];
}

/** Returns the layout with one of the given panes shown in a place, and the others behind it. */
function group(places: readonly Place[], ids: readonly string[], front: string, at: Place): Place[] {
  return places.map((each) => {
    if (!ids.includes(each.id)) return each;
    const { behind, ...pane } = each;
    return { ...pane, ...rectangleOf(at), ...(each.id !== front && { behind: front }) };
  });
}

/** Returns the layout with a pane shown in its place, before the others there. */
export function showTab(places: readonly Place[], id: string): Place[] {
  const tabs = tabsOf(places, id);
  return tabs[0] ? group(places, idsOf(tabs), id, tabs[0]) : [...places];
}

const idsOf = (places: readonly Place[]): string[] => places.map(({ id }) => id);

/** Returns the layout with a tab taken from the others, still in the same place; its neighbour is shown before them. */
function release(places: readonly Place[], id: string): Place[] {
  const own = find(places, id);
  const neighbour = neighbourIn(tabsOf(places, id), id);
  if (!own || !neighbour) return [...places];
  const shown = own.behind === undefined ? showTab(places, neighbour.id) : places;
  return group(shown, [id], id, own);
}

/** Returns the layout without a pane: a tab beside it is shown in its place, or the neighbours take it. */
export function closeTab(places: readonly Place[], id: string): Place[] {
  if (tabsOf(places, id).length > 1) return release(places, id).filter((each) => each.id !== id);
  return changeShown(places, (shown) => closePlace(shown, id));
}

/** Returns the layout with a pane and its tabs in the place of another, which is behind it then. */
function join(places: readonly Place[], id: string, target: string): Place[] {
  const [own, other] = [tabsOf(places, id), tabsOf(places, target)];
  const [at] = other;
  if (!at || own.includes(at)) return [...places];
  const rest = places.filter((each) => !own.includes(each));
  const ordered = rest.toSpliced(rest.indexOf(other.at(-1) as Place) + 1, 0, ...own);
  const grouped = group(ordered, idsOf([...own, ...other]), id, at);
  return changeShown(grouped, (shown) => fillPlaces(shown, id));
}

/** Returns the layout with a pane and its tabs dropped on another pane, or on its heading. */
export function dropGroup(places: readonly Place[], id: string, target: string, side: Side): Place[] {
  if (side === "heading") return join(places, id, target);
  return changeShown(places, (shown) => dropPlace(shown, id, target, side));
}

/** Returns the layout with one tab dropped on a pane: beside an edge it takes half of it, else it is a tab there. */
export function dropTab(places: readonly Place[], id: string, target: string, side: Side): Place[] {
  const under = find(places, target);
  const halves = under && halvePlace(under, side);
  const tabs = idsOf(tabsOf(places, target));
  if (!halves) return tabs.includes(id) ? [...places] : join(release(places, id), id, target);
  const others = tabs.filter((each) => each !== id);
  const split = release(places, id).map((each) => {
    if (each.id === id) return { ...each, ...rectangleOf(halves[0]) };
    return others.includes(each.id) ? { ...each, ...rectangleOf(halves[1]) } : each;
  });
  return changeShown(split, (shown) => fillPlaces(shown, id));
}

/** Returns the layout with a tab as a pane of its own: in half of its place, or where that is too small, elsewhere. */
export function detachTab(places: readonly Place[], id: string): Place[] {
  const own = find(places, id);
  if (!own) return [...places];
  const side = (["right", "bottom"] as const).find((each) => halvePlace(own, each));
  if (side) return dropTab(places, id, id, side);
  return changeShown(closeTab(places, id), (shown) => insertPlace(shown, own));
}

/** Returns the layout with a pane as a tab of its neighbour in a direction; one that is a tab leaves to that side. */
export function turnTab(places: readonly Place[], id: string, dx: number, dy: number): Place[] {
  const own = find(places, id);
  const neighbour = own && neighbourOf(places, own, dx, dy);
  const side = dx ? (dx > 0 ? "right" : "left") : dy > 0 ? "bottom" : "top";
  if (tabsOf(places, id).length > 1) return dropTab(places, id, id, side);
  return neighbour ? join(places, id, neighbour.id) : [...places];
}
