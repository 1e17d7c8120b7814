import type { CryptoQuote, DovizQuote } from "quotecast-client";

/** The units of the second currency that one unit of the first costs. */
export type Rates = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Conversions in a row, at most. */
const HOPS_AT_MOST = 3;

const sides = (ticker: string): [string, string] => ticker.split("/", 2) as [string, string];

/** Returns the rates of pairs and currencies, with their inverses. A stablecoin is not another name of a currency. */
export function ratesOf(pairs: Iterable<CryptoQuote>, currencies: Iterable<DovizQuote>): Rates {
  const rates = new Map<string, Map<string, number>>();
  const add = (from: string, to: string, rate: number) => {
    if (!(rate > 0)) return;
    const exits = rates.get(from) ?? new Map<string, number>();
    rates.set(from, exits.set(to, rate));
  };
  const addBoth = (from: string, to: string, rate: number) => {
    add(from, to, rate);
    add(to, from, 1 / rate);
  };
  for (const { ticker, price } of pairs) addBoth(...sides(ticker), price);
  for (const { symbol, category, unit, currency, price } of currencies)
    if (category === "currency" && unit === `1 ${symbol}`) addBoth(symbol, currency, price);
  return rates;
}

/** Returns the rate between two currencies over the fewest conversions; null if there is none. */
export function rateBetween(rates: Rates, from: string, to: string): number | null {
  let reached = new Map([[from, 1]]);
  const seen = new Set([from]);
  for (let hops = 0; hops <= HOPS_AT_MOST; hops += 1) {
    const rate = reached.get(to);
    if (rate !== undefined) return rate;
    const next = new Map<string, number>();
    for (const [currency, soFar] of reached)
      for (const [exit, each] of rates.get(currency) ?? [])
        if (!seen.has(exit)) {
          seen.add(exit);
          next.set(exit, soFar * each);
        }
    reached = next;
  }
  return null;
}

/** Returns the currency of a pair's price. */
export const currencyOf = (ticker: string): string => sides(ticker)[1];

/** Returns the currency of most pairs. */
export function usualCurrency(tickers: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const ticker of tickers) counts.set(currencyOf(ticker), (counts.get(currencyOf(ticker)) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1])[0]?.[0] ?? "USD";
}

export interface Turnover {
  readonly amount: number;
  readonly currency: string;
}

/** Returns a pair's turnover of 24 hours in a currency, or in its own where no rate is known; null if unknown. */
export function turnoverOf(
  { ticker, price, volume }: Pick<CryptoQuote, "ticker" | "price" | "volume">,
  rates: Rates,
  target: string,
): Turnover | null {
  if (volume === null) return null;
  const own = currencyOf(ticker);
  const rate = own === target ? 1 : rateBetween(rates, own, target);
  return rate === null
    ? { amount: price * volume, currency: own }
    : { amount: price * volume * rate, currency: target };
}
