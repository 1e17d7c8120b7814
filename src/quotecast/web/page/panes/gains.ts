import type { HoldingShown, RateShown } from "quotecast-client";

export interface Worth {
  readonly price: number | null;
  readonly value: number | null;
  readonly gain: number | null;
  /** The gain as a percentage of the cost; null for a cost of 0. */
  readonly gainPercent: number | null;
}

const product = (rates: readonly RateShown[]): number => rates.reduce((factor, each) => factor * each.rate, 1);

/** Returns a holding's worth in its currency, at the feed's price, or at the service's until the feed has one. */
export function worth(holding: HoldingShown, quoted: number | null): Worth {
  const price = quoted === null || !holding.rates ? (holding.price ?? null) : quoted * product(holding.rates);
  if (price === null) return { price, value: null, gain: null, gainPercent: null };
  const cost = holding.shares * holding.avg_cost;
  const value = holding.shares * price;
  return { price, value, gain: value - cost, gainPercent: cost ? ((value - cost) / cost) * 100 : null };
}

export interface Total {
  readonly value: number;
  readonly gain: number;
  /** Holdings that the sums leave out: without a quote, or without a rate to the total's currency. */
  readonly missing: readonly HoldingShown[];
}

/** Returns the sums of all holdings, in the currency to which the service converted them. */
export function total(holdings: readonly HoldingShown[], worths: readonly Worth[]): Total {
  const sum = { value: 0, gain: 0, missing: [] as HoldingShown[] };
  for (const [index, holding] of holdings.entries()) {
    const { value, gain } = worths[index] as Worth;
    if (value === null || gain === null || !holding.converted) sum.missing.push(holding);
    else {
      const factor = product(holding.converted.rates);
      sum.value += value * factor;
      sum.gain += gain * factor;
    }
  }
  return sum;
}

/** Returns every rate that the totals use, once. */
export function ratesUsed(holdings: readonly HoldingShown[]): RateShown[] {
  const all = holdings.flatMap((each) => [...(each.rates ?? []), ...(each.converted?.rates ?? [])]);
  return [...new Map(all.map((each) => [`${each.from} ${each.to}`, each])).values()];
}
