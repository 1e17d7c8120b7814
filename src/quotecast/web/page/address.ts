import { effect, signal } from "@preact/signals";

import { activeWorkspace, openWorkspace, remember, showPane, workspaces } from "./arrangement.ts";
import { same } from "./instruments.ts";
import { parseScreen, parseSymbol, withSymbol, withWorkspace } from "./query.ts";
import { select, selected } from "./selection.ts";

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

/** What the address asks of a screener at the start; null without a wish, and once it is shown. */
let wantedScreen = parseScreen(location.search);

/** Whether the account's layout has come, or cannot. */
export const isSettled = signal(false);

/** Stops looking for the address's workspace, and shows its screen: the account's layout has come. */
export function settleWorkspace(): void {
  isSettled.value = true;
  wantedWorkspace.value = "";
  if (wantedScreen) remember(showPane("screener"), wantedScreen);
  wantedScreen = null;
}
