import { type Signal, signal } from "@preact/signals";

const PREFIX = "quotecast.";

/** Whether a value is what is wanted; what a browser keeps may be of another version, or anyone's. */
export type Guard<T> = (value: unknown) => value is T;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** A guard for one of some words. */
export const isOneOf =
  <T extends string>(words: readonly T[]): Guard<T> =>
  (value): value is T =>
    words.includes(value as T);

/** What this browser keeps under a name; the fallback where it keeps nothing, or nothing of use. */
function load<T>(name: string, fallback: T, isValid: Guard<T>): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + name) ?? "");
    return isValid(value) ? value : fallback;
  } catch {
    return fallback;
  }
}

/** Keeps a value under a name; a browser that keeps nothing (private windows) goes on without. */
function save(name: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    return;
  }
}

/** Removes all that this page keeps in this browser. */
export function forgetAll(): void {
  for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
}

/** A signal whose value outlives the page; the browser stores it from its first change on. */
export function stored<T>(name: string, fallback: T, isValid: Guard<T>): Signal<T> {
  let known = load(name, fallback, isValid);
  const value = signal(known);
  value.subscribe((next) => {
    if (next !== known) save(name, next);
    known = next;
  });
  return value;
}

/** A stored signal that follows the changes of this browser's other windows. */
export function shared<T>(name: string, fallback: T, isValid: Guard<T>): Signal<T> {
  const value = stored(name, fallback, isValid);
  addEventListener("storage", ({ key }) => {
    if (key === PREFIX + name || key === null) value.value = load(name, fallback, isValid);
  });
  return value;
}
