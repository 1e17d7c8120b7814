import type { Column } from "./columns.ts";
import type { Instrument } from "./instruments.ts";
import type { Word } from "./words.ts";

export interface Sorting {
  readonly title: Word;
  readonly descending: boolean;
}

/** Returns a sorting as a pane remembers it: `price`, or `-price` for the greatest first; empty for none. */
export const sortingText = (sorting: Sorting | null): string =>
  sorting ? `${sorting.descending ? "-" : ""}${sorting.title}` : "";

/** Returns the sorting of a remembered text, if one of the columns has its title. */
export function sortingOf(text: string | undefined, columns: readonly Column[]): Sorting | null {
  const column = columns.find((each) => each.value && each.title === text?.replace(/^-/, ""));
  return column ? { title: column.title, descending: text?.startsWith("-") ?? false } : null;
}

/** Returns the sorting after a click on a heading: its usual direction, the other one, then none. */
export function nextSorting(sorting: Sorting | null, { title }: Column, isFirst: boolean): Sorting | null {
  if (sorting?.title !== title) return { title, descending: !isFirst };
  return sorting.descending === isFirst ? null : { title, descending: isFirst };
}

/** Returns the rows in order of the values of their quotes. */
export function sortRows(
  rows: readonly Instrument[],
  sortValue: (row: Instrument) => unknown,
  descending: boolean,
): readonly Instrument[] {
  const keyed = rows.map((row) => ({ row, value: sortValue(row) }));
  keyed.sort((one, other) => compareValues(one.value, other.value) * (descending ? -1 : 1));
  return keyed.map((each) => each.row);
}

function compareValues(one: unknown, other: unknown): number {
  if (typeof one === "string" && typeof other === "string") return one.localeCompare(other);
  return Number(one ?? -Infinity) - Number(other ?? -Infinity) || 0;
}
