import { useEffect, useState } from "preact/hooks";

/** A value that tells when it is replaced. */
export class Observable<T> {
  readonly #listeners = new Set<(value: T) => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T): void {
    if (value === this.current) return;
    this.current = value;
    for (const listener of [...this.#listeners]) listener(value);
  }

  /** Calls back at every change until the returned function is called. */
  subscribe(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The present value; the component is drawn again when it is replaced. */
export function useValue<T>(observable: Observable<T>): T {
  const [, setCount] = useState(0);
  useEffect(() => observable.subscribe(() => setCount((count) => count + 1)), [observable]);
  return observable.value;
}
