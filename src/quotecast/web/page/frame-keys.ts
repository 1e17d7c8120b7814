import { activeWorkspace, openWorkspace, redo, undo, workspaces } from "./arrangement.ts";
import { maximised, toggleMaximised } from "./frame-state.ts";
import { openKeyList } from "./key-list.tsx";
import { acceptKeys, cancelMove } from "./moves.ts";

const FIELDS = "input, textarea, select, [contenteditable], dialog[open]";

/** Listens for the keys of the frame, in no field or dialog; a page that goes keeps a move. Returns the end of it. */
export function listenForKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    const element = event.target instanceof Element ? event.target : null;
    if (event.defaultPrevented || element?.closest(FIELDS)) return;
    if (act(event, element)) event.preventDefault();
  };
  addEventListener("keydown", onKey);
  addEventListener("pagehide", acceptKeys);
  return () => {
    removeEventListener("keydown", onKey);
    removeEventListener("pagehide", acceptKeys);
  };
}

/** Does what a key stands for; returns whether it stands for anything. */
function act(event: KeyboardEvent, element: Element | null): boolean {
  const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
  const isPlain = !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
  if ((event.ctrlKey || event.metaKey) && !event.altKey) return travel(event);
  if (event.altKey && !event.shiftKey && digit) return openNumber(Number(digit));
  if (event.key === "Escape" && isPlain) return cancelMove() || restore();
  if (event.key === "?") {
    openKeyList();
    return true;
  }
  return isPlain && event.key === "m" && maximise(element);
}

function travel(event: KeyboardEvent): boolean {
  const key = event.key.toLowerCase();
  if (key !== "z" && key !== "y") return false;
  if (key === "y" || event.shiftKey) redo();
  else undo();
  return true;
}

function openNumber(number: number): boolean {
  const wanted = workspaces.value[number - 1];
  if (wanted) openWorkspace(wanted.id);
  return wanted !== undefined;
}

function restore(): boolean {
  const place = activeWorkspace.value.panes.find((each) => each.id === maximised.value);
  if (place && !document.fullscreenElement) toggleMaximised(place);
  return place !== undefined && !document.fullscreenElement;
}

/** Fills the workspace with the pane of the focus, or restores it. */
function maximise(element: Element | null): boolean {
  const id = element?.closest<HTMLElement>(".pane")?.dataset.pane;
  const place = activeWorkspace.value.panes.find((each) => each.id === id);
  if (place) toggleMaximised(place);
  return place !== undefined;
}
