import { signal } from "@preact/signals";

import type { Place } from "./layout.ts";
import { say, type Word } from "./words.ts";
import type { Workspace } from "./workspaces.ts";

/** A pane that the reader moves or resizes, and the panes before and now. */
export interface Moving {
  readonly id: string;
  readonly by: "keys" | "pointer";
  readonly before: readonly Place[];
  readonly now: readonly Place[];
}

/** The element that takes the focus next: a pane, its grip or its tab, or without a pane the tab of the workspace. */
export interface FocusTarget {
  readonly pane: string | null;
  readonly part: "pane" | "grip" | "tab";
}

export const moving = signal<Moving | null>(null);
export const focusTarget = signal<FocusTarget | null>(null);
/** The change that a notice offers to undo; null without one. */
export const undoOffer = signal<{ readonly word: Word; readonly name: string } | null>(null);
/** The announcement about the panes for screen readers; a sighted reader sees it while a pane moves. */
export const announcement = signal("");
/** Id of the pane that fills the workspace, until the page closes; null without one. */
export const maximised = signal<string | null>(null);

/** Id of the pane that the reader asked for last, which a phone shows. */
export const onTop = signal<string | null>(null);

/** Focuses an element in the next paint, and brings its pane up. */
export function focusOn(target: FocusTarget): void {
  if (target.pane !== null) onTop.value = target.pane;
  focusTarget.value = target;
}

/** Returns the name of a workspace; the first one has none of its own. */
export const nameOf = ({ name }: Workspace): string => name || say("firstWorkspace");

/** Returns the title of a pane, with a number from the second of its kind on. */
export function titleOf({ id, kind }: Place): string {
  const number = /-(\d+)$/.exec(id)?.[1];
  return number ? `${say(kind)} ${number}` : say(kind);
}

/** Fills the workspace with a pane, or restores it. */
export function toggleMaximised(place: Place): void {
  const isOne = maximised.value === place.id;
  moving.value = null;
  maximised.value = isOne ? null : place.id;
  announcement.value = say(isOne ? "paneRestored" : "paneMaximised", { pane: titleOf(place) });
}
