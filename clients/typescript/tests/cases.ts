/** The cases of clients/conformance, and their expectations of copies. */
import { Copy, type CopyFrame, type FeedName } from "../src/index.ts";

export type Json = Record<string, unknown>;
export type ByFeed<T> = Partial<Record<FeedName, T>>;
export interface Asked {
  readonly symbols: string[] | "all";
  readonly since?: string;
  readonly fields?: "price"[];
  readonly bars?: "1m";
  readonly bars_since?: string;
  readonly snapshot?: boolean;
}
export interface Held {
  readonly cursor: string | null;
  readonly quotes: Record<string, Json>;
  readonly bars?: Record<string, Record<string, Json[]>>;
  readonly missing?: boolean;
}
export type Frame = Json & { readonly type: string; readonly feed?: string };
export type Step = Json;

export interface Case {
  readonly name: string;
  readonly feed: FeedName | "all";
  readonly subprotocol: string;
  readonly ignored?: readonly string[];
  readonly steps: readonly Step[];
}

/** Throws if a copy of the case's frames is not the expected one. */
export function playOnCopies(given: Case): void {
  const copies = new Map<FeedName, Copy>();
  const copyOf = (feed: FeedName): Copy => {
    const copy = copies.get(feed) ?? new Copy(feed);
    copies.set(feed, copy);
    return copy;
  };
  for (const [number, step] of given.steps.entries()) {
    const { frame, copy, rest } = step as { frame?: Frame; copy?: Json; rest?: Json };
    if (frame?.type === "welcome") for (const each of copies.values()) each.take({ type: "welcome" });
    else if (frame) {
      const feed = (given.feed === "all" ? frame.feed : given.feed) as FeedName | undefined;
      if (feed) copyOf(feed).take(frame as unknown as CopyFrame);
    }
    if (rest) fill(copyOf((rest.feed ?? given.feed) as FeedName), rest);
    if (copy) compareAll(given, number, copy, copyOf);
  }
}

export function fill(copy: Copy, { bars }: Json): void {
  const bySymbol: Record<string, never[]> = {};
  for (const { ticker, symbol, final: _, ...bar } of bars as Json[]) {
    const key = (ticker ?? symbol) as string;
    bySymbol[key] = [...(bySymbol[key] ?? []), bar as never];
  }
  copy.bars.fill(bySymbol);
}

export function compareAll(given: Case, number: number, expected: Json, copyOf: (feed: FeedName) => Copy): void {
  const byFeed = (given.feed === "all" ? expected : { [given.feed]: expected }) as ByFeed<Held>;
  for (const [feed, held] of Object.entries(byFeed) as [FeedName, Held][])
    compare(`step ${number}: ${feed}`, given.ignored ?? [], copyOf(feed), held);
}

function compare(where: string, ignored: readonly string[], copy: Copy, expected: Held): void {
  const known = (quote: object) => Object.entries(quote).filter(([field]) => !ignored.includes(field));
  const quotes = [...copy.quotes].map(([key, quote]) => [key, Object.fromEntries(known(quote))]);
  require(`${where}: quotes`, Object.fromEntries(quotes), expected.quotes);
  require(`${where}: cursor`, copy.cursor, expected.cursor);
  if (!expected.bars) return;
  const key = [...copy.quotes.values()][0]?.type === "doviz_quote" ? "symbol" : "ticker";
  const bars = [...copy.bars.held].map(([symbol, held]) => [
    symbol,
    [...held.values()].map(({ key: name, ...bar }) => ({ [key]: name, ...bar })),
  ]);
  require(`${where}: bars`, { [copy.bars.interval]: Object.fromEntries(bars) }, expected.bars);
  require(`${where}: missing`, copy.bars.isMissing, expected.missing);
}

export const comparable = (asked: Asked): Asked =>
  ({ ...asked, symbols: Array.isArray(asked.symbols) ? [...asked.symbols].sort() : asked.symbols }) as Asked;

/** Returns JSON with fields in order. */
export const text = (value: unknown): string =>
  JSON.stringify(value, (_, each) =>
    each && typeof each === "object" && !Array.isArray(each) ? Object.fromEntries(Object.entries(each).sort()) : each,
  );

export function require(where: string, actual: unknown, expected: unknown): void {
  if (text(actual) !== text(expected)) throw new Error(`${where}: ${text(actual)} instead of ${text(expected)}`);
}
