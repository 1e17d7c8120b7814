import { signal } from "@preact/signals";

import { ApiError } from "quotecast-client";
import { notice } from "./notices.tsx";
import { rest } from "./service.ts";
import { session } from "./session.ts";
import { sharedSignal } from "./stored.ts";
import { say } from "./words.ts";
import { FIRST_LAYOUT, type Layout, mergeLayouts, parseLayout } from "./workspaces.ts";

const SAVE_AFTER_MS = 300;
/** Status of a layout over the service's limit of 64 KB. */
const [CONFLICT, TOO_LARGE] = [409, 413];

/** This browser's layout, as any of its windows wrote it. */
const own = sharedSignal<unknown>("layout", null, (value): value is unknown => parseLayout(value) !== null);
const ofBrowser = (): Layout => parseLayout(own.value) ?? FIRST_LAYOUT;

/** The workspaces of this window. */
export const layout = signal<Layout>(ofBrowser());
/** Time of the last save to the account (Unix milliseconds, this machine's clock); 0 for never. */
export const savedAt = signal(0);

/** Ids of the workspaces that were common to this window and the store at the last save or load. */
let known = idsOf(layout.value);
let version = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
/** Saves run one after the other: of two at once, the service refuses the second for its old version. */
let saving: Promise<unknown> = Promise.resolve();

function idsOf({ workspaces }: Layout): ReadonlySet<string> {
  return new Set(workspaces.map((each) => each.id));
}

/** Shows a layout and saves it: to the account, or to this browser. */
export function putLayout(next: Layout): void {
  layout.value = next;
  clearTimeout(timer);
  if (session.value) timer = setTimeout(() => void storeNext(), SAVE_AFTER_MS);
  else {
    mergeWith(ofBrowser());
    own.value = layout.value;
  }
}

/** Takes over the workspaces that another window has added. */
function mergeWith(theirs: Layout): void {
  layout.value = mergeLayouts(layout.value, theirs, known);
  known = idsOf(layout.value);
}

function show(found: Layout): void {
  layout.value = found;
  known = idsOf(found);
}

/** Loads the account's layout; an account without one gets this browser's. */
export async function loadLayout(): Promise<void> {
  if (!session.value) {
    show(ofBrowser());
    return;
  }
  const saved = await rest.call("GET /api/terminal/layout");
  version = saved.version;
  const found = parseLayout(saved.layout);
  if (found) show(found);
  else await storeNext();
}

/** Saves the layout after the running save; a failed save is repeated with the next change. */
function storeNext(): Promise<unknown> {
  saving = saving.then(store).catch((error) => {
    if (error instanceof ApiError && error.status === TOO_LARGE) notice.value = say("layoutTooLarge");
  });
  return saving;
}

async function store(): Promise<void> {
  try {
    await put();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== CONFLICT) throw error;
    // Another window saved first; this layout is newer, so it replaces that one, except for what only that one has.
    const saved = await rest.call("GET /api/terminal/layout");
    version = saved.version;
    const theirs = parseLayout(saved.layout);
    if (theirs) mergeWith(theirs);
    await put();
  }
}

async function put(): Promise<void> {
  const sent = layout.value;
  const saved = await rest.call("PUT /api/terminal/layout", { body: { layout: { ...sent }, version } });
  version = saved.version;
  known = idsOf(sent);
  savedAt.value = Date.now();
}
