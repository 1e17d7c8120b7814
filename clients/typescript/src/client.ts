import { BarStream } from "./bar-stream.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import type { FeedOptions } from "./feed.ts";
import type { FeedName, Quote, QuoteOf } from "./frames.ts";
import { type BarsOptions, type HistoryBar, readBars } from "./history.ts";
import { checkedKey } from "./keys.ts";
import type { LiveInterval } from "./live-bars.ts";
import { LiveQuotes } from "./live-quotes.ts";
import { findPlaces, findQuotes, unknownSymbols } from "./lookup.ts";
import { type Answer, type Given, type Page, Rest, type RestOptions, type Route } from "./rest.ts";
import type { SearchResult, Session } from "./rest-types.ts";
import { fetchWithRetries, type RetryOptions } from "./retries.ts";
import { checkedAddress } from "./service-address.ts";
import { Stream } from "./stream.ts";
import { userTicket } from "./user-ticket.ts";

export interface ClientOptions
  extends RetryOptions,
    Pick<RestOptions, "fetch" | "onLimit">,
    Omit<ConnectionOptions, "address" | "backoff"> {
  /** The token of a user who has logged in. */
  readonly token?: string | null;
  /** An API key, for servers and programs. A page has `ticket` instead, so that the key never reaches the browser. */
  readonly apiKey?: string;
  /** Origin of the feeds, if it is another than that of the routes. */
  readonly feeds?: string;
}

export type StreamOptions = Pick<FeedOptions<FeedName>, "interval" | "fields">;

/**
 * A client of one service: `new Client("http://127.0.0.1:8000")`.
 *
 * A name is a symbol of any feed in any case, such as `AAPL`, `BTC/USDT` or `gram-altin`. Of market, crypto and doviz the
 * first one that has it is meant; `doviz:USD` names the feed.
 */
export class Client {
  /** The token of a user who has logged in; null without one. */
  token: string | null;
  readonly rest: Rest;
  /** Origin of the service, such as `https://quotes.example.com`. */
  readonly address: string;
  readonly #live: LiveQuotes;
  readonly #connection: ConnectionOptions;

  constructor(address: string, options: ClientOptions = {}) {
    this.address = checkedAddress(address);
    this.token = options.token ?? null;
    const { apiKey, feeds = this.address, encoding, WebSocket } = options;
    if (apiKey !== undefined && options.ticket) throw new TypeError("A client has an API key or tickets, not both");
    const key = apiKey === undefined ? null : checkedKey(apiKey);
    this.rest = new Rest({
      address: this.address,
      token: () => this.token,
      apiKey: () => key,
      fetch: fetchWithRetries(options.fetch ?? fetch, options),
      ...(options.onLimit ? { onLimit: options.onLimit } : {}),
    });
    const ticket = key === null ? (options.ticket ?? (() => this.#userTicket())) : () => this.newTicket();
    this.#connection = {
      address: feeds,
      ...(encoding ? { encoding } : {}),
      ...(WebSocket ? { WebSocket } : {}),
      ticket,
    };
    this.#live = new LiveQuotes(this);
  }

  /** Quotes that several viewers share, such as the components of a page: one socket follows all of their symbols. */
  get live(): LiveQuotes {
    return this.#live;
  }

  /**
   * Calls a route by its name in the API reference, such as `GET /api/market/movers`, and returns the body of its answer.
   *
   * Throws ApiError for an error answer, RateLimited past a limit, and ConnectionFailed without an answer.
   */
  call<N extends Route>(name: N, ...given: Given<N>): Promise<Answer<N>> {
    return this.rest.call(name, ...given);
  }

  /** Calls a route as `call` does, and returns the body with the `page` of the next one: null on the last page. */
  page<N extends Route>(name: N, ...given: Given<N>): Promise<Page<Answer<N>>> {
    return this.rest.page(name, ...given);
  }

  /** Returns quotes by the names that ask for them, without unknown names; `crypto:all` asks for all of a feed. */
  async quotes(names: Iterable<string>): Promise<Record<string, Quote>> {
    const found = await findQuotes(this.rest, names);
    return Object.fromEntries([...found].map(([name, { quote }]) => [name, quote]));
  }

  /**
   * Returns all quotes of a feed in the order of symbols, for `for await`, by pages of `size`, at most 1000: for feeds of
   * thousands of symbols, whose quotes are too many for one answer.
   */
  async *allQuotes<F extends FeedName>(feed: F, size = 1000): AsyncGenerator<QuoteOf[F]> {
    let after: string | null = "";
    while (after !== null) {
      const page: Page<Record<string, Quote>> = await this.page(`GET /api/${feed as FeedName}/quotes`, {
        query: { limit: size, after },
      });
      yield* Object.values(page.data) as QuoteOf[F][];
      after = page.next;
    }
  }

  /** Returns bars of a symbol, the oldest first: those of a span, or the newest. */
  async bars(name: string, options: BarsOptions = {}): Promise<HistoryBar[]> {
    const { places, unknown } = await findPlaces(this.rest, [name]);
    const place = places.get(name);
    if (!place) throw await unknownSymbols(this.rest, unknown);
    return readBars(this.rest, place, options);
  }

  /** Returns instruments of all feeds whose symbol or name matches. */
  search(text: string, limit?: number): Promise<SearchResult[]> {
    return this.call("GET /api/search", { query: { q: text, ...(limit ? { limit } : {}) } });
  }

  /** Returns the changes of quotes, for `for await`; a symbol has at most one per `interval` milliseconds. */
  stream(names: Iterable<string>, options: StreamOptions = {}): Stream {
    return new Stream(this, names, options);
  }

  /** Returns live bars, and the closed ones before them, for `for await`. */
  streamBars(names: Iterable<string>, bars: LiveInterval, options: Pick<StreamOptions, "interval"> = {}): BarStream {
    return new BarStream(this, names, bars, options);
  }

  /** Opens a socket for all feeds. */
  connect(): Connection {
    return new Connection(this.#connection);
  }

  /**
   * Returns a ticket of the API key, which opens one socket or event stream within 30 seconds.
   *
   * A server gives it to a page. Throws as `call`.
   */
  async newTicket(): Promise<string> {
    const { ticket } = await this.call("POST /api/keys/ticket");
    return ticket;
  }

  async #userTicket(): Promise<string | null> {
    return this.token === null ? null : userTicket(this.rest);
  }

  /** Creates a user, whose token later calls have. */
  async register(name: string, email: string, password: string): Promise<Session> {
    return this.#use(await this.call("POST /api/auth/register", { body: { name, email, password } }));
  }

  /** Logs in; later calls have the token. */
  async login(email: string, password: string): Promise<Session> {
    return this.#use(await this.call("POST /api/auth/login", { body: { email, password } }));
  }

  /** Ends the session, so that its token is void at once. */
  async logout(): Promise<void> {
    await this.call("DELETE /api/auth/sessions/{session_id}", { path: { session_id: "current" } });
    this.token = null;
  }

  #use(session: Session): Session {
    this.token = session.token;
    return session;
  }
}
