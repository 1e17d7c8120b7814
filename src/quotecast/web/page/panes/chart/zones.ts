import type { FeedName } from "quotecast-client";

/** The time zones of each feed's days. */
export const ZONES: Record<FeedName, string> = {
  market: "America/New_York",
  crypto: "UTC",
  doviz: "Europe/Istanbul",
};

const HOUR_MS = 3_600_000;
const formats = new Map<FeedName, Intl.DateTimeFormat>();
const days = new Map<string, string>();

/** Returns the date of a moment (Unix milliseconds) in a feed's time zone; all these zones change at whole hours. */
export function dayOf(feed: FeedName, moment: number): string {
  const key = `${feed} ${Math.floor(moment / HOUR_MS)}`;
  const known = days.get(key);
  if (known) return known;
  const format = formats.get(feed) ?? new Intl.DateTimeFormat("en-CA", { timeZone: ZONES[feed] });
  formats.set(feed, format);
  // As many as half a year of hours in two feeds.
  if (days.size > 10_000) days.clear();
  const day = format.format(moment);
  days.set(key, day);
  return day;
}
