const MOST = 50;

/** States before and after the present one: the newest change is the last of `past`, the next to redo that of `future`. */
export interface Changes<T> {
  readonly past: readonly T[];
  readonly future: readonly T[];
}

export const NO_CHANGES: Changes<never> = { past: [], future: [] };

/** Notes a state that a change replaces; what was undone cannot be redone afterwards. */
export function noteChange<T>(changes: Changes<T>, replaced: T): Changes<T> {
  return { past: [...changes.past, replaced].slice(-MOST), future: [] };
}

/** Returns the changes with each state changed. */
export const mapChanges = <T>({ past, future }: Changes<T>, change: (state: T) => T): Changes<T> => ({
  past: past.map(change),
  future: future.map(change),
});

/** Returns the changes and the state before the last change; null if nothing has changed. */
export function stepBack<T>({ past, future }: Changes<T>, present: T): [Changes<T>, T] | null {
  if (!past.length) return null;
  return [{ past: past.slice(0, -1), future: [...future, present] }, past.at(-1) as T];
}

/** Returns the changes and the state after the change that was undone last; null if there is none. */
export function stepForward<T>({ past, future }: Changes<T>, present: T): [Changes<T>, T] | null {
  if (!future.length) return null;
  return [{ past: [...past, present], future: future.slice(0, -1) }, future.at(-1) as T];
}
