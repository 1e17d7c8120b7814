import { Backoff } from "./backoff.ts";
import type { Connection } from "./connection.ts";
import type { Change } from "./copy.ts";
import type { Feed, FeedState } from "./feed.ts";
import type { Service } from "./following.ts";
import type { FeedName, Quote } from "./frames.ts";
import { findPlaces } from "./lookup.ts";
import { FEEDS, fold, namesIn, type Place, splitName } from "./names.ts";

type Listener = () => void;

/** Wait in which viewers that come and go together share one command. */
const GATHER_MS = 30;

const idOf = ({ feed, symbol }: Place): string => `${feed}:${fold(symbol)}`;

/** Quotes that several viewers share: one socket follows the symbols of all of them, while there are any. */
export class LiveQuotes {
  /** Listeners by the names that they watch. */
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #places = new Map<string, Place>();
  /** The last quotes, by feed and symbol. */
  readonly #quotes = new Map<string, Quote>();
  readonly #feeds = new Map<FeedName, Feed<FeedName>>();
  readonly #backoff = new Backoff();
  #connection: Connection | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Asks again after a failure; other viewers do not wait for it. */
  #retry: ReturnType<typeof setTimeout> | undefined;
  #syncing: Promise<void> = Promise.resolve();

  constructor(private readonly service: Service) {}

  /** The state of each feed that is followed. */
  get states(): ReadonlyMap<FeedName, FeedState> {
    return new Map([...this.#feeds].map(([name, { state }]) => [name, state]));
  }

  /** Returns the last quote of a name that somebody watches. */
  quote(name: string): Quote | undefined {
    const place = this.#places.get(name);
    return place && this.#quotes.get(idOf(place));
  }

  /** Calls `onChange` after each frame that changes a quote of these names; the returned function ends that. */
  watch(names: Iterable<string>, onChange: Listener): () => void {
    const watched = namesIn(names);
    // Two viewers may pass the same function.
    const listener = () => onChange();
    for (const name of watched) this.#listeners.set(name, (this.#listeners.get(name) ?? new Set()).add(listener));
    this.#syncSoon();
    return () => {
      for (const name of watched) {
        const listeners = this.#listeners.get(name);
        listeners?.delete(listener);
        if (!listeners?.size) this.#listeners.delete(name);
      }
      this.#syncSoon();
    };
  }

  #syncSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#syncing = this.#syncing.then(() => this.#sync()).catch(() => this.#tryLater());
    }, GATHER_MS);
  }

  /** Follows the names that somebody watches, and only those. */
  async #sync(): Promise<void> {
    const unplaced = [...this.#listeners.keys()].filter((name) => !this.#places.has(name));
    if (unplaced.length) await this.#find(unplaced);
    const places = [...this.#listeners.keys()].flatMap((name) => this.#places.get(name) ?? []);
    const ids = new Set(places.map(idOf));
    for (const id of this.#quotes.keys()) if (!ids.has(id)) this.#quotes.delete(id);
    if (!this.#listeners.size) this.#close();
    else for (const feed of FEEDS) this.#follow(feed, places);
  }

  /** Asks the service which feed has which symbol; after a failure again, later. */
  async #find(names: readonly string[]): Promise<void> {
    const open = names.filter((name) => !this.#placeAtOnce(name));
    try {
      const { places } = await findPlaces(this.service.rest, open);
      for (const [name, place] of places) this.#places.set(name, place);
      this.#backoff.reset();
    } catch {
      this.#tryLater();
    }
  }

  /** Places a name that says its feed: a failed lookup of others must not hold it up. */
  #placeAtOnce(name: string): boolean {
    const { feeds, symbol } = splitName(name);
    const [feed, ...others] = feeds;
    if (feed && !others.length) this.#places.set(name, { feed, symbol });
    return this.#places.has(name);
  }

  #tryLater(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#syncSoon(), this.#backoff.wait());
  }

  #follow(name: FeedName, places: readonly Place[]): void {
    const symbols = new Set(places.filter(({ feed }) => feed === name).map(({ symbol }) => symbol));
    if (!symbols.size && !this.#feeds.has(name)) return;
    this.#connection ??= this.service.connect();
    const feed = this.#feeds.get(name) ?? this.#connection.feed<FeedName>(name, this.#optionsOf(name));
    this.#feeds.set(name, feed);
    feed.follow(symbols);
  }

  #optionsOf(name: FeedName) {
    return {
      onChange: (change: Change, { quotes }: { quotes: ReadonlyMap<string, Quote> }) =>
        this.#note(name, change, quotes),
    };
  }

  #note(feed: FeedName, { keys, removed }: Change, quotes: ReadonlyMap<string, Quote>): void {
    for (const symbol of removed) this.#quotes.delete(idOf({ feed, symbol }));
    for (const symbol of keys) this.#quotes.set(idOf({ feed, symbol }), quotes.get(symbol) as Quote);
    const changed = new Set([...keys, ...removed].map((symbol) => idOf({ feed, symbol })));
    const listeners = new Set<Listener>();
    for (const [name, those] of this.#listeners) {
      const place = this.#places.get(name);
      if (place && changed.has(idOf(place))) for (const each of those) listeners.add(each);
    }
    for (const listener of listeners) listener();
  }

  #close(): void {
    clearTimeout(this.#retry);
    this.#connection?.close();
    this.#connection = undefined;
    this.#feeds.clear();
  }
}
