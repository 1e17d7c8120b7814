import { type Change, Feed, type FeedName, type FeedState, type QuoteOf } from "../client/index.ts";

export type AnyQuote = QuoteOf[FeedName];
/** Paints a quote; `continues` says that nothing is missing between it and the one painted before. */
export type Painter = (quote: AnyQuote, continues: boolean) => void;

export const FEEDS: readonly FeedName[] = ["market", "crypto", "doviz"];

/** Beyond this many names the whole feed is the smaller request. */
const NAMES_AT_MOST = 300;
/** Panes that open together ask once. */
const FOLLOW_AFTER_MS = 30;
const LIT_FOR_MS = 350;
/** Less than the interval of the feeds, so that flushes keep in step with one of them. */
const FLUSH_EVERY_MS = 240;
/** How long that one is waited for while others have news. */
const LEADER_LATE_MS = 40;
/** What comes at nearly the same moment is painted together. */
const GATHER_MS = 20;

/** What one feed looks like on the status line. */
export interface FeedFigures {
  readonly feed: Feed<FeedName>;
  /** Milliseconds from the tick to the screen, smoothed; null before the first. */
  delay: number | null;
}

/**
 * Live quotes on the screen.
 *
 * Whoever shows a quote watches it; what nobody watches is not even subscribed. What came since the last
 * animation frame is painted in the next one, each quote once and in its newest form; a hidden page has no
 * frames, so it does no work.
 */
export class Live {
  readonly figures = {} as Record<FeedName, FeedFigures>;
  readonly #painters = {} as Record<FeedName, Map<string, Set<Painter>>>;
  readonly #dirty = {} as Record<FeedName, Set<string>>;
  /** What came with a snapshot since the last flush: updates before it may be missing. */
  readonly #jumped = {} as Record<FeedName, Set<string>>;
  /** The newest time of what is to be painted, if it changed just now. */
  readonly #newest: Partial<Record<FeedName, string>> = {};
  readonly #lit = new Map<Element, number>();
  readonly #afterPaint = new Set<() => unknown>();
  readonly #joined = new Set<() => unknown>();
  /** The first of the feeds that had news for the last flush: the next one comes right after its news. */
  #leader: FeedName | undefined;
  #flushedAt = 0;
  #dueAt = 0;
  #pending: ReturnType<typeof setTimeout> | undefined;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #following: ReturnType<typeof setTimeout> | undefined;

  constructor(address: string, onState: (feed: FeedName, state: FeedState) => void) {
    for (const name of FEEDS) {
      const feed = new Feed<FeedName>({
        address,
        feed: name,
        onChange: (change) => this.#changed(name, change),
        onState: (state) => onState(name, state),
      });
      this.figures[name] = { feed, delay: null };
      this.#painters[name] = new Map();
      this.#dirty[name] = new Set();
      this.#jumped[name] = new Set();
    }
    const check = () => {
      for (const name of FEEDS) this.figures[name].feed.check();
    };
    for (const event of ["online", "offline"]) addEventListener(event, check);
    document.addEventListener("visibilitychange", () => document.hidden || check());
  }

  /** The last quote, if this page follows the symbol. */
  quote(feed: FeedName, key: string): AnyQuote | undefined {
    return this.figures[feed].feed.copy.quotes.get(key);
  }

  /** Paints a quote now and whenever it changes, until the returned function is called. */
  watch(feed: FeedName, key: string, painter: Painter): () => void {
    const painters = this.#painters[feed];
    const known = painters.get(key) ?? new Set();
    painters.set(key, known.add(painter));
    const quote = this.quote(feed, key);
    if (quote) painter(quote, false);
    this.#followSoon();
    return () => {
      known.delete(painter);
      if (!known.size && painters.get(key) === known) painters.delete(key);
      this.#followSoon();
    };
  }

  /** Calls back after each flush, until the returned function is called. */
  onPaint(callback: () => unknown): () => void {
    this.#afterPaint.add(callback);
    return () => this.#afterPaint.delete(callback);
  }

  /** Calls back once, in the next flush: what changes by the clock needs no frame of its own. */
  join(callback: () => unknown): void {
    this.#joined.add(callback);
    this.#flushIfQuiet();
  }

  /** Lights a cell up for a moment: no animation, which would draw frames in which nothing is new. */
  light(element: Element, name: "lit-rise" | "lit-fall"): void {
    element.classList.remove("lit-rise", "lit-fall");
    element.classList.add(name);
    this.#lit.set(element, performance.now() + LIT_FOR_MS);
  }

  #changed(feed: FeedName, change: Change): void {
    for (const key of change.keys) this.#dirty[feed].add(key);
    for (const key of change.keys)
      if (change.isUpdate) this.#noteTime(feed, this.quote(feed, key)?.timestamp ?? "");
      else this.#jumped[feed].add(key);
    this.#flushSoon(feed === this.#leader ? 0 : LEADER_LATE_MS);
  }

  /**
   * All that moves shares a frame where it can: a frame costs more than what is new in it. Flushed before the
   * frame, not in it, the chart draws in the same one; a hidden page has to wait for one.
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

  /** While quotes come, their own flushes do what else is due, and set the pace. */
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
    const joined = [...this.#joined];
    this.#joined.clear();
    for (const callback of joined) callback();
    for (const feed of FEEDS) this.#paint(feed);
    for (const callback of this.#afterPaint) callback();
    if (this.#lit.size) this.#flushIfQuiet();
  }

  #paint(feed: FeedName): void {
    const [dirty, jumped, painters] = [this.#dirty[feed], this.#jumped[feed], this.#painters[feed]];
    for (const key of dirty) {
      const quote = this.quote(feed, key);
      if (!quote) continue;
      for (const painter of painters.get(key) ?? []) painter(quote, !jumped.has(key));
    }
    dirty.clear();
    jumped.clear();
    const newest = this.#newest[feed];
    if (newest) this.#measure(this.figures[feed], newest);
    delete this.#newest[feed];
  }

  #noteTime(feed: FeedName, timestamp: string): void {
    if (timestamp > (this.#newest[feed] ?? "")) this.#newest[feed] = timestamp;
  }

  #measure(figures: FeedFigures, timestamp: string): void {
    const delay = Math.max(0, Date.now() + figures.feed.clockOffset - Date.parse(timestamp));
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
    // The two small feeds are followed whole, so that lists can be sorted and scrolled at once.
    const whole = wanted.length > NAMES_AT_MOST || (name !== "market" && wanted.length > 0);
    this.figures[name].feed.follow(whole ? "all" : wanted);
  }
}
