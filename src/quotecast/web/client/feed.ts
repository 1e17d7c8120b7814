import { Backoff } from "./backoff.ts";
import { type Encoding, JSON_TEXT } from "./encodings.ts";
import type { Command, Heartbeat, Pong, Shutdown, Subscribed, Welcome } from "./feed-types.ts";
import { type Change, type FeedName, Merged, type StateFrame } from "./merged.ts";

type Frame = Welcome | Subscribed | StateFrame | Pong | Shutdown | { type: "error"; detail: string };

/** `connecting` is before the first connection and after each that was lost; the others the server says. */
export type FeedState = "connecting" | "live" | "stale" | "down" | "refused";

export interface FeedOptions<N extends FeedName> {
  /** Where the service is, such as `https://quotes.example.com`. */
  readonly address: string;
  readonly feed: N;
  /** Least milliseconds between two updates. */
  readonly interval?: 100 | 250 | 500 | 1000 | 5000;
  readonly encoding?: Encoding;
  readonly onChange?: (change: Change, copy: Merged<N>) => void;
  readonly onState?: (state: FeedState) => void;
  readonly backoff?: Backoff;
}

const DEFAULT_HEARTBEAT_MS = 15_000;
const NO_DATA_RETRY_MS = 1000;
/** How long the answer to a ping may take when the connection is in doubt. */
const PONG_MS = 3000;
/** Closed with a code from here to the next, connecting again will not help. */
const [HOPELESS_FROM, HOPELESS_BEFORE] = [4400, 4450];

/**
 * A live copy of some quotes of one feed, right again after any disconnection.
 *
 * It resumes with its cursor, after growing waits or when the server says; a connection that is silent
 * for two heartbeats counts as lost.
 */
export class Feed<N extends FeedName> {
  readonly copy: Merged<N>;
  state: FeedState = "connecting";
  /** When the last frame came, by this machine's clock; 0 before the first. */
  lastFrameAt = 0;
  /** When quotes last came, by the same clock. */
  lastQuotesAt = 0;
  /** Milliseconds by which the server's clock is ahead of this machine's. */
  clockOffset = 0;

  #symbols: ReadonlySet<string> | "all" = new Set();
  /** What the server was asked to follow. */
  #asked: ReadonlySet<string> | "all" = new Set();
  /** Snapshots that commands asked for and that have not come: until then the cursor does not cover them. */
  #adding = 0;
  #socket: WebSocket | null = null;
  #heartbeatMs = DEFAULT_HEARTBEAT_MS;
  #watchdog: ReturnType<typeof setTimeout> | undefined;
  #overdue: ReturnType<typeof setTimeout> | undefined;
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

