import type { DovizSymbol } from "../../client/index.ts";

export interface Offered extends DovizSymbol {
  /** The same at banks: `akbank-USD` of `USD`. */
  readonly banks: readonly DovizSymbol[];
}

/** The symbols of a category with those of banks beneath what they are an offer of. */
export function offered(symbols: readonly DovizSymbol[]): Offered[] {
  const isOffer = (each: DovizSymbol, of: DovizSymbol) =>
    each.symbol.endsWith(`-${of.symbol}`) && each.name === of.name && each.source !== of.source;
  const main = symbols.filter((each) => !symbols.some((other) => isOffer(each, other)));
  return main.map((each) => ({ ...each, banks: symbols.filter((other) => isOffer(other, each)) }));
}
