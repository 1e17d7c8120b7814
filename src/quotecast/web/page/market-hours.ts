import { signal } from "@preact/signals";
import type { MarketStatus } from "../client/index.ts";

/** What the service last said of the feeds and of the exchange; null before its first answer. */
export const marketStatus = signal<MarketStatus | null>(null);

/** Whether stocks trade at a moment (Unix milliseconds). */
export const marketTrades = (at: number): boolean => trades(marketStatus.value, at);

/** By what the service says of the session and of the next: without a word of it nothing is known to trade. */
export function trades(status: Pick<MarketStatus, "nextOpen" | "nextClose"> | null, at: number): boolean {
  if (!status) return false;
  if (!status.nextOpen || !status.nextClose) return true;
  const [opening, closing] = [Date.parse(status.nextOpen), Date.parse(status.nextClose)];
  return at >= opening || (closing < opening && at < closing);
}
