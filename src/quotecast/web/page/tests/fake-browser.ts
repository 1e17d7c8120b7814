/** What the page's modules use of a browser as soon as they load; tests import this first. */

const values = new Map<string, string>();
const listeners = new Map<string, Set<(event: { key: string | null }) => void>>();

/** The browser's storage; `refuses` makes it throw, as in some private windows. */
export const storage = {
  refuses: false,
  values,
  getItem: (name: string): string | null => {
    if (storage.refuses) throw new Error("no storage");
    return values.get(name) ?? null;
  },
  setItem: (name: string, text: string): void => {
    if (storage.refuses) throw new Error("no storage");
    values.set(name, text);
  },
  removeItem: (name: string): void => void values.delete(name),
};

/** Changes a value as another window of the browser does. */
export function changeElsewhere(name: string, text: string): void {
  values.set(name, text);
  for (const listener of listeners.get("storage") ?? []) listener({ key: name });
}

const define = (name: string, value: unknown): void => {
  Object.defineProperty(globalThis, name, { configurable: true, value });
};
define("localStorage", storage);
define("navigator", { language: "en-US" });
define("addEventListener", (name: string, listener: (event: { key: string | null }) => void) => {
  listeners.set(name, (listeners.get(name) ?? new Set()).add(listener));
});
