import { computed, signal } from "@preact/signals";

import { ApiError, Backoff } from "quotecast-client";
import { notice } from "./notices.tsx";
import { popOut } from "./pop-out.ts";
import { rest } from "./service.ts";
import { session } from "./session.ts";
import { isRecord, isText, sharedSignal } from "./stored.ts";
import { say } from "./words.ts";
import { FIRST_LAYOUT, knownOf, type Layout, mergeLayouts, parseLayout } from "./workspaces.ts";

const SAVE_AFTER_MS = 300;
/** Status of a layout over the service's limit of 64 KB. */
const [CONFLICT, TOO_LARGE] = [409, 413];

/** This browser's layout, as any of its windows wrote it. */
const own = sharedSignal<unknown>("layout", null, (value): value is unknown => parseLayout(value) !== null);
const ofBrowser = (): Layout => parseLayout(own.value) ?? FIRST_LAYOUT;

/** The workspaces of this window. */
export const layout = signal<Layout>(ofBrowser());
interface Unsaved {
  readonly user: string;
  readonly layout: unknown;
  /** The account's version that the change was made on. */
  readonly version: number;
}
const isUnsaved = (value: unknown): value is Unsaved | null =>
  isRecord(value) && isText(value.user) && Number.isInteger(value.version) && parseLayout(value.layout) !== null;

/** The last change that an account does not have yet: it outlives the page. */
const unsaved = sharedSignal<Unsaved | null>("layout-unsaved", null, isUnsaved);
/** The entry that this window wrote: another window's goes with that window's save. */
let written: Unsaved | null = null;
const failures = signal(0);
const backoff = new Backoff();
/** Whether the account lacks the last change, because a save failed. */
export const isNotSaved = computed(() => failures.value > 0 && unsaved.value?.user === session.value?.user.id);
/** Time of the last save to the account (Unix milliseconds, this machine's clock); 0 for never. */
export const savedAt = signal(0);

/** The workspaces that were common to this window and the store at the last save or load. */
let known = knownOf(layout.value);
let version = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
/** Saves run one after the other: of two at once, the service refuses the second for its old version. */
let saving: Promise<unknown> = Promise.resolve();

/** Shows a layout and saves it: to the account, or to this browser. A pop-out saves none: that is the main window's. */
export function putLayout(next: Layout): void {
  layout.value = next;
  if (popOut) return;
  clearTimeout(timer);
  if (session.value) {
    written = { user: session.value.user.id, layout: next, version };
    unsaved.value = written;
    storeIn(SAVE_AFTER_MS);
  } else {
    const theirs = parseLayout(own.value);
    if (theirs) mergeWith(theirs);
    own.value = layout.value;
    known = knownOf(layout.value);
  }
}

/** Brings what another window has changed last into a layout of before; null until that happens. */
export const merge = signal<((earlier: Layout) => Layout) | null>(null);

/** Takes over what another window has changed. */
function mergeWith(theirs: Layout): void {
  const common = known;
  // Not the merged layout: if its save fails, this window's changes must still count as such.
  known = knownOf(theirs);
  if (JSON.stringify([...known]) === JSON.stringify([...common])) return;
  const take = (mine: Layout) => mergeLayouts(mine, theirs, common);
  layout.value = take(layout.value);
  merge.value = take;
}

/** Id of the user whose layout this window has loaded; null before. */
let loadedFor: string | null = null;

/** Loads the account's layout; an account without one gets this browser's. */
export async function loadLayout(): Promise<void> {
  // A save may have loaded it first, and has shown the reader's changes since.
  if (session.value && loadedFor === session.value.user.id) return;
  if ((await load()) && !popOut) await storeNext();
}

/** Shows the layout of the account or of this browser; returns whether the account lacks what is shown. */
async function load(): Promise<boolean> {
  const user = session.value?.user.id;
  if (!user) {
    loadedFor = null;
    layout.value = ofBrowser();
    known = knownOf(layout.value);
    return false;
  }
  const saved = await rest.call("GET /api/terminal/layout");
  // Another answer may have come first, and another user's is not this one.
  if (session.value?.user.id !== user || loadedFor === user) return false;
  version = saved.version;
  loadedFor = user;
  const found = parseLayout(saved.layout);
  const mine = unsaved.value?.user === user ? unsaved.value : null;
  const lost = parseLayout(mine?.layout);
  written = mine;
  if (lost) {
    // A save failed until the page was closed. Another browser may have saved since: its changes are newer.
    const [newer, older] = mine?.version === version ? [lost, found] : [found ?? lost, lost];
    layout.value = older ? mergeLayouts(newer, older, new Map()) : newer;
  } else if (found) layout.value = found;
  known = knownOf(found);
  return !found || lost !== null;
}

function storeIn(milliseconds: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => void storeNext(), milliseconds);
}

/** Saves the layout after the running save; a failed save is repeated, ever more seldom, until one succeeds. */
function storeNext(): Promise<unknown> {
  if (popOut) return saving;
  saving = saving.then(store).catch((error) => {
    if (!session.value) return;
    if (error instanceof ApiError && error.status === TOO_LARGE) {
      notice.value = say("layoutTooLarge");
      failures.value = 0;
      return;
    }
    failures.value += 1;
    storeIn(backoff.wait());
  });
  return saving;
}

async function store(): Promise<void> {
  // A change before the first answer was made on this browser's layout: the account's own workspaces stay.
  while (loadedFor !== (session.value?.user.id ?? null)) await load();
  try {
    await put();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== CONFLICT) throw error;
    // Another window saved first; this layout is newer, so it replaces that one where both changed.
    const saved = await rest.call("GET /api/terminal/layout");
    version = saved.version;
    const theirs = parseLayout(saved.layout);
    if (theirs) mergeWith(theirs);
    if (written && unsaved.value === written) {
      written = { ...written, layout: layout.value, version };
      unsaved.value = written;
    }
    await put();
  }
}

async function put(): Promise<void> {
  const sent = layout.value;
  const saved = await rest.call("PUT /api/terminal/layout", { body: { layout: { ...sent }, version } });
  version = saved.version;
  known = knownOf(sent);
  savedAt.value = Date.now();
  failures.value = 0;
  backoff.reset();
  // A change during the save, or in another window, stays unsaved.
  if (layout.value === sent && unsaved.value === written) unsaved.value = null;
}
