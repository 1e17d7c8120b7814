import type { FeedName } from "../client/index.ts";
import { isOneOf, isRecord, isText } from "./stored.ts";

/** What a row, a chart or a holding is about. */
export interface Instrument {
  readonly feed: FeedName;
  readonly key: string;
}

export type EntryType = "stock" | "crypto" | "doviz";

const TYPES: Record<FeedName, EntryType> = { market: "stock", crypto: "crypto", doviz: "doviz" };
const FEED_OF: Record<EntryType, FeedName> = { stock: "market", crypto: "crypto", doviz: "doviz" };

const isFeed = isOneOf<FeedName>(["market", "crypto", "doviz"]);

/** The type of an instrument as accounts know it. */
export const typeOf = (instrument: Instrument): EntryType => TYPES[instrument.feed];
export const instrumentOf = (type: EntryType, key: string): Instrument => ({ feed: FEED_OF[type], key });
export const same = (one: Instrument, other: Instrument): boolean => one.feed === other.feed && one.key === other.key;
export const isInstrument = (value: unknown): value is Instrument =>
  isRecord(value) && isFeed(value.feed) && isText(value.key);
