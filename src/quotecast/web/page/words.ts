import { isOneOf, storedSignal } from "./stored.ts";
import { english, type Word } from "./words-en.ts";
import { turkish } from "./words-tr.ts";

export type { Word };
export type Language = "en" | "tr";

const WORDS: Record<Language, Record<Word, string>> = { en: english, tr: turkish };
/** English in the browser's region, for its dates and numbers. */
const regional = navigator.language.startsWith("en") ? navigator.language : "en-US";

export const language = storedSignal<Language>(
  "language",
  navigator.language.startsWith("tr") ? "tr" : "en",
  isOneOf(["en", "tr"]),
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
