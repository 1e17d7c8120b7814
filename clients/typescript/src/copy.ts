import type { AnyBars, AnySnapshot, AnyUpdate, Subscribed } from "./feed-types.ts";
import type { FeedName, QuoteOf } from "./frames.ts";
import { type BarsChange, LiveBars, type LiveInterval } from "./live-bars.ts";

/** Quotes that a frame added, changed or removed. */
export interface Change {
  readonly keys: readonly string[];
  readonly removed: readonly string[];
  /** Whether they changed just now; quotes of a snapshot may be of any age. */
  readonly isUpdate: boolean;
  /** Live bars that the frame brought. */
  readonly bars?: BarsChange;
}

/** A frame of one feed; a copy ignores types that it does not know. */
export type CopyFrame =
  | AnySnapshot
  | AnyUpdate
  | AnyBars
  | Subscribed
  | { readonly type: "heartbeat"; readonly epoch: string; readonly seq: number }
  | { readonly type: "welcome" | "error" | "pong" | "shutdown" };

/** A quote or its changed fields: an object, or values in the order of the last snapshot's columns. */
type Item = (AnySnapshot | AnyUpdate)["data"][number];
type Fields = Record<string, unknown>;

const NOTHING: Change = { keys: [], removed: [], isUpdate: false };

/**
 * Copy of a feed: the last quote of every symbol, live bars, and the cursor up to which they are complete.
 *
 * It has no connection: give it the frames of one. While a client selects fields, quotes lack the other moving fields.
 */
export class Copy<N extends FeedName = FeedName> {
  readonly quotes = new Map<string, QuoteOf[N]>();
  readonly bars: LiveBars;
  epoch = "";
  seq = 0;
  readonly #key: "ticker" | "symbol";
  /** Names of the values in a row, from the last snapshot. */
  #columns: readonly string[] = [];
  /** Whether quotes of this connection have come: heartbeats come without a subscription, too. */
  #follows = false;

  constructor(feed: N, bars: LiveInterval | "none" = "none") {
    this.#key = feed === "doviz" ? "symbol" : "ticker";
    this.bars = new LiveBars(feed, bars);
  }

  /** The position `<epoch>-<seq>` of the copy; null before the first snapshot. */
  get cursor(): string | null {
    return this.epoch ? `${this.epoch}-${this.seq}` : null;
  }

  /** The cursor for a subscription; before the first snapshot `none`, for which the server sends everything. */
  get since(): string {
    return this.cursor ?? "none";
  }

  /** Merges a frame into the copy and returns its changes; a heartbeat only moves the cursor. */
  take(frame: CopyFrame): Change {
    switch (frame.type) {
      case "welcome":
        this.#follows = false;
        return NOTHING;
      case "subscribed":
        return this.#takeAnswer(frame);
      case "heartbeat":
        if (this.#follows) this.#move(frame);
        return NOTHING;
      case "bars":
        return this.#takeBars(frame);
      case "update":
        this.#move(frame);
        this.#follows = true;
        return this.#merge(frame.data, frame.removed ?? [], true);
      case "snapshot":
        this.#move(frame);
        this.#follows = true;
        this.#columns = frame.columns ?? [];
        return frame.reason === "resync" ? this.#replace(frame.data) : this.#merge(frame.data, [], false);
      default:
        return NOTHING;
    }
  }

  #move({ epoch, seq }: { readonly epoch: string; readonly seq: number }): void {
    this.epoch = epoch;
    this.seq = seq;
  }

  /** Removes what is no longer in the list: the server does not list it as removed. Only it knows groups' members. */
  #takeAnswer({ symbols, bars }: Subscribed): Change {
    const interval = bars ?? "none";
    if (interval !== this.bars.interval) this.bars.reset(interval);
    if (!Array.isArray(symbols) || hasGroups(symbols)) return NOTHING;
    const retained = new Set(symbols);
    const removed = [...this.quotes.keys()].filter((key) => !retained.has(key));
    for (const key of removed) this.quotes.delete(key);
    this.bars.retain(retained);
    return { keys: [], removed, isUpdate: false };
  }

  #takeBars(frame: AnyBars): Change {
    this.#move(frame);
    const bars = this.bars.take(frame);
    return bars ? { ...NOTHING, bars } : NOTHING;
  }

  /** Replaces the copy, because quotes of before may have other fields. */
  #replace(data: readonly Item[]): Change {
    const before = [...this.quotes.keys()];
    this.quotes.clear();
    const { keys } = this.#merge(data, [], false);
    return { keys, removed: before.filter((key) => !this.quotes.has(key)), isUpdate: false };
  }

  #merge(data: readonly Item[], removed: readonly string[], isUpdate: boolean): Change {
    for (const key of removed) {
      this.quotes.delete(key);
      this.bars.remove(key);
    }
    return { keys: data.map((item) => this.#mergeItem(item)), removed, isUpdate };
  }

  #mergeItem(item: Item): string {
    const fields: Fields = Array.isArray(item) ? this.#fieldsOf(item) : item;
    const key = fields[this.#key] as string;
    const known = this.quotes.get(key);
    this.quotes.set(key, (known ? { ...known, ...fields } : fields) as QuoteOf[N]);
    return key;
  }

  /** Returns the fields of a row, which may be shorter than the columns. */
  #fieldsOf(row: readonly unknown[]): Fields {
    const fields: Fields = {};
    for (const [index, value] of row.entries()) fields[this.#columns[index] as string] = value;
    return fields;
  }
}

/** Returns whether a list has groups, of which only the server knows the members. */
export function hasGroups(symbols: readonly string[]): boolean {
  return symbols.some((each) => each.includes(":"));
}
