import type { ComponentChildren } from "preact";
import { compact, difference, percent, quotedPrice } from "./formats.ts";
import type { Instrument } from "./instruments.ts";
import type { AnyQuote } from "./live.ts";
import type { Word } from "./words.ts";

export interface Column {
  readonly title: Word;
  readonly text: (quote: AnyQuote) => string;
  /** The value to sort by; a cell lights up when it grows or shrinks. */
  readonly value?: (quote: AnyQuote) => number | string | null | undefined;
  /** The number whose sign colours the cell. */
  readonly sign?: (quote: AnyQuote) => number | null | undefined;
  readonly lights?: boolean;
  /** A picture in place of the text, and its width in pixels. */
  readonly drawing?: { readonly width: number; readonly draw: (row: Instrument) => ComponentChildren };
  readonly className?: string;
  /** A narrow table drops the columns of the highest rank first; a column without a rank always stays. */
  readonly rank?: number;
}

type Numbers = Record<string, number | null | undefined>;
const number = (field: string) => (quote: AnyQuote) => (quote as unknown as Numbers)[field];
const isRise = (quote: AnyQuote) => quote.change;

const keyOf = (quote: AnyQuote): string => ("ticker" in quote ? quote.ticker : quote.symbol);

export const SYMBOL: Column = { title: "symbol", text: () => "", value: keyOf };
export const PRICE: Column = {
  title: "last",
  text: (quote) => quotedPrice(keyOf(quote), quote.price),
  value: number("price"),
  lights: true,
  className: "price",
};
export const CHANGE: Column = {
  title: "change",
  text: (quote) => difference(quote.change),
  value: number("change"),
  sign: isRise,
  rank: 3,
};
export const PERCENT: Column = {
  title: "changePercent",
  text: (quote) => percent(quote.changePercent),
  value: number("changePercent"),
  sign: isRise,
  rank: 1,
};
export const VOLUME: Column = {
  title: "volume",
  text: (quote) => compact("volume" in quote ? quote.volume : null),
  value: (quote) => ("volume" in quote && quote.volume !== null ? Number(quote.volume) : null),
  rank: 2,
};

const priceColumn = (
  title: "bid" | "ask" | "buying" | "selling" | "high" | "low" | "open" | "previousClose",
  rest: Partial<Column> = {},
): Column => ({
  title,
  text: (quote) => quotedPrice(keyOf(quote), number(title)(quote)),
  value: number(title),
  ...rest,
});

export const BID = priceColumn("bid", { lights: true, rank: 4 });
export const ASK = priceColumn("ask", { lights: true, rank: 4 });
export const HIGH = priceColumn("high", { rank: 5 });
export const LOW = priceColumn("low", { rank: 5 });
export const BUYING = priceColumn("buying", { lights: true, className: "side" });
export const SELLING = priceColumn("selling", { lights: true, className: "side" });
export const OPEN = priceColumn("open", { rank: 6 });
export const PREVIOUS_CLOSE = priceColumn("previousClose", { rank: 6 });
/** The day's lowest and highest price; sorted by the place of the price between them. */
export const DAY_RANGE: Column = {
  title: "range24",
  text: (quote) => {
    const [low, high] = [quote.low, quote.high].map((each) => quotedPrice(keyOf(quote), each));
    return quote.low === null || quote.high === null ? "–" : `${low} – ${high}`;
  },
  value: ({ low, high, price: now }) =>
    low === null || high === null || high <= low ? null : (now - low) / (high - low),
  rank: 6,
};
