import type {
  CryptoSnapshot,
  CryptoUpdate,
  DovizSnapshot,
  DovizUpdate,
  Heartbeat,
  MarketSnapshot,
  MarketUpdate,
} from "./feed-types.ts";
import type { CryptoQuote, DovizQuote, StockQuote } from "./rest-types.ts";

export type FeedName = "market" | "crypto" | "doviz";
export type QuoteOf = { market: StockQuote; crypto: CryptoQuote; doviz: DovizQuote };

type Snapshot = MarketSnapshot | CryptoSnapshot | DovizSnapshot;
type Update = MarketUpdate | CryptoUpdate | DovizUpdate;
export type StateFrame = Snapshot | Update | Heartbeat;

/** Quotes that a frame added, changed or removed. */
export interface Change {
  readonly keys: readonly string[];
  readonly removed: readonly string[];
  /** Whether they changed just now; quotes of a snapshot may be of any age. */
  readonly isUpdate: boolean;
}

const NOTHING: Change = { keys: [], removed: [], isUpdate: false };

/** Copy of a feed: the last quote of every symbol, and the cursor up to which the copy is complete. */
export class Merged<N extends FeedName> {
  readonly quotes = new Map<string, QuoteOf[N]>();
  epoch = "";
  seq = 0;
  readonly #key: "ticker" | "symbol";

  constructor(feed: N) {
    this.#key = feed === "doviz" ? "symbol" : "ticker";
  }

  /** The cursor for the parameter `since`; before the first snapshot `none`, for which the server sends everything. */
  get since(): string {
    return this.epoch ? `${this.epoch}-${this.seq}` : "none";
  }

  /** Merges a frame into the copy and returns its changes; a heartbeat only moves the cursor. */
  take(frame: StateFrame): Change {
    this.epoch = frame.epoch;
    this.seq = frame.seq;
    if (frame.type === "heartbeat") return NOTHING;
    const gone = frame.type === "snapshot" && frame.reason === "resync" ? this.#keysMissingFrom(frame.data) : [];
    const removed = [...gone, ...(("removed" in frame && frame.removed) || [])];
    for (const key of removed) this.quotes.delete(key);
    return { keys: frame.data.map((item) => this.#merge(item)), removed, isUpdate: frame.type === "update" };
  }

  /** Removes quotes after an unsubscribe; the server does not list them as removed. */
  drop(keys: Iterable<string>): void {
    for (const key of keys) this.quotes.delete(key);
  }

  #merge(item: object): string {
    const key = (item as Record<string, string>)[this.#key] as string;
    const known = this.quotes.get(key);
    this.quotes.set(key, (known ? { ...known, ...item } : item) as QuoteOf[N]);
    return key;
  }

  #keysMissingFrom(data: readonly object[]): string[] {
    const present = new Set(data.map((item) => (item as Record<string, string>)[this.#key]));
    return [...this.quotes.keys()].filter((key) => !present.has(key));
  }
}
