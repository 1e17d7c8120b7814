import { effect } from "@preact/signals";
import { percent, quotedPrice } from "./formats.ts";
import type { Instrument } from "./instruments.ts";
import type { AnyQuote } from "./live.ts";
import { isReplay } from "./replay-state.ts";
import { selected } from "./selection.ts";
import { feedStates, live } from "./service.ts";

const EVERY_MS = 1000;
const NAME = "quotecast";

/** Returns the page's title: `AAPL 299.23 ▲ 1.20% · quotecast`; a triangle with a mark says that the price is old. */
export function titleOf(instrument: Instrument, quote: AnyQuote | undefined, isLive: boolean): string {
  if (!quote) return `${instrument.key} · ${NAME}`;
  const change = quote.changePercent;
  const arrow = !change ? "" : change > 0 ? " ▲" : " ▼";
  const size = change === null || change === undefined ? "" : ` ${percent(Math.abs(change)).replace("+", "")}`;
  return `${isLive ? "" : "⚠ "}${instrument.key} ${quotedPrice(instrument.key, quote.price)}${arrow}${size} · ${NAME}`;
}

/**
 * Shows the selected symbol's price in the title, once a second, in hidden windows too: there the title is all that
 * the reader sees.
 */
export function followTitle(): void {
  const show = () => {
    const { feed, key } = selected.value;
    const title = titleOf(selected.value, live.quote(feed, key), feedStates.value[feed] === "live" && !isReplay.value);
    if (title !== document.title) document.title = title;
  };
  // The page follows the symbol even if no pane shows it.
  effect(() => live.watch(selected.value.feed, selected.value.key, () => undefined));
  selected.subscribe(show);
  setInterval(show, EVERY_MS);
}
