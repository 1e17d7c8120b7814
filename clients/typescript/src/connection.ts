import { Backoff } from "./backoff.ts";
import { type Encoding, ROWS } from "./encodings.ts";
import { ApiError, StreamRefused } from "./errors.ts";
import { Feed, type FeedOptions } from "./feed.ts";
import type { Pong, WelcomeToAll } from "./feed-types.ts";
import type { Command, FeedFrame, FeedName, Frame } from "./frames.ts";
import { addressWith, type TicketSource } from "./keys.ts";

/** The class of a WebSocket: that of browsers, Node 22, Bun and Deno, or of the package `ws`. */
export type SocketConstructor = new (url: string, protocols: string[]) => object;

export interface ConnectionOptions {
  /** Origin of the service, such as `https://quotes.example.com`. */
  readonly address: string;
  readonly encoding?: Encoding;
  readonly backoff?: Backoff;
  /** Asked before each connection, for a ticket that opens it. */
  readonly ticket?: TicketSource;
  /** The runtime's own by default; Node before 22 has none. */
  readonly WebSocket?: SocketConstructor;
}

/** The methods of a feed that a connection calls, for any type of quotes. */
type AnyFeed = Pick<Feed<FeedName>, "open" | "end" | "take">;

const DEFAULT_HEARTBEAT_MS = 15_000;
/** Time limit for a pong when the connection is in doubt. */
const PONG_MS = 3000;
/** Wait after a ticket that failed, before the rights are renewed. */
const RENEW_AGAIN_MS = 5000;
/** The code of a feed without a provider. */
const NO_PROVIDER = 404;
/** Close codes in this range are final: the client does not reconnect. */
const [HOPELESS_FROM, HOPELESS_BEFORE] = [4400, 4450];
/** HTTP statuses by which the service refuses to make a ticket for a key. */
const TICKET_REFUSALS = new Set([401, 403]);

/**
 * One WebSocket for all feeds of a service.
 *
 * It reconnects after growing waits, or when the server says. If no frame arrives for two heartbeats, it counts as
 * lost.
 */
export class Connection {
  /** Unix milliseconds of the service when this page's timer was 0. */
  #serverStart = Date.now() - performance.now();
  readonly #feeds = new Map<FeedName, AnyFeed>();
  #socket: WebSocket | null = null;
  /** The question for a ticket that has no answer yet. */
  #asking: object | null = null;
  /** Whether a ticket opened the present socket. */
  #hasTicket = false;
  #isClosed = false;
  /** The reason why the service refuses the connection; the close code says whether another one may help. */
  #refusal = "";
  /** The greeting of the present connection. */
  #welcome: WelcomeToAll | null = null;
  #heartbeatMs = DEFAULT_HEARTBEAT_MS;
  #watchdog: ReturnType<typeof setTimeout> | undefined;
  #pongTimer: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #retryAfterMs: number | null = null;
  /** Time of the ping that has no pong yet, of the page's timer; 0 if there is none. */
  #pingedAt = 0;
  readonly #backoff: Backoff;
  readonly #encoding: Encoding;
  readonly #Socket: SocketConstructor;

  constructor(private readonly options: ConnectionOptions) {
    this.#backoff = options.backoff ?? new Backoff();
    this.#encoding = options.encoding ?? ROWS;
    this.#Socket = options.WebSocket ?? socketOfRuntime();
    this.#connect();
  }

