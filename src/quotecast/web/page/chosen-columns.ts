import type { Column } from "./columns.ts";

/**
 * Returns the first column and those that the reader chose, in the order of `all`.
 *
 * Chosen columns have no rank: a narrow table scrolls rather than drop them. An empty choice shows `usual`.
 */
export function chosenColumns(all: readonly Column[], usual: readonly Column[], text: string | undefined): Column[] {
  const titles = new Set(text?.split(","));
  const chosen = all.slice(1).filter((each) => titles.has(each.title));
  if (!text || !chosen.length) return [...usual];
  return [all[0] as Column, ...chosen.map((each) => ({ ...each, rank: 0 }))];
}
