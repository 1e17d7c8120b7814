import { Backoff } from "./backoff.ts";
import { type Change, Copy, hasGroups } from "./copy.ts";
import type {
  AnyBars,
  AnySnapshot,
  AnyUpdate,
  Error as CommandError,
  FeedHeartbeat,
  Subscribed,
} from "./feed-types.ts";
import type { FeedCommand, FeedFrame, FeedName, MovingField } from "./frames.ts";
import type { BarsChange, LiveBars, LiveInterval } from "./live-bars.ts";

/**
 * State of a feed: `connecting` without a connection, `refused` if the service has no such feed or no longer takes
 * this client; the server reports the others.
 */
export type FeedState = "connecting" | "live" | "stale" | "down" | "refused";

const INTERVALS = [100, 250, 500, 1000, 5000] as const;
type Interval = (typeof INTERVALS)[number];

export interface FeedOptions<N extends FeedName> {
  /** Minimum milliseconds between two updates; more if the plan of the API key says so. */
  readonly interval?: Interval;
  /** The moving fields that quotes have; all by default. */
  readonly fields?: readonly MovingField<N>[] | "all";
  /** The interval of live bars; none by default. */
  readonly bars?: LiveInterval | "none";
  readonly onChange?: (change: Change, copy: Copy<N>) => void;
  readonly onBars?: (change: BarsChange, bars: LiveBars) => void;
  readonly onState?: (state: FeedState) => void;
  /** Takes the reason for which the server rejects a command, such as a list that is too long. */
  readonly onError?: (detail: string, code: number) => void;
}

type Symbols = ReadonlySet<string> | "all";

const [NO_PROVIDER, NO_DATA] = [404, 503];

/**
 * Live copy of some quotes of one feed, which survives disconnections; `Connection.feed` makes it.
 *
 * The server knows a list per feed and connection. After a loss the feed subscribes again, with the cursor of its
 * copy if that covers the list.
 */
export class Feed<N extends FeedName> {
  readonly copy: Copy<N>;
  state: FeedState = "connecting";
  /** Time of the feed's last frame (Unix milliseconds, this machine's clock); 0 before the first. */
  lastFrameAt = 0;
  /** Time of the last quotes, by the same clock. */
  lastQuotesAt = 0;

  /** The code by which the service refused the feed; 0 if it did not. */
  refusal = 0;
  /** The reason that the service gave for it; empty without one. */
  refusalDetail = "";

  /** Milliseconds between two updates that the plan of the API key allows; 0 without such a bound. */
  #leastInterval = 0;
  #symbols: Symbols = new Set();
  #fields: string[] | "all";
  /** Whether the copy holds the whole list, as of its cursor. */
  #isComplete = false;
  /**
   * State of the subscription: `none` on this connection; `asked` until the answer to the last command;
   * `acknowledged` until the frame after that answer and its bars, which is the snapshot if the command added
   * symbols.
   */
  #subscription: "none" | "asked" | "acknowledged" | "complete" = "none";
  /** Whether the server did not know a symbol of the list; it may know it after a reconnection. */
  #hasUnknown = false;
  #lastId = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  readonly #backoff = new Backoff();

  constructor(
    readonly name: N,
    private readonly options: FeedOptions<N>,
    private readonly send: (command: FeedCommand) => void,
  ) {
    this.copy = new Copy(name, options.bars ?? "none");
    this.#fields = copyOf(options.fields ?? "all");
  }

  get bars(): LiveBars {
    return this.copy.bars;
  }

  /** Follows exactly these symbols from now on; groups such as `sector:Energy` count as symbols. */
  follow(symbols: Iterable<string> | "all"): void {
    const before = this.#symbols;
    const after: Symbols = symbols === "all" ? "all" : new Set(symbols);
    this.#symbols = after;
    if (before === "all" || after === "all") {
      if (before !== after) this.#startOver();
      return;
    }
    const gone = [...before].filter((each) => !after.has(each));
    const added = [...after].filter((each) => !before.has(each));
    if (gone.length && hasGroups([...before, ...after])) this.#startOver();
    else this.#changeList(gone, added);
  }

  /** Selects the moving fields that quotes have from now on; the copy changes with the next snapshot. */
  select(fields: readonly MovingField<N>[] | "all"): void {
    this.#fields = copyOf(fields);
    this.#startOver();
  }

