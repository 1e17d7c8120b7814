import type { DovizSymbol } from "quotecast-client";

export const CATEGORIES = ["currency", "gold", "silver", "precious_metals", "index"] as const;
export type Category = (typeof CATEGORIES)[number];

export interface Offer extends DovizSymbol {
  /** The same currency at banks: `akbank-USD` of `USD`. */
  readonly banks: readonly DovizSymbol[];
}

/** Groups the symbols of a category: each with the symbols of banks that offer it. */
export function groupOffers(symbols: readonly DovizSymbol[]): Offer[] {
  const isOffer = (each: DovizSymbol, of: DovizSymbol) =>
    each.symbol.endsWith(`-${of.symbol}`) && each.name === of.name && each.source !== of.source;
  const main = symbols.filter((each) => !symbols.some((other) => isOffer(each, other)));
  return main.map((each) => ({ ...each, banks: symbols.filter((other) => isOffer(other, each)) }));
}
