import { ChangeQueue } from "./change-queue.ts";
import type { Connection } from "./connection.ts";
import type { Copy } from "./copy.ts";
import { StreamRefused } from "./errors.ts";
import type { Feed, FeedOptions, FeedState } from "./feed.ts";
import type { FeedName, Quote } from "./frames.ts";
import { findPlaces, unknownSymbols } from "./lookup.ts";
import { FEEDS } from "./names.ts";
import type { Rest } from "./rest.ts";

/** The routes of one service, and how to open its feeds. */
export interface Service {
  readonly rest: Rest;
  connect(): Connection;
}

/**
 * Changes of a list of symbols, over all feeds on one socket, for `for await`.
 *
 * It reconnects indefinitely and resumes by the cursors of its copies. The loop throws UnknownSymbols if no feed has any of
 * them, StreamRefused if connecting again cannot help, and what `Rest.call` throws if the service is not there at the
 * beginning.
 */
export abstract class Following<T> implements AsyncIterableIterator<T> {
  /** Names that no feed has. */
  unknown: readonly string[] = [];
  protected readonly changes = new ChangeQueue<T>();
  readonly #feeds = new Map<FeedName, Feed<FeedName>>();
  #connection: Connection | undefined;
  #hasBegun = false;

  constructor(
    protected readonly service: Service,
    private readonly names: Iterable<string>,
    private readonly options: FeedOptions<FeedName>,
  ) {}

  /** The copy of each feed, for its `quotes`, `bars` and `cursor`. */
  get copies(): ReadonlyMap<FeedName, Copy> {
    return new Map([...this.#feeds].map(([name, feed]) => [name, feed.copy]));
  }

  /** The last quote of every symbol; of equal symbols that of the first feed. */
  get quotes(): ReadonlyMap<string, Quote> {
    return new Map([...this.#feeds.values()].reverse().flatMap(({ copy }) => [...copy.quotes]));
  }

  get states(): ReadonlyMap<FeedName, FeedState> {
    return new Map([...this.#feeds].map(([name, feed]) => [name, feed.state]));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#begin().catch((error) => this.#end(error));
    }
    const change = await this.changes.next();
    return change === null ? { done: true, value: undefined } : { done: false, value: change };
  }

  /** Ends the stream; `break` in a loop does it too. */
  async return(): Promise<IteratorResult<T, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  /** Ends the stream. */
  close(): void {
    this.#end();
    this.changes.close();
  }

  get isClosed(): boolean {
    return this.changes.isClosed;
  }

  /** Returns the callbacks by which the changes of a feed come. */
  protected abstract optionsOf(name: FeedName): FeedOptions<FeedName>;

  protected feed(name: FeedName): Feed<FeedName> {
    return this.#feeds.get(name) as Feed<FeedName>;
  }

  /** Asks the service which feed has which symbol, and follows them. */
  async #begin(): Promise<void> {
    const { places, unknown } = await findPlaces(this.service.rest, this.names);
    this.unknown = unknown;
    if (!places.size) throw await unknownSymbols(this.service.rest, unknown);
    if (this.isClosed) return;
    const connection = this.service.connect();
    this.#connection = connection;
    for (const name of FEEDS) {
      const symbols = [...places.values()].filter(({ feed }) => feed === name).map(({ symbol }) => symbol);
      if (symbols.length) this.#follow(connection, name, symbols.includes("all") ? "all" : symbols);
    }
  }

  #follow(connection: Connection, name: FeedName, symbols: readonly string[] | "all"): void {
    const feed = connection.feed<FeedName>(name, {
      ...this.options,
      ...this.optionsOf(name),
      onState: (state) => state === "refused" && this.#endIfRefused(),
      onError: (detail, code) => this.#end(new StreamRefused(detail, code)),
    });
    this.#feeds.set(name, feed);
    feed.follow(symbols);
  }

  #endIfRefused(): void {
    const feeds = [...this.#feeds.values()];
    const [first] = feeds;
    if (first && feeds.every(({ state }) => state === "refused"))
      this.#end(new StreamRefused(first.refusalDetail || "the service refuses the stream", first.refusal));
  }

  #end(error?: unknown): void {
    this.#connection?.close();
    this.changes.end(error);
  }
}
