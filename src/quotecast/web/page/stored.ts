import { type Signal, signal } from "@preact/signals";

const PREFIX = "quotecast.";

/** Checks a stored value: another version of the page, or anyone else, may have written it. */
export type Guard<T> = (value: unknown) => value is T;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Returns a guard that accepts the given words. */
export const isOneOf =
  <T extends string>(words: readonly T[]): Guard<T> =>
  (value): value is T =>
    words.includes(value as T);

/** Returns the value that this browser stores under a name; the fallback without a valid one. */
function load<T>(name: string, fallback: T, isValid: Guard<T>): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + name) ?? "");
    return isValid(value) ? value : fallback;
  } catch {
    return fallback;
  }
}

/** Whether the last change was not stored: the storage is full, or this browser stores nothing. */
export const isStorageFull = signal(false);

function save(name: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
    isStorageFull.value = false;
  } catch {
    isStorageFull.value = true;
  }
}

/** Notes something for the next load of this window's page, or forgets it; without a storage nothing is noted. */
export function note(name: string, isTrue: boolean): void {
  try {
    if (isTrue) sessionStorage.setItem(PREFIX + name, "true");
    else sessionStorage.removeItem(PREFIX + name);
  } catch {
    // The next load does without.
  }
}

/** Returns whether an earlier load of this window's page noted something. */
export function isNoted(name: string): boolean {
  try {
    return sessionStorage.getItem(PREFIX + name) !== null;
  } catch {
    return false;
  }
}

/** Removes every value that this page stores in this browser. */
export function forgetAll(): void {
  for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
}

/** Returns a signal whose value outlives the page; the browser stores it from its first change on. */
export function storedSignal<T>(name: string, fallback: T, isValid: Guard<T>): Signal<T> {
  let known = load(name, fallback, isValid);
  const value = signal(known);
  value.subscribe((next) => {
    if (next !== known) save(name, next);
    known = next;
  });
  return value;
}

/** Returns a stored signal that follows the changes of this browser's other windows. */
export function sharedSignal<T>(name: string, fallback: T, isValid: Guard<T>): Signal<T> {
  const value = storedSignal(name, fallback, isValid);
  addEventListener("storage", ({ key }) => {
    if (key === PREFIX + name || key === null) value.value = load(name, fallback, isValid);
  });
  return value;
}
