import type { FeedName } from "quotecast-client";
import { type Interval, MINUTES } from "../chart-bars.ts";

export const RANGES = ["1D", "5D", "1M", "3M", "6M", "YTD", "1Y", "5Y"] as const;
export type Range = (typeof RANGES)[number];

const DAYS: Record<Range, number> = {
  "1D": 1,
  "5D": 5,
  "1M": 31,
  "3M": 92,
  "6M": 183,
  YTD: 366,
  "1Y": 366,
  "5Y": 1827,
};
/** The usual interval of a range; markets that never close have four times the bars. */
const FITTING: Record<Range, readonly [stocks: Interval, others: Interval]> = {
  "1D": ["5m", "5m"],
  "5D": ["15m", "30m"],
  "1M": ["1h", "4h"],
  "3M": ["D", "D"],
  "6M": ["D", "D"],
  YTD: ["D", "D"],
  "1Y": ["D", "D"],
  "5Y": ["W", "W"],
};
const fitting = (feed: FeedName, range: Range): Interval => FITTING[range][feed === "market" ? 0 : 1];
/** The finest intervals that the service has for ranges of stocks. */
const FINEST: Partial<Record<Range, Interval>> = { "3M": "5m", "6M": "5m", YTD: "15m", "1Y": "15m", "5Y": "1h" };
/** Bars of a range that a chart of another feed asks for at most. */
const MOST = 3000;

const OF_PAIRS: readonly Interval[] = ["1m", "5m", "15m", "30m", "1h", "4h", "D", "W", "M"];
export const INTERVALS: Record<FeedName, readonly Interval[]> = {
  market: OF_PAIRS.filter((each) => each !== "30m"),
  crypto: OF_PAIRS,
  doviz: OF_PAIRS,
};
const USUAL: Record<FeedName, Range> = { market: "1D", crypto: "1M", doviz: "5D" };

/** Returns how many bars a range has at most in a market that never closes. */
export const countOf = (range: Range, interval: Interval): number =>
  Math.ceil((DAYS[range] * MINUTES.D) / MINUTES[interval]) + 1;

/** Returns whether the service has the bars of a range, or whether they are few enough for a chart. */
function fits(feed: FeedName, range: Range, interval: Interval): boolean {
  if (feed === "market") return OF_PAIRS.indexOf(interval) >= OF_PAIRS.indexOf(FINEST[range] ?? "1m");
  return countOf(range, interval) <= MOST;
}

/** Returns the range and the interval of a chart by its memory. */
export function spanOf(feed: FeedName, memory: Readonly<Record<string, string>>): { range: Range; interval: Interval } {
  const range = RANGES.find((each) => each === memory.range) ?? USUAL[feed];
  const chosen = INTERVALS[feed].find((each) => each === memory.interval);
  return { range, interval: chosen && fits(feed, range, chosen) ? chosen : fitting(feed, range) };
}

/** Returns the longest range of which a chart has bars of an interval. */
export const longestOf = (feed: FeedName, interval: Interval): Range =>
  [...RANGES].reverse().find((each) => fits(feed, each, interval)) ?? RANGES[0];

/** Returns the choice of an interval. A range that is too long for it becomes the longest range that fits. */
export const chooseInterval = (feed: FeedName, range: Range, interval: Interval): Record<string, string> => ({
  range: fits(feed, range, interval) ? range : longestOf(feed, interval),
  interval,
});

/** Returns the start of a range that ends at a moment; both in Unix milliseconds. */
export const startOf = (range: Range, end: number): number =>
  range === "YTD" ? Date.UTC(new Date(end).getUTCFullYear(), 0) : end - DAYS[range] * MINUTES.D * 60_000;

/** Returns the choice of a range, with the interval that suits it. */
export const chooseRange = (feed: FeedName, range: Range): Record<string, string> => ({
  range,
  interval: fitting(feed, range),
});
