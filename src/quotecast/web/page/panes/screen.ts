import type { StockQuote } from "quotecast-client";

export const SIGNALS = ["anySignal", "newHigh", "newLow", "gapUp", "gapDown"] as const;
export type Signal = (typeof SIGNALS)[number];
/** Change in per cent from the last close to the open from which on it is a gap. */
const GAP_PERCENT = 1;

/** The bounds of a screen, as the reader writes them; an empty one bounds nothing. */
export const BOUNDS = ["minPrice", "maxPrice", "minChange", "maxChange", "minVolume"] as const;
type Bounds = Partial<Record<(typeof BOUNDS)[number], string>>;

/** Names of what a screener remembers, in its pane and in the address. */
export const FIELDS = ["sector", "signal", ...BOUNDS, "sort"] as const;

/** The conditions by which a screener selects stocks. */
export interface Screen extends Bounds {
  readonly sector?: string;
  readonly signal?: string;
}

/** Returns whether a quote fits the screen; a value that is unknown fits no bound. */
export function fits(quote: StockQuote, screen: Screen): boolean {
  return (
    (!screen.sector || quote.sector === screen.sector) &&
    isWithin(quote.price, screen.minPrice, screen.maxPrice) &&
    isWithin(quote.changePercent, screen.minChange, screen.maxChange) &&
    isWithin(quote.volume === null ? null : Number(quote.volume), screen.minVolume) &&
    shows(quote, screen.signal)
  );
}

function isWithin(value: number | null, least = "", most = ""): boolean {
  if (least.trim() === "" && most.trim() === "") return true;
  return value !== null && !(least.trim() && value < Number(least)) && !(most.trim() && value > Number(most));
}

function shows({ price, high, low, open, previousClose }: StockQuote, signal: string | undefined): boolean {
  const gap = open === null || !previousClose ? null : (100 * (open - previousClose)) / previousClose;
  switch (signal) {
    case "newHigh":
      return high !== null && price >= high;
    case "newLow":
      return low !== null && price <= low;
    case "gapUp":
      return gap !== null && gap >= GAP_PERCENT;
    case "gapDown":
      return gap !== null && gap <= -GAP_PERCENT;
    default:
      return true;
  }
}
