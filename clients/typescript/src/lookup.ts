import { ApiError, UnknownSymbols } from "./errors.ts";
import type { FeedName, Quote } from "./frames.ts";
import { FEEDS, fold, namesIn, type Place, splitName } from "./names.ts";
import type { Page, Rest } from "./rest.ts";

/** A quote, and the feed that has it. */
export interface Found {
  readonly feed: FeedName;
  readonly symbol: string;
  readonly quote: Quote;
}

/** Names of one feed that are read one by one; more are read with all others of the feed. */
const FEW = 5;
/** Names of one request for stocks. */
const MOST = 500;
/** Errors by which a feed says that it does not have a symbol. */
const ABSENT = new Set<string | undefined>(["symbol_not_found", "no_provider"]);

/**
 * Returns the quotes of names: of each, that of the first feed that has it. Those of a whole feed, such as
 * `crypto:all`, are there by their symbols.
 */
export async function findQuotes(rest: Rest, names: Iterable<string>): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  const split = namesIn(names).map((name) => ({ name, ...splitName(name) }));
  for (const feed of FEEDS) {
    const open = split.filter(({ name, feeds }) => feeds.includes(feed) && !found.has(name));
    if (!open.length) continue;
    const { quotes, renamed } = await readQuotes(rest, feed, [...new Set(open.map(({ symbol }) => symbol))]);
    const bySymbol = new Map(quotes.map((quote) => [fold(symbolOf(feed, quote)), quote]));
    for (const [former, symbol] of renamed) {
      const quote = bySymbol.get(fold(symbol));
      if (quote) bySymbol.set(fold(former), quote);
    }
    for (const { name, symbol } of open)
      if (symbol === "all") for (const quote of quotes) found.set(symbolOf(feed, quote), foundIn(feed, quote));
      else {
        const quote = bySymbol.get(fold(symbol));
        if (quote) found.set(name, foundIn(feed, quote));
      }
  }
  return found;
}

/** Returns the feeds and symbols of names, and the names that no feed has; asks only where a name does not say it. */
export async function findPlaces(
  rest: Rest,
  names: Iterable<string>,
): Promise<{ places: Map<string, Place>; unknown: string[] }> {
  const split = namesIn(names).map((name) => ({ name, ...splitName(name) }));
  const open = split.filter(({ feeds }) => feeds.length > 1).map(({ name }) => name);
  const found = open.length ? await findQuotes(rest, open) : new Map<string, Found>();
  const places = new Map<string, Place>();
  for (const { name, feeds, symbol } of split) {
    const [feed, ...others] = feeds;
    const place = others.length ? found.get(name) : { feed: feed as FeedName, symbol };
    if (place) places.set(name, { feed: place.feed, symbol: place.symbol });
  }
  return { places, unknown: open.filter((name) => !places.has(name)) };
}

/** Returns the error for names that no feed has, with what the first of them may mean. */
export async function unknownSymbols(rest: Rest, names: readonly string[]): Promise<UnknownSymbols> {
  const proposals = await Promise.all(names.slice(0, FEW).map(async (name) => [name, await proposal(rest, name)]));
  return new UnknownSymbols(names, Object.fromEntries(proposals.filter(([, text]) => text)));
}

async function proposal(rest: Rest, name: string): Promise<string | undefined> {
  const { feeds, symbol } = splitName(name);
  try {
    const feed = feeds[0] as FeedName;
    // The list of a whole feed has no former symbols.
    const quote: Quote = await rest.call(`GET /api/${feed}/quotes/{symbol}`, { path: { symbol } });
    return `It is ${symbolOf(feed, quote)} now.`;
  } catch (error) {
    if (error instanceof ApiError && error.code === "symbol_not_found") return error.problem.errors?.[0]?.message;
  }
  return undefined;
}

export function symbolOf(feed: FeedName, quote: Quote): string {
  return feed === "doviz" ? (quote as { symbol: string }).symbol : (quote as { ticker: string }).ticker;
}

const foundIn = (feed: FeedName, quote: Quote): Found => ({ feed, symbol: symbolOf(feed, quote), quote });

/** Quotes, and former symbols with the present ones. */
interface Answered {
  readonly quotes: Quote[];
  readonly renamed: [string, string][];
}

async function readQuotes(rest: Rest, feed: FeedName, symbols: readonly string[]): Promise<Answered> {
  const isWhole = symbols.includes("all");
  if (feed === "market") {
    const lists = isWhole ? ["all"] : listsOf(symbols);
    return answered(lists.map((list) => rest.page("GET /api/market/quotes", { query: { symbols: list } })));
  }
  if (isWhole || symbols.length > FEW) return answered([rest.page(`GET /api/${feed}/quotes`)]);
  return answered(symbols.map((symbol) => one(rest, feed, symbol)));
}

async function one(rest: Rest, feed: "crypto" | "doviz", symbol: string): Promise<Page<Record<string, Quote>>> {
  const page: Page<Quote> = await rest.page(`GET /api/${feed}/quotes/{symbol}`, { path: { symbol } });
  return { ...page, data: { [symbol]: page.data } };
}

async function answered(pages: readonly Promise<Page<Record<string, Quote>>>[]): Promise<Answered> {
  const known = (await Promise.all(pages.map(orNothing))).filter((page) => page !== null);
  return {
    quotes: known.flatMap(({ data }) => Object.values(data)),
    renamed: known.flatMap(({ renamed }) => Object.entries(renamed)),
  };
}

/** Returns null if the feed does not have the symbol, or the service not the feed. */
async function orNothing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && ABSENT.has(error.code)) return null;
    throw error;
  }
}

/** Returns symbols as lists of queries; the ticker ALL alone would mean every stock. */
function listsOf(symbols: readonly string[]): string[] {
  const parts = Array.from({ length: Math.ceil(symbols.length / MOST) }, (_, part) =>
    symbols.slice(part * MOST, (part + 1) * MOST),
  );
  return parts.map((part) => (part.length === 1 ? [...part, ...part] : part).join());
}