  /** Follows exactly these symbols (groups such as `sector:Energy` too) from now on. */
  follow(symbols: Iterable<string> | "all"): void {
    this.#symbols = symbols === "all" ? "all" : new Set(symbols);
    if (this.#socket?.readyState === WebSocket.OPEN) this.#move();
    else if (!this.#socket && this.#retry === undefined) this.#connect();
  }

  /** Ends the connection for good. */
  close(): void {
    this.#forget();
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  /**
   * Pings, and connects again if no answer comes; connects at once instead of at the end of a wait.
   * For when the network may have changed: events of browsers say so long before a silent connection does.
   */
  check(): void {
    const socket = this.#socket;
    if (this.state === "connecting") {
      if (socket || this.#retry !== undefined) this.#reconnect(0);
    } else if (socket && this.#overdue === undefined) {
      this.#ping();
      this.#overdue = setTimeout(() => this.#lost(socket, 0), PONG_MS);
    }
  }

  /** Brings the server's idea of what is followed to the present. */
  #move(): void {
    const [before, after] = [this.#asked, this.#symbols];
    this.#asked = after;
    if (equal(before, after)) return;
    if (before === "all" || after === "all") {
      this.#send({ action: "unsubscribe", symbols: "all" });
      this.#resubscribe();
    } else this.#moveBetween(before, after);
  }

  #moveBetween(before: ReadonlySet<string>, after: ReadonlySet<string>): void {
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

  /** With a cursor that no server knows: the set comes whole, and replaces all that is held. */
  #resubscribe(): void {
    this.#subscribe(this.#symbols === "all" ? "all" : [...this.#symbols], "none");
  }

  #subscribe(symbols: string[] | "all", since?: string): void {
    this.#adding += 1;
    this.#send({ action: "subscribe", symbols, ...(since ? { since } : {}) });
  }

  #send(command: Command): void {
    this.#socket?.send(JSON.stringify(command));
  }

  #connect(): void {
    const { address, feed, interval = 250 } = this.options;
    const symbols = this.#symbols === "all" ? "all" : listed([...this.#symbols]);
    // The cursor does not cover what was being added, or was added meanwhile.
    const since = this.#adding || !equal(this.#asked, this.#symbols) ? "none" : this.copy.since;
    const query = new URLSearchParams({ symbols, interval: String(interval), since });
    const socket = new WebSocket(`${address.replace(/^http/, "ws")}/api/ws/${feed}?${query}`, [
      this.#encoding.subprotocol,
    ]);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#ping();
      this.#move();
    };
    socket.onmessage = ({ data }) => this.#read(socket, data);
    socket.onclose = ({ code }) => this.#lost(socket, code);
    this.#adding = since === "none" ? 1 : 0;
    this.#asked = this.#symbols;
    this.#socket = socket;
    this.#retry = undefined;
    this.#watch();
  }

  #read(socket: WebSocket, data: string | ArrayBuffer): void {
    this.#watch();
    this.lastFrameAt = Date.now();
    const frame = this.#decoding ? this.#decoding.then(() => this.#encoding.decode(data)) : this.#encoding.decode(data);
    if (frame instanceof Promise)
      this.#decoding = frame
        .then((each) => socket === this.#socket && this.#take(each as Frame))
        .catch(() => socket.close());
    else this.#take(frame as Frame);
  }

  #take(frame: Frame): void {
    switch (frame.type) {
      case "welcome":
        this.#backoff.reset();
        this.#heartbeatMs = frame.heartbeatMs;
        break;
      case "snapshot":
        if (frame.reason !== "resume") this.#adding = Math.max(0, this.#adding - 1);
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
    if (frame.type === "heartbeat") this.#hear(frame);
    else if (this.state === "connecting") this.#setState("live");
    if (change.keys.length || change.removed.length) this.options.onChange?.(change, this.copy);
  }

  /** A server without data knows no symbol, and has refused them all: coming back later is what helps. */
  #hear(heartbeat: Heartbeat): void {
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
    this.#expectNoPong();
    const now = Date.now();
    this.clockOffset = Date.parse(pong.timestamp) - (now + this.#pingedAt) / 2;
  }

  #expectNoPong(): void {
    clearTimeout(this.#overdue);
    this.#overdue = undefined;
  }

  #watch(): void {
    clearTimeout(this.#watchdog);
    const socket = this.#socket;
    this.#watchdog = setTimeout(() => socket && this.#lost(socket, 0), 2 * this.#heartbeatMs);
  }

  #lost(socket: WebSocket, code: number): void {
    if (socket !== this.#socket) return;
    this.#forget();
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
    this.#forget();
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#connect(), milliseconds);
  }

  /** Lets go of the socket: nothing that it still says is heard. */
  #forget(): void {
    clearTimeout(this.#watchdog);
    this.#expectNoPong();
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

/** Alone the word would be everything; twice it is a ticker. */
function listed(symbols: string[]): string {
  const list = symbols.join(",");
  return /^all$/i.test(list) ? `${list},${list}` : list;
}

function equal(one: ReadonlySet<string> | "all", other: ReadonlySet<string> | "all"): boolean {
  if (one === "all" || other === "all") return one === other;
  return one.size === other.size && [...one].every((each) => other.has(each));
}
