import type { Overview } from "quotecast-client";

/** Currencies of a company's amounts; null where unknown, and everywhere if all are in dollars. */
export interface Currencies {
  readonly filings: string | null;
  readonly revenueEstimates: string | null;
  readonly earnings: string | null;
}

const DOLLARS = "USD";

/** Returns the currencies of an overview: analysts may estimate in another than the company files in. */
export function currenciesOf({ metrics, revenueEstimates, earnings }: Overview): Currencies {
  const all: Currencies = {
    filings: metrics?.currency ?? null,
    revenueEstimates: revenueEstimates?.currency ?? null,
    earnings: earnings?.[0]?.currency ?? null,
  };
  const isForeign = Object.values(all).some((each) => each !== null && each !== DOLLARS);
  return isForeign ? all : { filings: null, revenueEstimates: null, earnings: null };
}
