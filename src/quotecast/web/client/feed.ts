import { Backoff } from "./backoff.ts";
import { type Encoding, JSON_TEXT } from "./encodings.ts";
import type { Command, Heartbeat, Pong, Shutdown, Subscribed, Welcome } from "./feed-types.ts";
import { type Change, type FeedName, Merged, type StateFrame } from "./merged.ts";

type Frame = Welcome | Subscribed | StateFrame | Pong | Shutdown | { type: "error"; detail: string };

/** State of a feed: `connecting` without a connection, `refused` for good; the server reports the others. */
export type FeedState = "connecting" | "live" | "stale" | "down" | "refused";

export interface FeedOptions<N extends FeedName> {
  /** Origin of the service, such as `https://quotes.example.com`. */
  readonly address: string;
  readonly feed: N;
  /** Minimum milliseconds between two updates. */
  readonly interval?: 100 | 250 | 500 | 1000 | 5000;
  readonly encoding?: Encoding;
  readonly onChange?: (change: Change, copy: Merged<N>) => void;
  readonly onState?: (state: FeedState) => void;
  readonly backoff?: Backoff;
}

const DEFAULT_HEARTBEAT_MS = 15_000;
const NO_DATA_RETRY_MS = 1000;
/** Time limit for a pong when the connection is in doubt. */
const PONG_MS = 3000;
/** Close codes in this range are final: the client does not reconnect. */
const [HOPELESS_FROM, HOPELESS_BEFORE] = [4400, 4450];

/**
 * Live copy of some quotes of one feed, which survives disconnections.
 *
 * The feed reconnects and resumes with its cursor, after growing waits or when the server says. A connection
 * that is silent for two heartbeats counts as lost.
 */
export class Feed<N extends FeedName> {
  readonly copy: Merged<N>;
  state: FeedState = "connecting";
  /** Time of the last frame (Unix milliseconds, this machine's clock); 0 before the first. */
  lastFrameAt = 0;
  /** Time of the last quotes, by the same clock. */
  lastQuotesAt = 0;
  /** Milliseconds by which the server's clock is ahead of this machine's. */
  clockOffset = 0;

  #symbols: ReadonlySet<string> | "all" = new Set();
  /** Symbols that the server follows for this connection. */
  #subscribed: ReadonlySet<string> | "all" = new Set();
  /** Number of snapshots that commands have requested and that have not come: the cursor does not cover them yet. */
  #pendingSnapshots = 0;
  /** Whether the next snapshot answers the cursor in the URL, as a resume or a resync, and not a command. */
  #resuming = false;
  #socket: WebSocket | null = null;
  #heartbeatMs = DEFAULT_HEARTBEAT_MS;
  #watchdog: ReturnType<typeof setTimeout> | undefined;
  #pongTimer: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #retryAfterMs: number | null = null;
  #pingedAt = 0;
  #decoding: Promise<unknown> | null = null;
  readonly #backoff: Backoff;
  readonly #encoding: Encoding;

  constructor(private readonly options: FeedOptions<N>) {
    this.copy = new Merged(options.feed);
    this.#backoff = options.backoff ?? new Backoff();
    this.#encoding = options.encoding ?? JSON_TEXT;
  }

  /** Follows exactly these symbols from now on; groups such as `sector:Energy` count as symbols. */
  follow(symbols: Iterable<string> | "all"): void {
    this.#symbols = symbols === "all" ? "all" : new Set(symbols);
    if (this.#socket?.readyState === WebSocket.OPEN) this.#updateSubscription();
    else if (!this.#socket && this.#retry === undefined) this.#connect();
  }

  /** Closes the connection for good. */
  close(): void {
    this.#dropSocket();
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  /**
   * Pings, and reconnects if no pong comes; a feed that waits to reconnect does so at once.
   *
   * Call it when the network may have changed: browser events come long before the watchdog fires.
   */
  check(): void {
    const socket = this.#socket;
    if (this.state === "connecting") {
      if (socket || this.#retry !== undefined) this.#reconnect(0);
    } else if (socket && this.#pongTimer === undefined) {
      this.#ping();
      this.#pongTimer = setTimeout(() => this.#handleLoss(socket, 0), PONG_MS);
    }
  }

  /** Sends the server the symbols that this feed follows now. */
  #updateSubscription(): void {
    const [before, after] = [this.#subscribed, this.#symbols];
    this.#subscribed = after;
    if (isSameSet(before, after)) return;
    if (before === "all" || after === "all") {
      this.#send({ action: "unsubscribe", symbols: "all" });
      this.#resubscribe();
    } else this.#changeSymbols(before, after);
  }

  #changeSymbols(before: ReadonlySet<string>, after: ReadonlySet<string>): void {
    const gone = [...before].filter((each) => !after.has(each));
    const added = [...after].filter((each) => !before.has(each));
    if (gone.length) this.#send({ action: "unsubscribe", symbols: gone });
    // Only the server knows the members of a group.
    if (gone.some((each) => each.includes(":"))) this.#resubscribe();
    else {
      this.copy.drop(gone);
      if (added.length) this.#subscribe(added);
    }
  }

  /** Subscribes with a cursor that no server knows: the snapshot then replaces the whole copy. */
  #resubscribe(): void {
    this.#subscribe(this.#symbols === "all" ? "all" : [...this.#symbols], "none");
  }

  #subscribe(symbols: string[] | "all", since?: string): void {
    this.#pendingSnapshots += 1;
    this.#send({ action: "subscribe", symbols, ...(since ? { since } : {}) });
  }

  #send(command: Command): void {
    this.#socket?.send(JSON.stringify(command));
  }

