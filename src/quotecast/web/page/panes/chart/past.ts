import { at, type Candle } from "../chart-bars.ts";

/** Bars that a chart holds at most. */
export const MOST_BARS = 20_000;

/** A page of bars, the newest first, and the token of the page before it; null on the last page. */
export interface PageOfBars {
  readonly bars: readonly Candle[];
  readonly next: string | null;
}

/** Asks for bars that open before `end`, the newest first; without an end, for the newest bars. */
export type AskPage = (end: string | undefined, page: string | null) => Promise<PageOfBars>;

/** `start` and `full` are the end: no bars are older, or the chart holds no more. */
export type PastState = "more" | "loading" | "waiting" | "start" | "full" | "failed";

export interface PastOptions {
  readonly ask: AskPage;
  /** Returns the seconds to wait after an error; null for an error that a repetition would only repeat. */
  readonly waitAfter: (error: unknown) => number | null;
  readonly later: (callback: () => void, seconds: number) => () => void;
  readonly onState: (state: PastState) => void;
}

/** Empty pages in a row after which the reader must scroll again. */
const MOST_EMPTY = 12;

/**
 * Loads the bars before those of a chart, page by page.
 *
 * At most one request is under way. After an error it waits as long as the service says, and goes on.
 */
export class Past {
  state: PastState = "more";
  #isEnded = false;
  #stopWaiting = () => {};
  /** The first bar of the last search: after an outage a chart may begin later again. */
  #searched = "";
  /** The page that follows an empty one, with the end of its query. */
  #rest: { readonly end: string; readonly page: string } | null = null;

  constructor(private readonly options: PastOptions) {}

  /** Loads bars before the first one; calls `take` with them in ascending order, unless there are none. */
  load(bars: readonly Candle[], take: (older: readonly Candle[]) => void): void {
    const first = bars[0];
    if (this.#isEnded || !first || this.state === "loading" || this.state === "waiting") return;
    if (first.time !== this.#searched) this.#rest = null;
    else if (this.state === "start" || this.state === "failed") return;
    this.#searched = first.time;
    if (bars.length >= MOST_BARS) this.#enter("full");
    else void this.#run(first, MOST_BARS - bars.length, take);
  }

  /** Ends all requests; later answers change nothing. */
  end(): void {
    this.#isEnded = true;
    this.#stopWaiting();
  }

  async #run(first: Candle, room: number, take: (older: readonly Candle[]) => void): Promise<void> {
    this.#enter("loading");
    try {
      const older = await this.#search(first);
      if (this.#isEnded) return;
      this.#enter(older.length ? (older.length > room ? "full" : "more") : this.#rest ? "more" : "start");
      if (older.length) take(older.slice(-room));
    } catch (error) {
      if (!this.#isEnded) this.#wait(this.options.waitAfter(error), () => void this.#run(first, room, take));
    }
  }

  /** Returns the next bars; empty pages have successors where an instrument was not traded. */
  async #search(first: Candle): Promise<Candle[]> {
    let { end, page } = this.#rest ?? { end: first.time, page: null };
    for (let tried = 0; tried < MOST_EMPTY; tried += 1) {
      const { bars, next } = await this.options.ask(end, page);
      const older = bars.filter((bar) => at(bar) < at(first)).reverse();
      this.#rest = older.length || next === null ? null : { end, page: next };
      if (older.length || next === null || this.#isEnded) return older;
      page = next;
    }
    return [];
  }

  #wait(seconds: number | null, again: () => void): void {
    this.#enter(seconds === null ? "failed" : "waiting");
    if (seconds !== null) this.#stopWaiting = this.options.later(again, seconds);
  }

  #enter(state: PastState): void {
    this.state = state;
    this.options.onState(state);
  }
}
