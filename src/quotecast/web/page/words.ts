import { isOneOf, sharedSignal } from "./stored.ts";
import * as alerts from "./words/alerts.ts";
import * as apiKeys from "./words/api-keys.ts";
import * as chart from "./words/chart.ts";
import type * as chartPanels from "./words/chart-panels.ts";
import * as keys from "./words/keys.ts";
import * as lists from "./words/lists.ts";
import * as market from "./words/market.ts";
import * as panes from "./words/panes.ts";
import * as portfolio from "./words/portfolio.ts";
import * as screener from "./words/screener.ts";
import * as search from "./words/search.ts";
import * as shell from "./words/shell.ts";
import { english } from "./words-en.ts";
import { turkish } from "./words-tr.ts";

/** The words of the page's areas; each has a file of its own. */
const AREAS = [alerts, apiKeys, chart, keys, lists, market, panes, portfolio, screener, search, shell] as const;
type Area = (typeof AREAS)[number] | typeof chartPanels;
type KeysOf<T> = T extends unknown ? keyof T : never;
export type Word = keyof typeof english | KeysOf<Area["english"]>;
/** Each in its own language: the reader who needs it knows no other. */
export const LANGUAGE_NAMES = { en: "English", tr: "Türkçe" } as const;
export type Language = keyof typeof LANGUAGE_NAMES;
export const LANGUAGES = Object.keys(LANGUAGE_NAMES) as Language[];

const WORDS = {
  en: Object.assign({}, english, ...AREAS.map((each) => each.english)),
  tr: Object.assign({}, turkish, ...AREAS.map((each) => each.turkish)),
} as Record<Language, Record<Word, string>>;

/** Adds the words of an area that loads later than the page. */
export function addWords(area: { readonly english: object; readonly turkish: object }): void {
  Object.assign(WORDS.en, area.english);
  Object.assign(WORDS.tr, area.turkish);
}

/** English in the browser's region, for its dates and numbers. */
const regional = navigator.language.startsWith("en") ? navigator.language : "en-US";

export const language = sharedSignal<Language>(
  "language",
  navigator.language.startsWith("tr") ? "tr" : "en",
  isOneOf(LANGUAGES),
);

/** Returns the locale of numbers and times. */
export const locale = (): string => (language.value === "tr" ? "tr-TR" : regional);

/**
 * Returns a text in the reader's language; `{name}` becomes the value of that name.
 *
 * A component that calls this renders again when the language changes.
 */
export function say(word: Word, values: Record<string, string | number> = {}): string {
  return WORDS[language.value][word].replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ""));
}
