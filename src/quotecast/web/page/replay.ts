import { signal } from "@preact/signals";

import { type FeedName, Replay, type ReplayOptions } from "quotecast-client";
import type { AnyQuote, Painter, QuoteSource } from "./live.ts";
import { ticket } from "./service.ts";

/** The feed of which the watchlist plays recorded quotes, from which moment (ISO 8601), and how many times as fast. */
export type Rewind = Pick<ReplayOptions<FeedName>, "feed" | "at" | "speed">;
type Listeners = Pick<ReplayOptions<FeedName>, "onMoment" | "onEnd">;

/** Whether the service records its feeds; false until it has said so. */
export const isRecorded = signal(false);

/** Null while the watchlist is live. */
export const rewind = signal<Rewind | null>(null);

/** Recorded quotes of one feed, for a table. */
export class ReplayedQuotes implements QuoteSource {
  readonly #replay: Replay<FeedName>;
  readonly #painters = new Map<string, Set<Painter>>();

  constructor(start: Rewind, symbols: readonly string[], listeners: Listeners) {
    this.#replay = new Replay<FeedName>({
      ...start,
      ...listeners,
      symbols,
      address: location.origin,
      ticket,
      onChange: ({ keys }) => {
        for (const key of keys) this.#paint(key);
      },
    });
  }

  quote(_feed: FeedName, key: string): AnyQuote | undefined {
    return this.#replay.copy.quotes.get(key);
  }

  watch(feed: FeedName, key: string, painter: Painter): () => void {
    const painters = this.#painters.get(key) ?? new Set();
    this.#painters.set(key, painters.add(painter));
    const quote = this.quote(feed, key);
    if (quote) painter(quote);
    return () => painters.delete(painter);
  }

  close(): void {
    this.#replay.close();
  }

  #paint(key: string): void {
    const quote = this.#replay.copy.quotes.get(key);
    if (quote) for (const painter of this.#painters.get(key) ?? []) painter(quote);
  }
}
