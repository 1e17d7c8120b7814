import { signal } from "@preact/signals";
import type { MarketStatus } from "../client/index.ts";

/** The service's last status of feeds and exchange; null before the first answer. */
export const marketStatus = signal<MarketStatus | null>(null);

/** Returns whether stocks trade at a moment (Unix milliseconds). */
export const marketTrades = (at: number): boolean => trades(marketStatus.value, at);

/** Returns whether a moment lies in a session, by the times of the next open and close; false without a status. */
export function trades(status: Pick<MarketStatus, "nextOpen" | "nextClose"> | null, at: number): boolean {
  if (!status) return false;
  if (!status.nextOpen || !status.nextClose) return true;
  const [opening, closing] = [Date.parse(status.nextOpen), Date.parse(status.nextClose)];
  return at >= opening || (closing < opening && at < closing);
}