  /** Follows the bars of another interval from now on, or none. */
  selectBars(interval: LiveInterval | "none"): void {
    this.bars.reset(interval);
    if (this.#subscription !== "none") this.#command({ action: "subscribe", bars: interval });
  }

  /**
   * Subscribes to the whole list on a connection without a subscription; the connection calls it, with the least interval
   * of the plan.
   */
  open(leastInterval = this.#leastInterval): void {
    this.#leastInterval = leastInterval;
    clearTimeout(this.#retry);
    this.#hasUnknown = false;
    const interval = allowedInterval(this.options.interval ?? 250, leastInterval);
    const since = this.#isComplete ? this.copy.since : "none";
    const symbols = copyOf(this.#symbols);
    this.#command({ action: "subscribe", symbols, since, interval, fields: this.#fields, ...this.#barsWanted() });
  }

  /** Notes that the connection ended, for good if it was `refused`; the connection calls it. */
  end(state: "connecting" | "refused", code = 0, detail = ""): void {
    this.refusal = code;
    this.refusalDetail = detail;
    clearTimeout(this.#retry);
    this.#subscription = "none";
    this.#setState(state);
  }

  /** Takes a frame of this feed; the connection calls it. */
  take(frame: FeedFrame): void {
    this.lastFrameAt = Date.now();
    if (this.#subscription === "acknowledged" && frame.type !== "bars") {
      this.#subscription = "complete";
      this.#isComplete = !this.#hasUnknown;
    }
    switch (frame.type) {
      case "subscribed":
        this.#takeAnswer(frame);
        break;
      case "snapshot":
      case "update":
        this.#takeQuotes(frame);
        break;
      case "bars":
        this.#takeBars(frame);
        break;
      case "heartbeat":
        this.#takeHeartbeat(frame);
        break;
      case "error":
        this.#takeError(frame);
    }
  }

  /** The time of the bars counts only if they are of the whole list. */
  #barsWanted(): Pick<FeedCommand, "bars" | "barsSince"> {
    const { interval, since } = this.bars;
    if (interval === "none") return {};
    return this.#isComplete && since !== null ? { bars: interval, barsSince: since } : { bars: interval };
  }

  #changeList(gone: string[], added: string[]): void {
    if (added.length) this.#isComplete = false;
    if (this.#subscription === "none") return;
    if (gone.length) this.#command({ action: "unsubscribe", symbols: gone });
    if (added.length) this.#command({ action: "subscribe", symbols: added });
  }

  /** Subscribes afresh: the snapshot replaces the whole copy. */
  #startOver(): void {
    this.#isComplete = false;
    if (this.#subscription === "none") return;
    this.#command({ action: "unsubscribe", symbols: "all" });
    this.open();
  }

  #command(command: Omit<FeedCommand, "feed" | "id">): void {
    this.#lastId += 1;
    this.#subscription = "asked";
    this.send({ ...command, feed: this.name, id: this.#lastId });
  }

  /** Frames that come after the answer to the last command have quotes of the present list only. */
  #takeAnswer(answer: Subscribed): void {
    if (answer.rejected.length) this.#hasUnknown = true;
    if (this.#subscription !== "asked" || answer.id !== this.#lastId) return;
    this.#subscription = "acknowledged";
    this.copy.take(answer);
  }

  #takeBars(frame: AnyBars): void {
    const { bars } = this.copy.take(frame);
    if (bars) this.options.onBars?.(bars, this.bars);
  }

  #takeQuotes(frame: AnySnapshot | AnyUpdate): void {
    this.#backoff.reset();
    this.lastQuotesAt = this.lastFrameAt;
    const change = this.copy.take(frame);
    if (this.state === "connecting" || this.state === "down") this.#setState("live");
    if (change.keys.length || change.removed.length) this.options.onChange?.(change, this.copy);
  }

  /** Moves the cursor only if all changes before it have come; heartbeats come without a subscription, too. */
  #takeHeartbeat(heartbeat: FeedHeartbeat): void {
    if (this.#subscription === "complete") this.copy.take(heartbeat);
    this.#setState(heartbeat.state);
    if (this.#subscription === "none" && heartbeat.state !== "down") this.open();
  }

  #takeError({ code, detail }: CommandError): void {
    if (code === NO_PROVIDER) this.end("refused", code, detail);
    else if (code === NO_DATA) this.#retryLater();
    else this.options.onError?.(detail, code);
  }

  /** Subscribes again when a heartbeat says that the feed has data, or after a growing wait. */
  #retryLater(): void {
    clearTimeout(this.#retry);
    this.#subscription = "none";
    this.#setState("down");
    this.#retry = setTimeout(() => this.open(), this.#backoff.wait());
  }

  #setState(state: FeedState): void {
    if (state === this.state) return;
    this.state = state;
    this.options.onState?.(state);
  }
}

/** Returns the wanted interval, or the next one that a plan with a least interval allows. */
const allowedInterval = (wanted: Interval, least: number): Interval =>
  wanted >= least ? wanted : (INTERVALS.find((each) => each >= least) ?? 5000);

const copyOf = (list: Iterable<string> | "all"): string[] | "all" => (list === "all" ? "all" : [...list]);
