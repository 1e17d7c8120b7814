import { type Change, Copy } from "./copy.ts";
import { ROWS } from "./encodings.ts";
import type { AnySnapshot, AnyUpdate, Error as CommandError, Heartbeat, Welcome } from "./feed-types.ts";
import type { FeedName } from "./frames.ts";
import { addressWith, type TicketSource } from "./keys.ts";

export interface ReplayOptions<N extends FeedName> {
  /** Origin of the service, such as `https://quotes.example.com`. */
  readonly address: string;
  readonly feed: N;
  readonly symbols: readonly string[];
  /** The moment at which it begins, ISO 8601. */
  readonly at: string;
  /** Seconds of the recording per second. */
  readonly speed: number;
  /** Asked for a ticket that opens the socket. */
  readonly ticket?: TicketSource;
  readonly onChange: (change: Change, copy: Copy<N>) => void;
  /** Takes the moment that the replay has reached, ISO 8601. */
  readonly onMoment: (at: string) => void;
  /** Takes the reason that the service gives, null without one. `isWhole` says that the recording has ended. */
  readonly onEnd: (end: { readonly isWhole: boolean; readonly reason: string | null }) => void;
}

/** Close code at the present or at the end of the recording. */
const ENDED = 4410;

/** Quotes of one feed as recorded, played from a moment on. It ends with its socket. */
export class Replay<N extends FeedName> {
  readonly copy: Copy<N>;
  #socket: WebSocket | null = null;
  #isClosed = false;
  #reason: string | null = null;

  constructor(private readonly options: ReplayOptions<N>) {
    this.copy = new Copy(options.feed);
    if (options.ticket) void this.#openWithTicket(options.ticket);
    else this.#open(null);
  }

  close(): void {
    this.#isClosed = true;
    const socket = this.#socket;
    if (!socket) return;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }

  async #openWithTicket(source: TicketSource): Promise<void> {
    try {
      const ticket = await source();
      if (!this.#isClosed) this.#open(ticket);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!this.#isClosed) this.options.onEnd({ isWhole: false, reason });
    }
  }

  #open(ticket: string | null): void {
    const { address, feed, symbols, at, speed } = this.options;
    const query = new URLSearchParams({ symbols: symbols.join(), at, speed: String(speed) });
    const url = `${address.replace(/^http/, "ws")}/api/ws/${feed}?${query}`;
    const socket = new WebSocket(addressWith(ticket, url), [ROWS.subprotocol]);
    socket.onmessage = ({ data }) => this.#take(ROWS.decode(data));
    socket.onclose = ({ code }) => this.options.onEnd({ isWhole: code === ENDED, reason: this.#reason });
    this.#socket = socket;
  }

  #take(message: unknown): void {
    const frame = message as AnySnapshot | AnyUpdate | CommandError | Heartbeat | Welcome;
    switch (frame.type) {
      case "snapshot":
      case "update":
        this.options.onChange(this.copy.take(frame), this.copy);
        break;
      case "welcome":
      case "heartbeat":
        if (frame.at) this.options.onMoment(frame.at);
        break;
      case "error":
        this.#reason = frame.detail;
    }
  }
}
