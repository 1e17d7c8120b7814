import type { Change, Connection, Feed, FeedName, FeedState, QuoteOf } from "quotecast-client";

export type AnyQuote = QuoteOf[FeedName];
export type Painter = (quote: AnyQuote) => void;

export const FEEDS: readonly FeedName[] = ["market", "crypto", "doviz"];

/** From this many symbols on, the page follows the whole feed: a smaller request. */
const NAMES_AT_MOST = 300;
/** Wait in which panes that open together share one request. */
const FOLLOW_AFTER_MS = 30;
const LIT_FOR_MS = 350;
/** Less than the feeds' interval, so that flushes keep in step with one feed, the leader. */
const FLUSH_EVERY_MS = 240;
/** The time for which news of other feeds waits for the leader. */
const LEADER_LATE_MS = 40;
/** The time for which other requests wait for the first quotes. */
const QUOTES_FIRST_MS = 1000;
/** Wait in which nearly simultaneous changes share a flush. */
const GATHER_MS = 20;

/** Figures of one feed for the status line. */
export interface FeedFigures {
  readonly feed: Feed<FeedName>;
  /** Milliseconds from tick to screen, smoothed; null before the first tick. */
  delay: number | null;
}

/**
 * Live quotes on the screen.
 *
 * A component watches the quotes that it shows; the page subscribes to no others. A flush paints the changes
 * since the last one: each quote once, in its newest form. A hidden page has no frames and does no work.
 */
export class Live {
  readonly figures = {} as Record<FeedName, FeedFigures>;
  readonly #painters = {} as Record<FeedName, Map<string, Set<Painter>>>;
  readonly #dirty = {} as Record<FeedName, Set<string>>;
  /** The newest timestamp among the updates of the next flush. */
  readonly #newest: Partial<Record<FeedName, string>> = {};
  /** Quotes of the last visit, until the first ones of this visit come. */
  readonly #past: Partial<Record<FeedName, Map<string, AnyQuote>>> = {};
  /** Recorded quotes by feed, which the page shows in place of the present ones; null while it is live. */
  #played: Partial<Record<FeedName, ReadonlyMap<string, AnyQuote>>> | null = null;
  readonly #lit = new Map<Element, number>();
  readonly #afterPaint = new Set<() => unknown>();
  readonly #onceFlushed = new Set<() => unknown>();
  /** The first feed with news in the last flush; the next flush comes right after its news. */
  #leader: FeedName | undefined;
  #flushedAt = 0;
  #dueAt = 0;
  #pending: ReturnType<typeof setTimeout> | undefined;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #following: ReturnType<typeof setTimeout> | undefined;
  readonly #connection: Connection;
  #begin = () => {};
  /** Settles with the first quotes on the screen, or after a second without: what else loads waits for it. */
  readonly begun = new Promise<void>((settle) => {
    this.#begin = settle;
    setTimeout(settle, QUOTES_FIRST_MS);
  });

