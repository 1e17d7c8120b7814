import { Connection } from "../connection.ts";
import type { Change, Copy } from "../copy.ts";
import type { Feed } from "../feed.ts";
import type { FeedName } from "../frames.ts";
import type { BarsChange, LiveBar, LiveInterval } from "../live-bars.ts";
import type { SymbolInfo } from "./types.ts";

/** The callbacks of a subscription to a symbol. */
export interface Listener {
  readonly feed: FeedName;
  readonly key: string;
  /** Takes a bar. `isBroken` if closed bars may have been missed before it. */
  onBar?(bar: LiveBar, isBroken: boolean): void;
  onQuote?(quote: Record<string, unknown>): void;
}

/** Returns the feed of a symbol. */
export function feedOf({ type }: Pick<SymbolInfo, "type">): FeedName {
  return type === "stock" ? "market" : type === "crypto" ? "crypto" : "doviz";
}

/**
 * One socket that follows the symbols of its listeners, with bars of one interval or none.
 *
 * A connection has one interval of bars for each feed, so charts of several resolutions need several lines.
 */
export class Line {
  readonly #listeners = new Set<Listener>();
  readonly #feeds = new Map<FeedName, Feed<FeedName>>();
  /** Symbols whose closed bars may be missing until their next bar. */
  readonly #broken = new Set<Listener>();
  #connection: Connection | null = null;

  constructor(
    private readonly address: string,
    private readonly bars: LiveInterval | "none",
  ) {}

  add(listener: Listener): void {
    this.#listeners.add(listener);
    this.#broken.add(listener);
    this.#follow(listener.feed);
    if (listener.onQuote) this.#tellQuote(listener, this.#feeds.get(listener.feed)?.copy);
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener);
    this.#broken.delete(listener);
    if (this.#listeners.size) this.#follow(listener.feed);
    else this.#close();
  }

  #close(): void {
    this.#connection?.close();
    this.#connection = null;
    this.#feeds.clear();
  }

  #follow(name: FeedName): void {
    this.#connection ??= new Connection({ address: this.address });
    const feed = this.#feeds.get(name) ?? this.#open(this.#connection, name);
    feed.follow([...this.#listeners].filter((each) => each.feed === name).map((each) => each.key));
  }

  #open(connection: Connection, name: FeedName): Feed<FeedName> {
    const feed = connection.feed(name, {
      bars: this.bars,
      onBars: (change) => this.#takeBars(name, change),
      onChange: (change, copy) => this.#takeQuotes(name, change, copy),
    });
    this.#feeds.set(name, feed as Feed<FeedName>);
    return feed as Feed<FeedName>;
  }

  #takeBars(name: FeedName, { bars, missing }: BarsChange): void {
    const listeners = this.#of(name);
    if (missing === "all") for (const each of listeners) this.#broken.add(each);
    for (const bar of bars) {
      for (const each of listeners) {
        if (each.key !== bar.key) continue;
        each.onBar?.(bar, this.#broken.delete(each));
      }
    }
  }

  #takeQuotes(name: FeedName, { keys }: Change, copy: Copy<FeedName>): void {
    const changed = new Set(keys);
    for (const each of this.#of(name)) if (changed.has(each.key)) this.#tellQuote(each, copy);
  }

  #tellQuote(listener: Listener, copy: Copy<FeedName> | undefined): void {
    const quote = copy?.quotes.get(listener.key);
    if (quote) listener.onQuote?.(quote as unknown as Record<string, unknown>);
  }

  #of(name: FeedName): Listener[] {
    return [...this.#listeners].filter((each) => each.feed === name);
  }
}
