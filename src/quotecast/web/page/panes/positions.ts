import type { HoldingShown } from "quotecast-client";
import type { Worth } from "./gains.ts";

/** A purchase with its worth. */
export interface Lot {
  readonly holding: HoldingShown;
  readonly worth: Worth;
}

/** All purchases of one symbol, with their sums; null where a lot's value or the common currency is missing. */
export interface Position {
  readonly ticker: string;
  readonly lots: readonly Lot[];
  readonly shares: number;
  readonly currency: string | null;
  readonly averageCost: number | null;
  readonly worth: Worth;
}

/** Returns the positions in the order of their first lots. */
export function groupLots(lots: readonly Lot[]): Position[] {
  const groups = new Map<string, Lot[]>();
  for (const lot of lots) groups.set(lot.holding.ticker, [...(groups.get(lot.holding.ticker) ?? []), lot]);
  return [...groups].map(([ticker, each]) => positionOf(ticker, each));
}

function positionOf(ticker: string, lots: readonly Lot[]): Position {
  const currencies = new Set(lots.map(({ holding }) => holding.currency));
  const currency = currencies.size === 1 ? (lots[0]?.holding.currency ?? null) : null;
  const shares = sum(lots.map(({ holding }) => holding.shares));
  const cost = sum(lots.map(({ holding }) => holding.shares * holding.avg_cost));
  const values = lots.map(({ worth }) => worth.value);
  const value = currency === null || values.includes(null) ? null : sum(values as number[]);
  const gain = value === null ? null : value - cost;
  return {
    ticker,
    lots,
    shares,
    currency,
    averageCost: currency === null || !shares ? null : cost / shares,
    worth: {
      price: currency === null ? null : (lots[0]?.worth.price ?? null),
      value,
      gain,
      gainPercent: gain === null || !cost ? null : (gain / cost) * 100,
    },
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);

/** A part of the portfolio: its name, its value in the total's currency, and its share from 0 to 1. */
export interface Share {
  readonly name: string;
  readonly value: number;
  readonly share: number;
}

export const ALLOCATIONS = ["bySymbol", "byType", "byCurrency"] as const;
export type AllocationBy = (typeof ALLOCATIONS)[number];

/** The most parts of an allocation; the smaller ones are one part without a name. */
const MOST_PARTS = 12;

/** Returns the parts of the holdings that have a value in the total's currency, largest first. */
export function allocate(lots: readonly Lot[], by: AllocationBy): Share[] {
  const values = new Map<string, number>();
  for (const { holding, worth } of lots) {
    if (worth.value === null || !holding.converted) continue;
    const factor = holding.converted.rates.reduce((product, rate) => product * rate.rate, 1);
    const name = nameOf(holding, by);
    values.set(name, (values.get(name) ?? 0) + worth.value * factor);
  }
  const sorted = [...values].filter(([, value]) => value > 0).sort((one, other) => other[1] - one[1]);
  const parts = sorted.length > MOST_PARTS ? sorted.slice(0, MOST_PARTS - 1) : sorted;
  const rest = sum(sorted.slice(parts.length).map(([, value]) => value));
  const total = sum(sorted.map(([, value]) => value));
  const all: readonly (readonly [string, number])[] = rest ? [...parts, ["", rest]] : parts;
  return all.map(([name, value]) => ({ name, value, share: value / total }));
}

function nameOf(holding: HoldingShown, by: AllocationBy): string {
  if (by === "bySymbol") return holding.ticker;
  return by === "byType" ? (holding.type ?? "") : holding.currency;
}

/** Digits that every JavaScript number has. */
const SAFE_DIGITS = 15;

/** Returns whether a number of the service lost no digits on its way here, so that it may be sent again. */
export const isExact = (amount: number): boolean => String(amount).replace(/\D/g, "").length <= SAFE_DIGITS;

/** Returns the SVG paths of a line with gaps where a value is null, in a box, and the least and greatest value. */
export function gappedLine(values: readonly (number | null)[], width: number, height: number) {
  const known = values.filter((each) => each !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const y = (value: number) => (most === least ? height / 2 : (height * (most - value)) / (most - least));
  const point = (value: number, index: number) => `${round(index * step)} ${round(y(value))}`;
  let path = "";
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    const alone = (values[index - 1] ?? null) === null;
    path += `${alone ? "M" : "L"}${point(value, index)}`;
    // A point without neighbours is a dot of the line's round cap.
    if (alone && (values[index + 1] ?? null) === null) path += "h0.01";
  }
  return { path, least: known.length ? least : null, most: known.length ? most : null };
}

const round = (value: number): number => Math.round(value * 100) / 100;
