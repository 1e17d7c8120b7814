import { effect, signal } from "@preact/signals";

import { activeWorkspace, openWorkspace, remember, showPane, workspaces } from "./arrangement.ts";
import { same } from "./instruments.ts";
import { FIELDS } from "./panes/screen.ts";
import { parseScreen, parseSymbol, withScreen, withSymbol, withWorkspace } from "./query.ts";
import { select, selected } from "./selection.ts";
import { isNoted, note } from "./stored.ts";

/** A symbol on the screen for less than this was passed on the way to another one: Back skips it. */
const PASSED_MS = 2000;

/** Changes the address without an entry in the history. */
export function replaceAddress(search: string): void {
  if (search !== location.search) history.replaceState(null, "", search + location.hash);
}

/**
 * Selects the address's symbol, and writes each selection into the address.
 *
 * Back returns to the last symbol that the reader looked at: a click in quick succession replaces the last entry.
 */
export function followAddress(): void {
  select(parseSymbol(location.search) ?? selected.value);
  let shown = selected.value;
  let shownSince = Number.NEGATIVE_INFINITY;
  replaceAddress(withSymbol(location.search, shown));
  selected.subscribe((next) => {
    if (same(next, shown)) return;
    const now = performance.now();
    const search = withSymbol(location.search, next);
    if (now - shownSince < PASSED_MS) replaceAddress(search);
    else history.pushState(null, "", search + location.hash);
    [shown, shownSince] = [next, now];
  });
  addEventListener("popstate", () => {
    const found = parseSymbol(location.search);
    if (!found) return;
    [shown, shownSince] = [found, Number.NEGATIVE_INFINITY];
    select(found);
    if (!wantedWorkspace.value) nameWorkspace();
    writeScreen();
  });
}

/** The workspace of the address at the start, until the page finds it or the layout is loaded; "" for none. */
const wantedWorkspace = signal(new URLSearchParams(location.search).get("workspace") ?? "");

const nameWorkspace = () => replaceAddress(withWorkspace(location.search, activeWorkspace.value.name));

/** Opens the address's workspace when it is there, and writes the name of the open one into the address. */
export function followWorkspace(): void {
  effect(() => {
    const found = workspaces.value.find((each) => each.name === wantedWorkspace.value);
    if (wantedWorkspace.value && found) {
      openWorkspace(found.id);
      wantedWorkspace.value = "";
    }
    if (!wantedWorkspace.value) nameWorkspace();
  });
}

/** Wait in which several changes of a screener write the address once: browsers bound how often a page may. */
const NAMED_AFTER_MS = 300;
/** The conditions of the screener on the screen. */
let screen: Readonly<Record<string, string>> = {};
let naming: ReturnType<typeof setTimeout> | undefined;

/** Name of the note that the layout has changes of the screener which the address lacks. */
const BEHIND = "address-behind";

function writeScreen(): void {
  replaceAddress(withScreen(location.search, screen));
  note(BEHIND, false);
}

/** Writes what a screener asks for into the address. */
export function nameScreen(asked: Readonly<Record<string, string>>): void {
  screen = asked;
  note(BEHIND, true);
  clearTimeout(naming);
  naming = setTimeout(writeScreen, NAMED_AFTER_MS);
}

/** What the address asks of a screener when the page starts; null where it asks nothing, and once a pane shows it. */
let wantedScreen = parseScreen(location.search);

/** Whether the page was left before the address had the last changes. */
const isBehind = isNoted(BEHIND);

/** Shows what the address asks of a screener, unless one asks for it already. */
function showScreen(): void {
  const wanted = wantedScreen;
  wantedScreen = null;
  const isShown = activeWorkspace.value.panes.some(
    ({ kind, memory }) =>
      kind === "screener" && (isBehind || FIELDS.every((each) => (memory?.[each] ?? "") === wanted?.[each])),
  );
  if (wanted && !isShown) remember(showPane("screener"), wanted);
}

/** Null while the account's layout loads; afterwards the error that it failed with, or null as `failure`. */
export const settled = signal<{ readonly failure: unknown } | null>(null);

/** Stops looking for the address's workspace: the account's layout has loaded, or failed to. */
export function settleWorkspace(failure: unknown = null): void {
  settled.value = { failure };
  wantedWorkspace.value = "";
  if (failure === null) showScreen();
}
