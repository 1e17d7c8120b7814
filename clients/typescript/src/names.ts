import type { FeedName } from "./frames.ts";

/** A symbol of one feed; `all` means every symbol of it. */
export interface Place {
  readonly feed: FeedName;
  readonly symbol: string;
}

export const FEEDS: readonly FeedName[] = ["market", "crypto", "doviz"];
/** Feeds by the names that clients may say. */
const NAMED: Readonly<Record<string, FeedName>> = {
  market: "market",
  stocks: "market",
  stock: "market",
  crypto: "crypto",
  doviz: "doviz",
};
/** The feeds of groups such as `sector:Energy`. */
const GROUPS: Readonly<Record<string, FeedName>> = { sector: "market", category: "doviz", bank: "doviz" };

/** A name's feeds, in the order in which to ask them, and its symbol. */
export interface SplitName {
  readonly feeds: readonly FeedName[];
  readonly symbol: string;
}

/** Returns distinct names; a text may have several, with commas between them. */
export function namesIn(names: string | Iterable<string>): string[] {
  const listed = typeof names === "string" ? names.split(",").map((name) => name.trim()) : names;
  return [...new Set(listed)].filter(Boolean);
}

/**
 * Returns the feeds that may have a symbol. `crypto:BTC/USDT` names its feed, and so does a group. Only pairs have a
 * slash, or a hyphen for it.
 */
export function splitName(name: string): SplitName {
  const text = name.trim();
  const [, prefix = "", rest = ""] = /^(\w+):(.*)$/.exec(text) ?? [];
  const named = NAMED[prefix.toLowerCase()];
  if (named) return { feeds: [named], symbol: rest };
  const group = GROUPS[prefix];
  if (group) return { feeds: [group], symbol: text };
  if (text.includes("/")) return { feeds: ["crypto"], symbol: text };
  return { feeds: text.includes("-") ? FEEDS : ["market", "doviz"], symbol: text };
}

/** Returns a form that all spellings of a symbol share. */
export const fold = (symbol: string): string => symbol.toLowerCase().replace("-", "/");
