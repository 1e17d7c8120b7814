import { signal } from "@preact/signals";
import { ApiError } from "../client/index.ts";
import { DEFAULT, type Place, parseLayout } from "./layout.ts";
import { rest } from "./service.ts";
import { session } from "./session.ts";
import { storedSignal } from "./stored.ts";

const SAVE_AFTER_MS = 300;

const isLayout = (value: unknown): value is { panes: readonly Place[] } => parseLayout(value) !== null;
const own = storedSignal("layout", { panes: DEFAULT }, isLayout);
/** Places of the panes on the grid. */
export const places = signal<readonly Place[]>(parseLayout(own.value) ?? DEFAULT);
/** Time of the last save to the account (Unix milliseconds, this machine's clock); 0 for never. */
export const savedAt = signal(0);

let version = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
/** Saves run one after the other: of two at once, the service refuses the second for its old version. */
let saving: Promise<unknown> = Promise.resolve();

/** Arranges the panes and saves the layout: to the account, or to this browser. */
export function arrange(next: readonly Place[]): void {
  places.value = next;
  clearTimeout(timer);
  if (session.value) timer = setTimeout(() => void storeNext(), SAVE_AFTER_MS);
  else own.value = { panes: next };
}

/** Changes the choices of one pane. */
export function remember(id: string, memory: Record<string, string>): void {
  arrange(places.value.map((each) => (each.id === id ? { ...each, memory: { ...each.memory, ...memory } } : each)));
}

/** Loads the account's layout; an account without one gets this browser's. */
export async function loadArrangement(): Promise<void> {
  if (!session.value) {
    places.value = parseLayout(own.value) ?? DEFAULT;
    return;
  }
  const saved = await rest.call("GET /api/terminal/layout");
  version = saved.version;
  const found = parseLayout(saved.layout);
  if (found) places.value = found;
  else await storeNext();
}

/** Saves the layout after the running save; a failed save is repeated with the next change. */
function storeNext(): Promise<unknown> {
  saving = saving.then(store).catch(() => null);
  return saving;
}

async function store(): Promise<void> {
  try {
    await put();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    // Another window saved first; this layout is newer, so it replaces that one.
    const saved = await rest.call("GET /api/terminal/layout");
    version = saved.version;
    await put();
  }
}

async function put(): Promise<void> {
  const saved = await rest.call("PUT /api/terminal/layout", { body: { layout: { panes: places.value }, version } });
  version = saved.version;
  savedAt.value = Date.now();
}
