/** The parts of TradingView's datafeed interfaces that this package implements, declared anew: no dependency. */

export interface Bar {
  /** Unix milliseconds; of a day or longer, midnight UTC of the first trading day. */
  time: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume?: number;
}

export interface SymbolInfo {
  readonly name: string;
  readonly ticker: string;
  readonly description: string;
  readonly type: string;
  readonly exchange: string;
  readonly listed_exchange: string;
  readonly timezone: string;
  readonly session: string;
  readonly session_holidays: string;
  readonly corrections: string;
  readonly minmov: number;
  readonly pricescale: number;
  readonly format: "price";
  readonly has_intraday: boolean;
  readonly has_daily: boolean;
  readonly has_weekly_and_monthly: boolean;
  readonly intraday_multipliers: string[];
  readonly supported_resolutions: string[];
  readonly visible_plots_set: "ohlcv" | "ohlc";
  readonly volume_precision: number;
  readonly data_status: "streaming" | "delayed_streaming";
  readonly delay?: number;
  readonly currency_code: string;
}

export interface Configuration {
  readonly supported_resolutions: string[];
  readonly supports_search: boolean;
  readonly supports_group_request: boolean;
  readonly supports_marks: boolean;
  readonly supports_timescale_marks: boolean;
  readonly supports_time: boolean;
  readonly exchanges: { value: string; name: string; desc: string }[];
  readonly symbols_types: { name: string; value: string }[];
}

export interface FoundSymbol {
  readonly symbol: string;
  readonly full_name: string;
  readonly description: string;
  readonly exchange: string;
  readonly ticker: string;
  readonly type: string;
}

/** Times in Unix seconds; `to` is exclusive. */
export interface PeriodParams {
  readonly from: number;
  readonly to: number;
  readonly countBack?: number;
  readonly firstDataRequest: boolean;
}

export interface HistoryMetadata {
  readonly noData?: boolean;
  /** Time of the last bar before a span without bars, in Unix milliseconds. */
  readonly nextTime?: number | null;
}

export interface QuoteValues {
  lp?: number;
  ch?: number;
  chp?: number;
  bid?: number;
  ask?: number;
  open_price?: number;
  high_price?: number;
  low_price?: number;
  prev_close_price?: number;
  volume?: number;
  short_name?: string;
  exchange?: string;
  description?: string;
}

/** A quote, under the name by which the chart asked for it. */
export interface QuoteData {
  readonly s: "ok" | "error";
  readonly n: string;
  readonly v: QuoteValues;
}

export interface Mark {
  readonly id: string;
  readonly time: number;
  readonly color: string;
  readonly text: string;
  readonly label: string;
  readonly labelFontColor: string;
  readonly minSize: number;
}

export type ErrorCallback = (reason: string) => void;
