import type { Change } from "./copy.ts";
import type { FeedOptions } from "./feed.ts";
import { Following } from "./following.ts";
import type { FeedName, Quote, QuoteOf } from "./frames.ts";

/** A quote that changed; `quote` is the last one of a symbol that was removed. */
export type QuoteChange = {
  [N in FeedName]: {
    readonly feed: N;
    readonly symbol: string;
    readonly quote: QuoteOf[N];
    readonly removed: boolean;
  };
}[FeedName];

/** Changes of quotes. A slow reader gets the newest quote of each symbol. */
export class Stream extends Following<QuoteChange> {
  /** The last quotes, by feed and symbol: a snapshot repeats some, and a removed one is no longer in the copy. */
  readonly #last = new Map<string, Quote>();

  protected override optionsOf(name: FeedName): FeedOptions<FeedName> {
    return { onChange: (change, { quotes }) => this.#note(name, change, quotes) };
  }

  #note(feed: FeedName, { keys, removed }: Change, quotes: ReadonlyMap<string, Quote>): void {
    for (const symbol of keys) {
      const quote = quotes.get(symbol);
      if (quote && !isSame(this.#last.get(`${feed}:${symbol}`), quote)) this.#put(feed, symbol, quote, false);
    }
    for (const symbol of removed) {
      const quote = this.#last.get(`${feed}:${symbol}`);
      if (quote) this.#put(feed, symbol, quote, true);
    }
  }

  #put(feed: FeedName, symbol: string, quote: Quote, removed: boolean): void {
    const key = `${feed}:${symbol}`;
    if (removed) this.#last.delete(key);
    else this.#last.set(key, quote);
    this.changes.put(key, { feed, symbol, quote, removed } as QuoteChange);
  }
}

function isSame(one: object | undefined, other: object): boolean {
  if (one === undefined) return false;
  const [fields, others] = [Object.entries(one), Object.entries(other)];
  return (
    fields.length === others.length && others.every(([name, value]) => (one as typeof other)[name as never] === value)
  );
}