  constructor(connection: Connection, onState: (feed: FeedName, state: FeedState) => void) {
    this.#connection = connection;
    for (const name of FEEDS) {
      const feed = this.#connection.feed<FeedName>(name, {
        onChange: (change) => this.#noteChange(name, change),
        onState: (state) => onState(name, state),
      });
      this.figures[name] = { feed, delay: null };
      this.#painters[name] = new Map();
      this.#dirty[name] = new Set();
    }
  }

  /** Returns the service's time in Unix milliseconds. */
  serverTime(): number {
    return this.#connection.serverTime();
  }

  /** Returns the quote to show; undefined for a symbol that the page does not follow. */
  quote(feed: FeedName, key: string): AnyQuote | undefined {
    return this.#played ? this.#played[feed]?.get(key) : this.present(feed, key);
  }

  /** Returns the last quote of the present, whatever the page shows. */
  present(feed: FeedName, key: string): AnyQuote | undefined {
    return this.figures[feed].feed.copy.quotes.get(key) ?? this.#past[feed]?.get(key);
  }

  /** Shows recorded quotes in place of the present ones; none until `play` brings some. */
  beginReplay(): void {
    this.#played ??= {};
  }

  /** Shows the recorded quotes of a feed, of which some have changed. */
  play(feed: FeedName, quotes: ReadonlyMap<string, AnyQuote>, changed: readonly string[]): void {
    if (!this.#played) return;
    this.#played[feed] = quotes;
    for (const key of changed) this.#dirty[feed].add(key);
    this.#flushSoon();
  }

  /** Shows the present quotes again. */
  endReplay(): void {
    if (!this.#played) return;
    this.#played = null;
    for (const feed of FEEDS) for (const key of this.#painters[feed].keys()) this.#dirty[feed].add(key);
    this.#flushSoon();
  }

  /** Shows quotes of the last visit of a feed that has none yet. */
  recall(feed: FeedName, quotes: Map<string, AnyQuote>): void {
    if (this.figures[feed].feed.lastQuotesAt) return;
    this.#past[feed] = quotes;
    for (const key of quotes.keys()) this.#dirty[feed].add(key);
    this.#flushSoon();
  }

  /** Paints a quote now and at every change; the returned function ends that. */
  watch(feed: FeedName, key: string, painter: Painter): () => void {
    const painters = this.#painters[feed];
    const known = painters.get(key) ?? new Set();
    painters.set(key, known.add(painter));
    const quote = this.quote(feed, key);
    if (quote) painter(quote);
    this.#followSoon();
    return () => {
      known.delete(painter);
      if (!known.size && painters.get(key) === known) painters.delete(key);
      this.#followSoon();
    };
  }

  /** Calls back after each flush; the returned function ends that. */
  onPaint(callback: () => unknown): () => void {
    this.#afterPaint.add(callback);
    return () => this.#afterPaint.delete(callback);
  }

  /** Calls back once, in the next flush: changes by the clock need no frame of their own. */
  onNextFlush(callback: () => unknown): void {
    this.#onceFlushed.add(callback);
    this.#flushIfQuiet();
  }

  /** Lights a cell up for a moment, without an animation, which would draw frames without news. */
  lightUp(element: Element, name: "lit-rise" | "lit-fall"): void {
    element.classList.remove("lit-rise", "lit-fall");
    element.classList.add(name);
    this.#lit.set(element, performance.now() + LIT_FOR_MS);
  }

  #noteChange(feed: FeedName, change: Change): void {
    delete this.#past[feed];
    this.#afterPaint.add(this.#begin);
    if (this.#played) return;
    for (const key of change.keys) this.#dirty[feed].add(key);
    if (change.isUpdate) for (const key of change.keys) this.#noteTime(feed, this.quote(feed, key)?.timestamp ?? "");
    this.#flushSoon(feed === this.#leader ? 0 : LEADER_LATE_MS);
  }

  /**
   * Changes share a flush where they can, for a frame costs more than the changes in it. The flush comes before
   * the frame, so that the chart draws in the same one; a hidden page waits for its next frame.
   */
  #flushSoon(later = 0): void {
    const now = performance.now();
    const dueAt = Math.max(now + GATHER_MS, this.#flushedAt + FLUSH_EVERY_MS + later);
    if (this.#pending !== undefined && dueAt >= this.#dueAt) return;
    clearTimeout(this.#pending);
    this.#dueAt = dueAt;
    const flush = () => this.#flush();
    this.#pending = setTimeout(() => (document.hidden ? requestAnimationFrame(flush) : flush()), dueAt - now);
  }

  /** Flushes only if no quotes do: while quotes come, their flushes set the pace. */
  #flushIfQuiet(): void {
    this.#quiet ??= setTimeout(() => this.#flushSoon(), LIT_FOR_MS);
  }

  #flush(): void {
    clearTimeout(this.#quiet);
    this.#pending = undefined;
    this.#quiet = undefined;
    const now = performance.now();
    this.#flushedAt = now;
    this.#leader = FEEDS.find((feed) => this.#dirty[feed].size) ?? this.#leader;
    this.#dim(now);
    const callbacks = [...this.#onceFlushed];
    this.#onceFlushed.clear();
    for (const callback of callbacks) callback();
    for (const feed of FEEDS) this.#paint(feed);
    for (const callback of this.#afterPaint) callback();
    if (this.#lit.size) this.#flushIfQuiet();
  }

  #paint(feed: FeedName): void {
    const [dirty, painters] = [this.#dirty[feed], this.#painters[feed]];
    for (const key of dirty) {
      const quote = this.quote(feed, key);
      if (!quote) continue;
      for (const painter of painters.get(key) ?? []) painter(quote);
    }
    dirty.clear();
    const newest = this.#newest[feed];
    if (newest) this.#measure(this.figures[feed], newest);
    delete this.#newest[feed];
  }

  #noteTime(feed: FeedName, timestamp: string): void {
    if (timestamp > (this.#newest[feed] ?? "")) this.#newest[feed] = timestamp;
  }

  #measure(figures: FeedFigures, timestamp: string): void {
    const delay = Math.max(0, this.serverTime() - Date.parse(timestamp));
    figures.delay = figures.delay === null ? delay : 0.8 * figures.delay + 0.2 * delay;
  }

  #dim(now: number): void {
    for (const [element, until] of this.#lit) {
      if (until > now) continue;
      element.classList.remove("lit-rise", "lit-fall");
      this.#lit.delete(element);
    }
  }

  #followSoon(): void {
    this.#following ??= setTimeout(() => {
      this.#following = undefined;
      for (const name of FEEDS) this.#follow(name);
    }, FOLLOW_AFTER_MS);
  }

  #follow(name: FeedName): void {
    const wanted = [...this.#painters[name].keys()];
    // The page follows the two small feeds whole, so that it can sort and scroll their lists at once.
    const whole = wanted.length > NAMES_AT_MOST || (name !== "market" && wanted.length > 0);
    this.figures[name].feed.follow(whole ? "all" : wanted);
  }
}

/** Checks a connection when the network may have changed; the returned function ends that. */
export function checkWithBrowser(connection: Connection): () => void {
  const end = new AbortController();
  const check = () => connection.check();
  for (const event of ["online", "offline"]) addEventListener(event, check, { signal: end.signal });
  document.addEventListener("visibilitychange", () => document.hidden || check(), { signal: end.signal });
  return () => end.abort();
}
