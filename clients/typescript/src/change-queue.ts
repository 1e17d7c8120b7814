/** Changes that wait for their reader: at most one per key, the newest, so that a slow reader costs no memory. */
export class ChangeQueue<T> {
  readonly #changes = new Map<string, T>();
  /** Why there are no more; undefined while there may be some. */
  #end: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  get isClosed(): boolean {
    return this.#end !== undefined;
  }

  put(key: string, change: T): void {
    if (this.#end) return;
    this.#changes.set(key, change);
    this.#wake?.();
  }

  /** Ends the queue, with an error or without; the reader still gets the changes before an error. */
  end(error: unknown = null): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  /** Returns the next change, and waits for it; null at the end. Throws the error of the end. */
  async next(): Promise<T | null> {
    for (;;) {
      const [first] = this.#changes;
      if (first) {
        this.#changes.delete(first[0]);
        return first[1];
      }
      if (this.#end?.error) throw this.#end.error;
      if (this.#end) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Drops all changes, and ends the queue. */
  close(): void {
    this.#changes.clear();
    this.end();
  }
}
