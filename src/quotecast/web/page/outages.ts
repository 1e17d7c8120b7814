import type { FeedName, FeedState } from "../client/index.ts";
import type { Word } from "./words.ts";

/** What is known of one feed; times are Unix milliseconds, 0 for never. */
export interface FeedView {
  readonly name: FeedName;
  readonly state: FeedState;
  readonly lastFrameAt: number;
  readonly lastQuotesAt: number;
}

/** What the page does not know, of which feeds, and since when. */
export interface Outage {
  readonly word: Word;
  readonly feeds: readonly FeedName[];
  readonly since: number;
}

/** The feeds whose values are old: a lost connection goes before a feed that its provider left. */
export function outageOf(feeds: readonly FeedView[]): Outage | null {
  const known = feeds.filter((feed) => feed.lastQuotesAt > 0);
  const lost = known.filter(({ state }) => state === "connecting" || state === "refused");
  if (lost.length)
    return { word: "lostSince", feeds: lost.map(named), since: Math.min(...lost.map((feed) => feed.lastFrameAt)) };
  const stale = known.filter(({ state }) => state !== "live");
  return stale.length
    ? { word: "staleSince", feeds: stale.map(named), since: Math.min(...stale.map((feed) => feed.lastQuotesAt)) }
    : null;
}

const named = (feed: FeedView): FeedName => feed.name;
