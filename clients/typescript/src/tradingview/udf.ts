import type { Bar, Configuration, FoundSymbol, HistoryMetadata, Mark, QuoteData, SymbolInfo } from "./types.ts";

interface Table {
  readonly s: "ok" | "no_data";
  readonly t?: number[];
  readonly o?: number[];
  readonly h?: number[];
  readonly l?: number[];
  readonly c?: number[];
  readonly v?: number[];
  readonly nextTime?: number;
}

export interface History {
  readonly bars: Bar[];
  readonly meta: HistoryMetadata;
}

type Parameters = Record<string, string | number>;
type Columns<T> = { readonly [K in keyof T]: T[K][] };

/** Length of the longest wait for a path over its limit; a chart shows an error after longer ones. */
const LONGEST_WAIT_SECONDS = 30;

/** The UDF routes of a service. */
export class Udf {
  readonly #address: string;

  constructor(address: string) {
    this.#address = address.replace(/\/+$/, "");
  }

  configuration(): Promise<Configuration> {
    return this.#get("config");
  }

  /** Returns a symbol. Throws `unknown_symbol`, for which charts have a picture. */
  async symbol(name: string): Promise<SymbolInfo> {
    return this.#get("symbols", { symbol: name });
  }

  search(query: string, exchange: string, type: string, limit: number): Promise<FoundSymbol[]> {
    return this.#get("search", { query: query.slice(0, 64), exchange, type, limit });
  }

  /** Returns the bars of a span, or the last `countback` ones before its end. */
  async history(ticker: string, resolution: string, span: Parameters): Promise<History> {
    const table = await this.#get<Table>("history", { symbol: ticker, resolution, ...span });
    if (table.s === "ok") return { bars: barsOf(table), meta: { noData: false } };
    const { nextTime } = table;
    return { bars: [], meta: { noData: true, nextTime: nextTime === undefined ? null : nextTime * 1000 } };
  }

  async marks(ticker: string, resolution: string, from: number, to: number): Promise<Mark[]> {
    const table = await this.#get<Columns<Mark>>("marks", { symbol: ticker, resolution, from, to });
    const names = Object.keys(table) as (keyof Mark)[];
    return table.id.map(
      (_, row) => Object.fromEntries(names.map((name) => [name, table[name][row]])) as unknown as Mark,
    );
  }

  time(): Promise<number> {
    return this.#get("time");
  }

  async quotes(names: readonly string[]): Promise<QuoteData[]> {
    return (await this.#get<{ d: QuoteData[] }>("quotes", { symbols: names.join(",") })).d;
  }

  /** Returns an answer; waits once if the path is over its limit. Throws an Error with the service's reason. */
  async #get<T>(path: string, parameters: Parameters = {}): Promise<T> {
    const texts = Object.entries(parameters).map(([name, value]) => [name, String(value)]);
    const url = `${this.#address}/api/udf/${path}${texts.length ? `?${new URLSearchParams(texts)}` : ""}`;
    let response = await fetch(url);
    const wait = Number(response.headers.get("Retry-After") ?? Number.NaN);
    if (response.status === 429 && wait <= LONGEST_WAIT_SECONDS) {
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
      response = await fetch(url);
    }
    if (response.ok) return response.json();
    const { errmsg, detail, code } = await response.json().catch(() => ({}));
    throw new Error(code === "symbol_not_found" ? "unknown_symbol" : (errmsg ?? detail ?? response.statusText));
  }
}

function barsOf({ t = [], o = [], h = [], l = [], c = [], v }: Table): Bar[] {
  return t.map((time, row) => {
    const prices = { open: o[row] ?? 0, high: h[row] ?? 0, low: l[row] ?? 0, close: c[row] ?? 0 };
    const volume = v?.[row];
    return { time: time * 1000, ...prices, ...(volume === undefined ? {} : { volume }) };
  });
}
