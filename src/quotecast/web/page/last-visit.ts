import { signal } from "@preact/signals";

import { watched } from "./account.ts";
import { type Instrument, same } from "./instruments.ts";
import { type AnyQuote, FEEDS } from "./live.ts";
import { popOut } from "./pop-out.ts";
import { selected } from "./selection.ts";
import { feedStates, live } from "./service.ts";
import { isRecord, storedSignal } from "./stored.ts";

const SAVE_EVERY_MS = 60_000;
/** The time for which the page waits for the service before it shows the last visit's quotes. */
const PATIENCE_MS = 3000;
const QUOTES_AT_MOST = 200;

interface Visit {
  /** Time of the quotes (Unix milliseconds); 0 for never. */
  readonly at: number;
  readonly quotes: readonly (Instrument & { readonly quote: AnyQuote })[];
}

const isVisit = (value: unknown): value is Visit =>
  isRecord(value) &&
  typeof value.at === "number" &&
  Array.isArray(value.quotes) &&
  value.quotes.every((each) => isRecord(each) && isRecord(each.quote) && typeof each.key === "string");
const lastVisit = storedSignal<Visit>("lastVisit", { at: 0, quotes: [] }, isVisit);

/** Time of the old quotes on the screen (Unix milliseconds); null while they are of this visit. */
export const shownFrom = signal<number | null>(null);

/** Stores the quotes of the watchlist for a visit without the service. */
function save(): void {
  const times = FEEDS.map((name) => live.figures[name].feed.lastQuotesAt);
  const wanted = [selected.value, ...watched.value.filter((each) => !same(each, selected.value))];
  const quotes = wanted.slice(0, QUOTES_AT_MOST).flatMap((each) => {
    const quote = live.present(each.feed, each.key);
    return quote ? [{ feed: each.feed, key: each.key, quote }] : [];
  });
  if (quotes.length && shownFrom.value === null && !popOut) lastVisit.value = { at: Math.max(...times), quotes };
}

/** Shows the last visit's quotes, marked as old, until the service answers. */
function recall(): void {
  const { at, quotes } = lastVisit.value;
  if (!at || Object.values(feedStates.value).some((state) => state === "live")) return;
  for (const name of FEEDS) {
    const own = quotes.filter((each) => each.feed === name);
    live.recall(name, new Map(own.map((each) => [each.key, each.quote])));
  }
  shownFrom.value = at;
}

/** Stores quotes now and then, and shows those of the last visit while the service does not answer. */
export function bridgeOutages(): void {
  setInterval(() => document.hidden || save(), SAVE_EVERY_MS);
  document.addEventListener("visibilitychange", () => document.hidden && save());
  addEventListener("pagehide", save);
  setTimeout(recall, navigator.onLine ? PATIENCE_MS : 0);
  feedStates.subscribe((states) => {
    if (Object.values(states).includes("live")) shownFrom.value = null;
  });
  shownFrom.subscribe((at) => {
    document.documentElement.toggleAttribute("data-old", at !== null);
  });
}