  /** Returns a copy of one feed, which follows nothing yet. A connection has at most one copy of each feed. */
  feed<N extends FeedName>(name: N, options: FeedOptions<N> = {}): Feed<N> {
    if (this.#feeds.has(name)) throw new Error(`The connection has the feed ${name} already`);
    const feed = new Feed(name, options, (command) => this.#send(command));
    this.#feeds.set(name, feed);
    if (this.#welcome) this.#open(name, feed, this.#welcome);
    return feed;
  }

  /** Closes the connection for good. */
  close(): void {
    this.#isClosed = true;
    this.#dropSocket();
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#endFeeds("connecting");
  }

  /** Returns the service's time in Unix milliseconds; steps of this machine's clock do not change it. */
  serverTime(): number {
    return this.#serverStart + performance.now();
  }

  /**
   * Pings, and reconnects if no pong comes; a connection that waits to reconnect does so at once.
   *
   * Call it when the network may have changed: browser events come long before the watchdog fires.
   */
  check(): void {
    const socket = this.#socket;
    if (!this.#welcome) {
      if (socket || this.#asking || this.#retry !== undefined) this.#reconnect(0);
    } else if (socket && this.#pongTimer === undefined) {
      this.#ping();
      this.#pongTimer = setTimeout(() => this.#handleLoss(), PONG_MS);
    }
  }

  /**
   * Connects again if a ticket opens the connection now, or opened it before: call it after a login or a logout. Returns
   * whether it does.
   */
  async renew(): Promise<boolean> {
    if (!this.options.ticket || this.#isClosed) return false;
    try {
      const ticket = await this.options.ticket();
      const isSame = this.#welcome !== null && ticket === null && !this.#hasTicket;
      if (isSame || this.#isClosed) return false;
      this.#endFeeds("connecting");
      this.#reconnect(0);
      return true;
    } catch (error) {
      if (refusalOf(error)) return false;
      // The present rights are better than none.
      await new Promise((resolve) => setTimeout(resolve, RENEW_AGAIN_MS));
      return this.renew();
    }
  }

  #send(command: Command): void {
    this.#socket?.send(JSON.stringify(command));
  }

  #connect(): void {
    this.#retry = undefined;
    const url = `${this.options.address.replace(/^http/, "ws").replace(/\/+$/, "")}/api/ws`;
    const { ticket } = this.options;
    if (ticket) void this.#openWithTicket(url, ticket);
    else this.#openSocket(null, url);
  }

  /** The watchdog ends a question that nobody answers. */
  async #openWithTicket(url: string, source: TicketSource): Promise<void> {
    const asking = {};
    this.#asking = asking;
    this.#restartWatchdog();
    try {
      const ticket = await source();
      if (asking === this.#asking) this.#openSocket(ticket, url);
    } catch (error) {
      if (asking !== this.#asking) return;
      const refusal = refusalOf(error);
      if (refusal) this.#refuse(refusal.code, refusal.message);
      else this.#handleLoss();
    }
  }

  #openSocket(ticket: string | null, url: string): void {
    this.#asking = null;
    this.#hasTicket = ticket !== null;
    const socket = new this.#Socket(addressWith(ticket, url), [this.#encoding.subprotocol]) as WebSocket;
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => this.#read(data);
    socket.onclose = ({ code, reason }) => this.#handleLoss(code, reason);
    // After a refused handshake Node 20 reports no close.
    socket.onerror = () => this.#handleLoss();
    this.#socket = socket;
    this.#restartWatchdog();
  }

  #read(message: string | ArrayBuffer): void {
    this.#restartWatchdog();
    const frame = this.#encoding.decode(message) as Frame;
    switch (frame.type) {
      case "welcome":
        this.#handleWelcome(frame);
        break;
      case "pong":
        this.#setClock(frame);
        break;
      case "shutdown":
        this.#retryAfterMs = frame.retryAfterMs;
        break;
      case "error":
        if (frame.feed) this.#passOn(frame as FeedFrame);
        else this.#refusal = frame.detail;
        break;
      default:
        this.#passOn(frame as FeedFrame);
        if (frame.type === "heartbeat") this.#ping();
    }
  }

  #passOn(frame: FeedFrame): void {
    this.#feeds.get(frame.feed)?.take(frame);
  }

  #handleWelcome(welcome: WelcomeToAll): void {
    this.#welcome = welcome;
    this.#heartbeatMs = welcome.heartbeatMs;
    this.#backoff.reset();
    this.#ping();
    for (const [name, feed] of this.#feeds) this.#open(name, feed, welcome);
  }

  /** Subscribes a feed, if the service has a provider for it. */
  #open(name: FeedName, feed: AnyFeed, welcome: WelcomeToAll): void {
    const { interval = 0 } = welcome.limits;
    if (welcome.feeds[name]) feed.open(interval);
    else feed.end("refused", NO_PROVIDER);
  }

  /** Sends one ping at a time, so that a pong's ping is known. */
  #ping(): void {
    if (this.#pingedAt) return;
    this.#pingedAt = performance.now();
    this.#send({ action: "ping" });
  }

  #setClock(pong: Pong): void {
    this.#serverStart = Date.parse(pong.timestamp) - (performance.now() + this.#pingedAt) / 2;
    this.#endPing();
  }

  #endPing(): void {
    clearTimeout(this.#pongTimer);
    this.#pongTimer = undefined;
    this.#pingedAt = 0;
  }

  #restartWatchdog(): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => this.#handleLoss(), 2 * this.#heartbeatMs);
  }

  #handleLoss(code = 0, reason = ""): void {
    if (code >= HOPELESS_FROM && code < HOPELESS_BEFORE) {
      this.#refuse(code, this.#refusal || reason);
      return;
    }
    this.#dropSocket();
    this.#endFeeds("connecting");
    const retryAfterMs = this.#retryAfterMs;
    this.#retryAfterMs = null;
    this.#reconnect(retryAfterMs === null ? this.#backoff.wait() : this.#backoff.waitAsTold(retryAfterMs));
  }

  /** Ends the connection for good. */
  #refuse(code: number, detail: string): void {
    this.#dropSocket();
    this.#endFeeds("refused", code, detail);
  }

  #endFeeds(state: "connecting" | "refused", code = 0, detail = ""): void {
    for (const feed of this.#feeds.values()) feed.end(state, code, detail);
  }

  #reconnect(milliseconds: number): void {
    this.#dropSocket();
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#connect(), milliseconds);
  }

  /** Closes the socket and ignores its further events. */
  #dropSocket(): void {
    clearTimeout(this.#watchdog);
    this.#endPing();
    const socket = this.#socket;
    this.#socket = null;
    this.#asking = null;
    this.#refusal = "";
    this.#welcome = null;
    if (!socket) return;
    socket.onmessage = null;
    socket.onclose = null;
    // The package `ws` throws an error that nobody takes, such as that of a close during the handshake.
    socket.onerror = () => {};
    socket.close();
  }
}

/** Returns why a question for a ticket needs no repetition; null if a later one may succeed. */
function refusalOf(error: unknown): StreamRefused | null {
  if (error instanceof ApiError && TICKET_REFUSALS.has(error.status))
    return new StreamRefused(error.message, error.status);
  return error instanceof StreamRefused ? error : null;
}

function socketOfRuntime(): SocketConstructor {
  if (typeof WebSocket === "undefined")
    throw new Error(
      "This runtime has no WebSocket: pass one as the option `WebSocket`, such as that of the package `ws`",
    );
  return WebSocket;
}
