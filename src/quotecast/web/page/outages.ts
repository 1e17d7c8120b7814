import type { FeedName, FeedState } from "quotecast-client";
import type { Word } from "./words.ts";

/** State of one feed; times are Unix milliseconds, 0 for never. */
export interface FeedView {
  readonly name: FeedName;
  readonly state: FeedState;
  readonly lastFrameAt: number;
  readonly lastQuotesAt: number;
}

/** Feeds with old values, and since when (Unix milliseconds). */
export interface Outage {
  readonly word: Word;
  readonly feeds: readonly FeedName[];
  readonly since: number;
}

/** Returns the outage to show; a lost connection goes before a stale feed. */
export function outageOf(feeds: readonly FeedView[]): Outage | null {
  const known = feeds.filter((feed) => feed.lastQuotesAt > 0);
  const lost = known.filter(({ state }) => state === "connecting" || state === "refused");
  if (lost.length)
    return { word: "lostSince", feeds: lost.map(nameOf), since: Math.min(...lost.map((feed) => feed.lastFrameAt)) };
  const stale = known.filter(({ state }) => state !== "live");
  return stale.length
    ? { word: "staleSince", feeds: stale.map(nameOf), since: Math.min(...stale.map((feed) => feed.lastQuotesAt)) }
    : null;
}

const nameOf = (feed: FeedView): FeedName => feed.name;
