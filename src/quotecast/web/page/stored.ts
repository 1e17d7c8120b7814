import { Observable } from "./observable.ts";

const PREFIX = "quotecast.";

/** What this browser keeps under a name; the fallback where it keeps nothing, or nothing readable. */
export function load<T>(name: string, fallback: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? fallback : (JSON.parse(text) as T);
  } catch {
    return fallback;
  }
}

/** Keeps a value under a name; a browser that keeps nothing (private windows) goes on without. */
export function save(name: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    return;
  }
}

/** An observable whose value outlives the page. */
export function stored<T>(name: string, fallback: T): Observable<T> {
  const observable = new Observable<T>(load(name, fallback));
  observable.subscribe((value) => save(name, value));
  return observable;
}
