import { signal } from "@preact/signals";
import { ApiError } from "../client/index.ts";
import { DEFAULT, type Place, parsed } from "./layout.ts";
import { rest } from "./service.ts";
import { session } from "./session.ts";
import { stored } from "./stored.ts";

const SAVE_AFTER_MS = 300;

const isLayout = (value: unknown): value is { panes: readonly Place[] } => parsed(value) !== null;
const own = stored("layout", { panes: DEFAULT }, isLayout);
/** Where the panes are. */
export const places = signal<readonly Place[]>(parsed(own.value) ?? DEFAULT);
/** When the account last took the layout, by this machine's clock; 0 for never. */
export const savedAt = signal(0);

let version = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
/** Saves one after the other: two at once would both replace the same version, and one be refused. */
let saving: Promise<unknown> = Promise.resolve();

/** Arranges the panes and keeps the arrangement: in the account, or in this browser. */
export function arrange(next: readonly Place[]): void {
  places.value = next;
  clearTimeout(timer);
  if (session.value) timer = setTimeout(() => void storeNext(), SAVE_AFTER_MS);
  else own.value = { panes: next };
}

/** Changes what one pane remembers of itself. */
export function remember(id: string, memory: Record<string, string>): void {
  arrange(places.value.map((each) => (each.id === id ? { ...each, memory: { ...each.memory, ...memory } } : each)));
}

/** Brings the account's arrangement; an account that has none yet gets this browser's. */
export async function loadArrangement(): Promise<void> {
  if (!session.value) {
    places.value = parsed(own.value) ?? DEFAULT;
    return;
  }
  const kept = await rest.call("GET /api/terminal/layout");
  version = kept.version;
  const found = parsed(kept.layout);
  if (found) places.value = found;
  else await storeNext();
}

/** Without an answer the arrangement stays on the screen, and goes with the next one. */
function storeNext(): Promise<unknown> {
  saving = saving.then(store).catch(() => null);
  return saving;
}

async function store(): Promise<void> {
  try {
    await put();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    // Another window saved meanwhile, before what was arranged here: the newest is what the account shows.
    const kept = await rest.call("GET /api/terminal/layout");
    version = kept.version;
    await put();
  }
}

async function put(): Promise<void> {
  const kept = await rest.call("PUT /api/terminal/layout", { body: { layout: { panes: places.value }, version } });
  version = kept.version;
  savedAt.value = Date.now();
}
