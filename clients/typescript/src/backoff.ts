const FIRST_MS = 500;
const LONGEST_MS = 30_000;
/** Share by which a wait varies either way, so that clients do not all reconnect at once. */
const JITTER = 0.2;

/** Growing, jittered waits between attempts. */
export class Backoff {
  #next = FIRST_MS;

  constructor(private readonly random: () => number = Math.random) {}

  /** Returns the milliseconds to wait before the next attempt; each wait doubles, up to 30 seconds. */
  wait(): number {
    const wait = this.#next;
    this.#next = Math.min(2 * wait, LONGEST_MS);
    return this.#spread(wait);
  }

  /** Returns the wait that the server asked for, with jitter; the next own wait is short again. */
  waitAsTold(milliseconds: number): number {
    this.reset();
    return this.#spread(milliseconds);
  }

  /** Makes the next wait short again, after a successful attempt. */
  reset(): void {
    this.#next = FIRST_MS;
  }

  #spread(milliseconds: number): number {
    return milliseconds * (1 - JITTER + 2 * JITTER * this.random());
  }
}
