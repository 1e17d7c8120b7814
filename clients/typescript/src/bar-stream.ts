import { Backoff } from "./backoff.ts";
import { readClosedBars } from "./closed-bars.ts";
import type { FeedOptions } from "./feed.ts";
import { Following, type Service } from "./following.ts";
import type { FeedName } from "./frames.ts";
import type { LiveBar, LiveInterval } from "./live-bars.ts";

/** A live bar that is new or changed; a final one never changes. */
export interface BarChange {
  readonly feed: FeedName;
  readonly symbol: string;
  readonly bar: LiveBar;
}

/** Live bars, and the closed ones before them. A slow reader gets the newest form of each bar. */
export class BarStream extends Following<BarChange> {
  readonly #backoff = new Backoff();
  /** Feeds whose closed bars are being read. */
  readonly #reading = new Set<FeedName>();

  constructor(service: Service, names: Iterable<string>, bars: LiveInterval, options: FeedOptions<FeedName>) {
    super(service, names, { ...options, fields: ["price"], bars });
  }

  protected override optionsOf(name: FeedName): FeedOptions<FeedName> {
    return {
      onBars: ({ bars }) => this.#put(name, bars),
      onChange: (_, { bars }) => {
        if (bars.isMissing && !this.#reading.has(name)) void this.#fill(name);
      },
    };
  }

  /** Reads the closed bars before the live ones, until it succeeds. */
  async #fill(name: FeedName): Promise<void> {
    this.#reading.add(name);
    const { copy } = this.feed(name);
    while (copy.bars.isMissing && !this.isClosed)
      try {
        const { missed } = copy.bars;
        this.#put(name, copy.bars.fill(await readClosedBars(this.service.rest, name, copy), missed));
        this.#backoff.reset();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, this.#backoff.wait()));
      }
    this.#reading.delete(name);
  }

  #put(feed: FeedName, bars: readonly LiveBar[]): void {
    for (const bar of bars) this.changes.put(`${feed}:${bar.key}:${bar.time}`, { feed, symbol: bar.key, bar });
  }
}
