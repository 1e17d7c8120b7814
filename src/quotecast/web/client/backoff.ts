const FIRST_MS = 500;
const LONGEST_MS = 30_000;
/** Waits are spread by this share either way, so that clients do not all come back at once. */
const JITTER = 0.2;

/** Growing, jittered waits between attempts. */
export class Backoff {
  #next = FIRST_MS;

  constructor(private readonly random: () => number = Math.random) {}

  /** Milliseconds to wait before the next attempt; twice as long each time, up to half a minute. */
  wait(): number {
    const wait = this.#next;
    this.#next = Math.min(2 * wait, LONGEST_MS);
    return this.#spread(wait);
  }

  /** The wait that the server asked for, spread likewise. */
  waitAsTold(milliseconds: number): number {
    this.reset();
    return this.#spread(milliseconds);
  }

  /** An attempt succeeded: the next wait is short again. */
  reset(): void {
    this.#next = FIRST_MS;
  }

  #spread(milliseconds: number): number {
    return milliseconds * (1 - JITTER + 2 * JITTER * this.random());
  }
}
