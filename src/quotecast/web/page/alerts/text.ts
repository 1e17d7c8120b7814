import type { AlertShown, EventShown } from "quotecast-client";
import type { english } from "../words/alerts.ts";

export type AlertWord = keyof typeof english;
type Window = NonNullable<AlertShown["window"]>;
export type Say = (word: AlertWord, values?: Record<string, string | number>) => string;
/** Formats numbers in the reader's language. */
export interface Numbers {
  readonly price: (value: number) => string;
  readonly percent: (value: number) => string;
}

export const CONDITIONS = ["above", "below", "rises", "falls"] as const;
export const WINDOWS = ["5m", "15m", "1h", "day"] as const;
export const CONDITION_NAMES: Record<AlertShown["condition"], AlertWord> = {
  above: "alertAbove",
  below: "alertBelow",
  rises: "alertRises",
  falls: "alertFalls",
};
export const WINDOW_NAMES: Record<Window, AlertWord> = {
  "5m": "window5m",
  "15m": "window15m",
  "1h": "window1h",
  day: "windowDay",
};
const PHRASES: Record<AlertShown["condition"], AlertWord> = {
  above: "phraseAbove",
  below: "phraseBelow",
  rises: "phraseRises",
  falls: "phraseFalls",
};

export const isOfPrice = (condition: AlertShown["condition"]): boolean =>
  condition === "above" || condition === "below";

/** Returns an alert's condition in words: "above 300.00", "falls 5% in 15 min". */
export function phraseOf(
  { condition, value, window }: Pick<AlertShown, "condition" | "value" | "window">,
  say: Say,
  { price, percent }: Numbers,
): string {
  const shown = isOfPrice(condition) ? price(value) : percent(value);
  return say(PHRASES[condition], { value: shown, window: window ? say(WINDOW_NAMES[window]) : "" });
}

/** Returns the title and the text of a notice about an event. */
export function noticeOf(event: EventShown, say: Say, numbers: Numbers): { title: string; text: string } {
  const change = isOfPrice(event.condition) ? "" : ` (${numbers.percent(event.measured)})`;
  const text = say("priceThen", { price: numbers.price(event.price) }) + change;
  return {
    title: `${event.ticker} ${phraseOf(event, say, numbers)}`,
    text: event.note ? `${text} · ${event.note}` : text,
  };
}

/**
 * Returns how far a quote is from an alert's threshold: in percent of the price, or in points of percent of the day.
 *
 * Null where the page does not know the measure: changes in minutes are the service's.
 */
export function distanceOf(
  { condition, value, window }: Pick<AlertShown, "condition" | "value" | "window">,
  quote: { readonly price: number; readonly changePercent?: number | null },
): number | null {
  if (isOfPrice(condition)) return quote.price ? (100 * (value - quote.price)) / quote.price : null;
  if (window !== "day" || quote.changePercent === null || quote.changePercent === undefined) return null;
  return (condition === "falls" ? -value : value) - quote.changePercent;
}