  #connect(): void {
    const { address, feed, interval = 250 } = this.options;
    const symbols = this.#symbols === "all" ? "all" : symbolList([...this.#symbols]);
    // The cursor does not cover symbols that were added but have no snapshot yet.
    const since = this.#pendingSnapshots || !isSameSet(this.#subscribed, this.#symbols) ? "none" : this.copy.since;
    const query = new URLSearchParams({ symbols, interval: String(interval), since });
    const socket = new WebSocket(`${address.replace(/^http/, "ws")}/api/ws/${feed}?${query}`, [
      this.#encoding.subprotocol,
    ]);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#ping();
      this.#updateSubscription();
    };
    socket.onmessage = ({ data }) => this.#read(socket, data);
    socket.onclose = ({ code }) => this.#handleLoss(socket, code);
    this.#resuming = since !== "none";
    this.#pendingSnapshots = this.#resuming ? 0 : 1;
    this.#subscribed = this.#symbols;
    this.#socket = socket;
    this.#retry = undefined;
    this.#restartWatchdog();
  }

  #read(socket: WebSocket, data: string | ArrayBuffer): void {
    this.#restartWatchdog();
    this.lastFrameAt = Date.now();
    const frame = this.#decoding ? this.#decoding.then(() => this.#encoding.decode(data)) : this.#encoding.decode(data);
    if (frame instanceof Promise)
      this.#decoding = frame
        .then((each) => socket === this.#socket && this.#handleFrame(each as Frame))
        .catch(() => socket.close());
    else this.#handleFrame(frame as Frame);
  }

  #handleFrame(frame: Frame): void {
    switch (frame.type) {
      case "welcome":
        this.#backoff.reset();
        this.#heartbeatMs = frame.heartbeatMs;
        break;
      case "snapshot":
        if (this.#resuming) this.#resuming = false;
        else this.#pendingSnapshots = Math.max(0, this.#pendingSnapshots - 1);
        this.#merge(frame);
        break;
      case "update":
      case "heartbeat":
        this.#merge(frame);
        break;
      case "pong":
        this.#setClock(frame);
        break;
      case "shutdown":
        this.#retryAfterMs = frame.retryAfterMs;
    }
  }

  #merge(frame: StateFrame): void {
    const change = this.copy.take(frame);
    if (frame.type !== "heartbeat") this.lastQuotesAt = this.lastFrameAt;
    if (frame.type === "heartbeat") this.#handleHeartbeat(frame);
    else if (this.state === "connecting") this.#setState("live");
    if (change.keys.length || change.removed.length) this.options.onChange?.(change, this.copy);
  }

  /** A server without data refuses every symbol, so the feed reconnects later. */
  #handleHeartbeat(heartbeat: Heartbeat): void {
    this.#setState(heartbeat.feed);
    if (heartbeat.feed === "down") this.#reconnect(NO_DATA_RETRY_MS);
    else this.#ping();
  }

  #setState(state: FeedState): void {
    if (state === this.state) return;
    this.state = state;
    this.options.onState?.(state);
  }

  #ping(): void {
    this.#pingedAt = Date.now();
    this.#send({ action: "ping" });
  }

  #setClock(pong: Pong): void {
    this.#cancelPongTimer();
    const now = Date.now();
    this.clockOffset = Date.parse(pong.timestamp) - (now + this.#pingedAt) / 2;
  }

  #cancelPongTimer(): void {
    clearTimeout(this.#pongTimer);
    this.#pongTimer = undefined;
  }

  #restartWatchdog(): void {
    clearTimeout(this.#watchdog);
    const socket = this.#socket;
    this.#watchdog = setTimeout(() => socket && this.#handleLoss(socket, 0), 2 * this.#heartbeatMs);
  }

  #handleLoss(socket: WebSocket, code: number): void {
    if (socket !== this.#socket) return;
    this.#dropSocket();
    if (code >= HOPELESS_FROM && code < HOPELESS_BEFORE) {
      this.#setState("refused");
      return;
    }
    this.#setState("connecting");
    const retryAfterMs = this.#retryAfterMs;
    this.#retryAfterMs = null;
    this.#reconnect(retryAfterMs === null ? this.#backoff.wait() : this.#backoff.waitAsTold(retryAfterMs));
  }

  #reconnect(milliseconds: number): void {
    this.#dropSocket();
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#connect(), milliseconds);
  }

  /** Closes the socket and ignores its further events. */
  #dropSocket(): void {
    clearTimeout(this.#watchdog);
    this.#cancelPongTimer();
    const socket = this.#socket;
    this.#socket = null;
    this.#decoding = null;
    if (!socket) return;
    socket.onopen = null;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }
}

/** Joins symbols with commas. The lone word "all" means everything; twice it is the ticker ALL. */
function symbolList(symbols: string[]): string {
  const list = symbols.join(",");
  return /^all$/i.test(list) ? `${list},${list}` : list;
}

function isSameSet(one: ReadonlySet<string> | "all", other: ReadonlySet<string> | "all"): boolean {
  if (one === "all" || other === "all") return one === other;
  return one.size === other.size && [...one].every((each) => other.has(each));
}
