import { feedOf, Line, type Listener } from "./lines.ts";
import type { QuoteData, QuoteValues, SymbolInfo } from "./types.ts";
import type { Udf } from "./udf.ts";

/** Names of a quote's fields in a chart. */
const FIELDS: readonly (readonly [keyof QuoteValues, string])[] = [
  ["lp", "price"],
  ["ch", "change"],
  ["chp", "changePercent"],
  ["bid", "bid"],
  ["bid", "buying"],
  ["ask", "ask"],
  ["ask", "selling"],
  ["open_price", "open"],
  ["high_price", "high"],
  ["low_price", "low"],
  ["prev_close_price", "previousClose"],
  ["volume", "volume"],
];

type OnQuotes = (data: QuoteData[]) => void;

/** Quotes of watchlists as they change. */
export class LiveQuotes {
  readonly #line: Line;
  readonly #listeners = new Map<string, Listener[]>();

  constructor(
    address: string,
    private readonly udf: Udf,
    private readonly resolve: (name: string) => Promise<SymbolInfo>,
  ) {
    this.#line = new Line(address, "none");
  }

  /** Calls `onQuotes` with all quotes, then with each that changes, until `unsubscribe` with the same id. */
  subscribe(id: string, names: readonly string[], onQuotes: OnQuotes): void {
    this.unsubscribe(id);
    const listeners: Listener[] = [];
    this.#listeners.set(id, listeners);
    this.udf
      .quotes(names)
      .then((quotes) => this.#listeners.get(id) === listeners && onQuotes(quotes))
      .catch(() => undefined);
    for (const name of new Set(names)) {
      this.resolve(name)
        .then((symbol) => this.#listeners.get(id) === listeners && this.#follow(listeners, name, symbol, onQuotes))
        .catch(() => onQuotes([{ s: "error", n: name, v: {} }]));
    }
  }

  unsubscribe(id: string): void {
    for (const each of this.#listeners.get(id) ?? []) this.#line.remove(each);
    this.#listeners.delete(id);
  }

  close(): void {
    for (const id of [...this.#listeners.keys()]) this.unsubscribe(id);
  }

  #follow(listeners: Listener[], name: string, symbol: SymbolInfo, onQuotes: OnQuotes): void {
    const listener: Listener = {
      feed: feedOf(symbol),
      key: symbol.name,
      onQuote: (quote) => onQuotes([{ s: "ok", n: name, v: valuesOf(symbol, quote) }]),
    };
    listeners.push(listener);
    this.#line.add(listener);
  }
}

function valuesOf({ name, exchange, description }: SymbolInfo, quote: Record<string, unknown>): QuoteValues {
  const values: QuoteValues = { short_name: name, exchange, description };
  for (const [ours, field] of FIELDS) {
    const value = quote[field];
    // Volumes of stocks are digits.
    if (value !== undefined && value !== null) Object.assign(values, { [ours]: Number(value) });
  }
  return values;
}
