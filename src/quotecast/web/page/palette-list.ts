import type { SearchResult } from "quotecast-client";
import type { Command } from "./commands.ts";
import { type Instrument, instrumentOf } from "./instruments.ts";

/** An instrument as the palette shows it. */
export interface Choice extends Instrument {
  readonly name: string;
  /** The exchange, bank or market. */
  readonly venue: string;
}

export type Item =
  | { readonly kind: "symbol"; readonly choice: Choice }
  | { readonly kind: "command"; readonly command: Command };

export interface Section {
  readonly title: "recent" | "symbols" | "commands";
  readonly items: readonly Item[];
}

/** Letters from which on the beginning of a command's title beats symbols. */
const LEADING_FROM = 3;

/** Returns a text without letter case, accents and Turkish letters, as the service compares it. */
export const fold = (text: string): string =>
  text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").replaceAll("ı", "i");

const wordsOf = (text: string): string[] => fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];

/** Returns the part of a text that the service looks up: nothing of one that begins with `>`. */
export const soughtIn = (text: string): string => (text.trim().startsWith(">") ? "" : text.trim());

/** Returns the commands whose titles have words that begin with each word of the text. */
export function matchCommands(commands: readonly Command[], text: string): Command[] {
  const wanted = wordsOf(text);
  return commands.filter(({ title }) => {
    const words = wordsOf(title());
    return wanted.every((begin) => words.some((word) => word.startsWith(begin)));
  });
}

export const choiceOf = ({ type, ticker, name, exchange, source }: SearchResult): Choice => ({
  ...instrumentOf(type, ticker),
  name,
  venue: exchange ?? source ?? "",
});

/** Returns the sections of the palette for a text: without one the recent choices and all commands. */
export function sectionsOf(
  text: string,
  found: readonly Choice[],
  recent: readonly Choice[],
  commands: readonly Command[],
): Section[] {
  const matching = matchCommands(commands, text);
  const symbols = section(text.trim() ? "symbols" : "recent", (text.trim() ? found : recent).map(symbolItem));
  const others = section("commands", matching.map(commandItem));
  const sections = isLed(text, found, matching) ? [others, symbols] : [symbols, others];
  return sections.filter(({ items }) => items.length);
}

/** Returns whether the text begins a command's title, and names no symbol. */
function isLed(text: string, found: readonly Choice[], matching: readonly Command[]): boolean {
  const folded = fold(text.trim());
  return (
    folded.length >= LEADING_FROM &&
    matching.some(({ title }) => fold(title()).startsWith(folded)) &&
    !found.some(({ key }) => fold(key) === folded)
  );
}

const section = (title: Section["title"], items: readonly Item[]): Section => ({ title, items });
const symbolItem = (choice: Choice): Item => ({ kind: "symbol", choice });
const commandItem = (command: Command): Item => ({ kind: "command", command });
