/** A datafeed for TradingView's charts: history over HTTP, live bars and quotes over the feeds' socket. */
import { LiveCharts } from "./live.ts";
import { LiveQuotes } from "./live-quotes.ts";
import type {
  Bar,
  Configuration,
  ErrorCallback,
  FoundSymbol,
  HistoryMetadata,
  Mark,
  PeriodParams,
  QuoteData,
  SymbolInfo,
} from "./types.ts";
import { Udf } from "./udf.ts";

export type * from "./types.ts";

export interface DatafeedOptions {
  /** Origin of the service, such as `https://quotes.example.com`. */
  readonly address: string;
}

/** Results of a search at most. */
const MOST_FOUND = 30;

/**
 * TradingView's `IExternalDatafeed`, `IDatafeedChartApi` and `IDatafeedQuotesApi`.
 *
 * Callbacks come after the call has returned, as charts demand.
 */
export class Datafeed {
  readonly #udf: Udf;
  readonly #charts: LiveCharts;
  readonly #quotes: LiveQuotes;
  /** Symbols by the name that a chart asked for. */
  readonly #symbols = new Map<string, Promise<SymbolInfo>>();

  constructor({ address }: DatafeedOptions) {
    this.#udf = new Udf(address);
    this.#charts = new LiveCharts(address, this.#udf);
    this.#quotes = new LiveQuotes(address, this.#udf, (name) => this.#resolve(name));
  }

  onReady(callback: (configuration: Configuration) => void): void {
    this.#udf.configuration().then(callback, (error) => console.error("quotecast:", error));
  }

  searchSymbols(
    userInput: string,
    exchange: string,
    symbolType: string,
    onResult: (found: FoundSymbol[]) => void,
  ): void {
    this.#udf.search(userInput, exchange, symbolType, MOST_FOUND).then(onResult, () => onResult([]));
  }

  resolveSymbol(symbolName: string, onResolve: (symbol: SymbolInfo) => void, onError: ErrorCallback): void {
    this.#resolve(symbolName).then(onResolve, reason(onError));
  }

  getBars(
    symbolInfo: SymbolInfo,
    resolution: string,
    { from, to, countBack, firstDataRequest }: PeriodParams,
    onResult: (bars: Bar[], meta: HistoryMetadata) => void,
    onError: ErrorCallback,
  ): void {
    const span = { from, to, ...(countBack === undefined ? {} : { countback: countBack }) };
    this.#udf.history(symbolInfo.ticker, resolution, span).then(({ bars, meta }) => {
      if (firstDataRequest) this.#charts.remember(symbolInfo, resolution, bars);
      onResult(bars, meta);
    }, reason(onError));
  }

  /**
   * Follows the bars of a chart. After a gap that the feed cannot fill it calls `onResetCacheNeededCallback`; the
   * chart then asks for its bars again with `resetData()`.
   */
  subscribeBars(
    symbolInfo: SymbolInfo,
    resolution: string,
    onTick: (bar: Bar) => void,
    listenerGuid: string,
    onResetCacheNeededCallback: () => void = () => undefined,
  ): void {
    this.#charts.subscribe(listenerGuid, symbolInfo, resolution, onTick, onResetCacheNeededCallback);
  }

  unsubscribeBars(listenerGuid: string): void {
    this.#charts.unsubscribe(listenerGuid);
  }

  getMarks(
    symbolInfo: SymbolInfo,
    from: number,
    to: number,
    onDataCallback: (marks: Mark[]) => void,
    resolution: string,
  ): void {
    this.#udf.marks(symbolInfo.ticker, resolution, from, to).then(onDataCallback, () => onDataCallback([]));
  }

  getServerTime(callback: (time: number) => void): void {
    this.#udf.time().then(callback, () => undefined);
  }

  getQuotes(symbols: string[], onDataCallback: (data: QuoteData[]) => void, onErrorCallback: ErrorCallback): void {
    this.#udf.quotes(symbols).then(onDataCallback, reason(onErrorCallback));
  }

  subscribeQuotes(
    symbols: string[],
    fastSymbols: string[],
    onRealtimeCallback: (data: QuoteData[]) => void,
    listenerGUID: string,
  ): void {
    this.#quotes.subscribe(listenerGUID, [...symbols, ...fastSymbols], onRealtimeCallback);
  }

  unsubscribeQuotes(listenerGUID: string): void {
    this.#quotes.unsubscribe(listenerGUID);
  }

  /** Ends all subscriptions and their sockets. */
  close(): void {
    this.#charts.close();
    this.#quotes.close();
  }

  /** Returns a symbol, read once; a failure is not remembered. */
  #resolve(name: string): Promise<SymbolInfo> {
    const known = this.#symbols.get(name);
    if (known) return known;
    const asked = this.#udf.symbol(name);
    this.#symbols.set(name, asked);
    asked.catch(() => this.#symbols.delete(name));
    return asked;
  }
}

const reason = (callback: ErrorCallback) => (error: unknown) =>
  callback(error instanceof Error ? error.message : String(error));
