import { type BarsChange, Connection, type FeedState, type LiveInterval } from "../client/index.ts";
import type { Instrument } from "./instruments.ts";
import { checkWithBrowser } from "./live.ts";

/**
 * Calls `take` with the live bars of one instrument, and `onGap` when some may be missing after an outage; the
 * returned function ends that.
 *
 * They have a connection of their own: live bars come for all symbols of a subscription, and the page's tables
 * may follow a whole market.
 */
export function watchBars(
  { feed, key }: Instrument,
  interval: LiveInterval,
  take: (change: BarsChange) => void,
  onGap: () => void,
): () => void {
  const connection = new Connection({ address: location.origin });
  const endChecks = checkWithBrowser(connection);
  let [isKnown, hasBars] = [false, false];
  const onState = (state: FeedState) => {
    if (state === "live" && isKnown) onGap();
    isKnown ||= state === "live";
  };
  const onBars = (change: BarsChange) => {
    take(change);
    if (change.missing && hasBars) onGap();
    hasBars = true;
  };
  connection.feed(feed, { bars: interval, fields: ["price"], onBars, onState }).follow([key]);
  return () => {
    endChecks();
    connection.close();
  };
}
