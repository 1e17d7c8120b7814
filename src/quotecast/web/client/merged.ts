import type { AnySnapshot, AnyUpdate, FeedHeartbeat } from "./feed-types.ts";
import type { FeedName, QuoteOf } from "./frames.ts";

/** Quotes that a frame added, changed or removed. */
export interface Change {
  readonly keys: readonly string[];
  readonly removed: readonly string[];
  /** Whether they changed just now; quotes of a snapshot may be of any age. */
  readonly isUpdate: boolean;
}

/** A quote or its changed fields: an object, or values in the order of the last snapshot's columns. */
type Item = (AnySnapshot | AnyUpdate)["data"][number];
type Fields = Record<string, unknown>;

const NOTHING: Change = { keys: [], removed: [], isUpdate: false };

/**
 * Copy of a feed: the last quote of every symbol, and the cursor up to which the copy is complete.
 *
 * While a client selects fields, quotes lack the other moving fields.
 */
export class Merged<N extends FeedName> {
  readonly quotes = new Map<string, QuoteOf[N]>();
  epoch = "";
  seq = 0;
  readonly #key: "ticker" | "symbol";
  /** Names of the values in a row, from the last snapshot. */
  #columns: readonly string[] = [];

  constructor(feed: N) {
    this.#key = feed === "doviz" ? "symbol" : "ticker";
  }

  /** The cursor for a subscription; before the first snapshot `none`, for which the server sends everything. */
  get since(): string {
    return this.epoch ? `${this.epoch}-${this.seq}` : "none";
  }

  /** Merges a frame into the copy and returns its changes; a heartbeat only moves the cursor. */
  take(frame: AnySnapshot | AnyUpdate | FeedHeartbeat): Change {
    this.epoch = frame.epoch;
    this.seq = frame.seq;
    if (frame.type === "heartbeat") return NOTHING;
    if (frame.type === "update") return this.#merge(frame.data, frame.removed ?? [], true);
    this.#columns = frame.columns ?? [];
    return frame.reason === "resync" ? this.#replace(frame.data) : this.#merge(frame.data, [], false);
  }

  /** Removes all other quotes after an unsubscribe; the server does not list them as removed. */
  retain(keys: Iterable<string>): void {
    const retained = new Set(keys);
    for (const key of this.quotes.keys()) if (!retained.has(key)) this.quotes.delete(key);
  }

  /** Replaces the copy, because quotes of before may have other fields. */
  #replace(data: readonly Item[]): Change {
    const before = [...this.quotes.keys()];
    this.quotes.clear();
    const { keys } = this.#merge(data, [], false);
    return { keys, removed: before.filter((key) => !this.quotes.has(key)), isUpdate: false };
  }

  #merge(data: readonly Item[], removed: readonly string[], isUpdate: boolean): Change {
    for (const key of removed) this.quotes.delete(key);
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
