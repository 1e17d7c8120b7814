import type { FeedName } from "quotecast-client";
import { isOneOf, isRecord, isText } from "./stored.ts";

/** A stock, pair or currency: a feed and the key of a quote in it. */
export interface Instrument {
  readonly feed: FeedName;
  readonly key: string;
}

export type EntryType = "stock" | "crypto" | "doviz";

const TYPES: Record<FeedName, EntryType> = { market: "stock", crypto: "crypto", doviz: "doviz" };
const FEED_OF: Record<EntryType, FeedName> = { stock: "market", crypto: "crypto", doviz: "doviz" };

const isFeed = isOneOf<FeedName>(["market", "crypto", "doviz"]);

/** Returns the type of an instrument in the routes of accounts. */
export const typeOf = (instrument: Instrument): EntryType => TYPES[instrument.feed];
export const instrumentOf = (type: EntryType, key: string): Instrument => ({ feed: FEED_OF[type], key });
export const same = (one: Instrument, other: Instrument): boolean => one.feed === other.feed && one.key === other.key;
export const isInstrument = (value: unknown): value is Instrument =>
  isRecord(value) && isFeed(value.feed) && isText(value.key);
