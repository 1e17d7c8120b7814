import type { BarsChange, Connection, FeedState, LiveInterval } from "quotecast-client";
import type { Instrument } from "./instruments.ts";

/** Milliseconds of each interval; a day of an exchange has no fixed length. */
const LENGTH_MS: Record<LiveInterval, number> = { "1m": 60e3, "5m": 300e3, "15m": 900e3, "1h": 3600e3, D: Infinity };

/**
 * Calls `take` with the live bars of one instrument, and `onGap` when some may be missing after an outage of the
 * line or of the ingest.
 *
 * They need a connection of their own: live bars come for all symbols of a subscription, and the page's tables
 * may follow a whole market.
 */
export function watchBars(
  connection: Connection,
  { feed, key }: Instrument,
  interval: LiveInterval,
  take: (change: BarsChange) => void,
  onGap: () => void,
): void {
  let [isKnown, hasBars] = [false, false];
  let closedAt: string | null = null;
  const onState = (state: FeedState) => {
    if (state === "live" && isKnown) onGap();
    isKnown ||= state === "live";
  };
  const onBars = (change: BarsChange) => {
    take(change);
    const slept = skips(closedAt, change.closed, interval);
    closedAt = change.closed ?? closedAt;
    if ((change.missing && hasBars) || slept) onGap();
    hasBars = true;
  };
  connection.feed(feed, { bars: interval, fields: ["price"], onBars, onState }).follow([key]);
}

/**
 * Returns whether an interval is missing between two closings.
 *
 * One that the ingest slept through has no live bars; the history may have them.
 */
export const skips = (before: string | null, closed: string | null, interval: LiveInterval): boolean =>
  before !== null && closed !== null && Date.parse(closed) - Date.parse(before) > LENGTH_MS[interval];
