import type { HoldingShown } from "../../client/index.ts";

export interface Worth {
  readonly price: number | null;
  readonly value: number | null;
  readonly gain: number | null;
  /** The gain in per cent of the cost; null if it cost nothing. */
  readonly gainPercent: number | null;
}

/** What a holding is worth at a price; unknown without one. */
export function worth(holding: HoldingShown, price: number | null): Worth {
  if (price === null) return { price, value: null, gain: null, gainPercent: null };
  const cost = holding.shares * holding.avg_cost;
  const value = holding.shares * price;
  return { price, value, gain: value - cost, gainPercent: cost ? ((value - cost) / cost) * 100 : null };
}

/** The sums of value and gain by currency: what is in two currencies has no common sum. */
export function totals(holdings: readonly HoldingShown[], worths: readonly Worth[]): Map<string, { value: number; gain: number }> {
  const sums = new Map<string, { value: number; gain: number }>();
  holdings.forEach((holding, index) => {
    const { value, gain } = worths[index] as Worth;
    if (value === null || gain === null) return;
    const sum = sums.get(holding.currency) ?? { value: 0, gain: 0 };
    sums.set(holding.currency, { value: sum.value + value, gain: sum.gain + gain });
  });
  return sums;
}
