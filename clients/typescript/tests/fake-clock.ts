/** Time that passes only when a case says so. */
export class FakeClock {
  readonly #timers = new Map<number, { at: number; run: () => void }>();
  readonly #real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
  #now = 0;
  #last = 0;

  constructor() {
    globalThis.setTimeout = ((run: () => void, milliseconds = 0) => {
      this.#last += 1;
      this.#timers.set(this.#last, { at: this.#now + milliseconds, run });
      return this.#last;
    }) as unknown as typeof setTimeout;
    globalThis.clearTimeout = ((timer: number) => this.#timers.delete(timer)) as typeof clearTimeout;
  }

  tick(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      const [next] = [...this.#timers].sort(([, one], [, other]) => one.at - other.at);
      if (!next || next[1].at > end) break;
      this.#timers.delete(next[0]);
      this.#now = next[1].at;
      next[1].run();
    }
    this.#now = end;
  }

  restore(): void {
    Object.assign(globalThis, this.#real);
  }
}
