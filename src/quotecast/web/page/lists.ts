import { type Instrument, isInstrument, same } from "./instruments.ts";
import { isRecord, isText } from "./stored.ts";

/** A named watchlist. */
export interface WatchList {
  readonly id: string;
  readonly name: string;
  /** Null until the service's answer. */
  readonly symbols: readonly Instrument[] | null;
}

/** Id of the first list, which cannot be deleted. */
export const DEFAULT_LIST = "default";
/** The service's name for a first list without another one; the page shows it in the reader's language. */
export const DEFAULT_NAME = "Watchlist";
export const LISTS_AT_MOST = 20;
export const NAME_LENGTH = 60;

const isList = (value: unknown): value is WatchList =>
  isRecord(value) &&
  isText(value.id) &&
  isText(value.name) &&
  (value.symbols === null || (Array.isArray(value.symbols) && value.symbols.every(isInstrument)));

/** Accepts stored lists of which the first is the default list. */
export const areLists = (value: unknown): value is WatchList[] =>
  Array.isArray(value) && value.every(isList) && value[0]?.id === DEFAULT_LIST;

/** Returns the list with an id; the first one if there is none. */
export const findList = (lists: readonly WatchList[], id: string): WatchList =>
  lists.find((each) => each.id === id) ?? (lists[0] as WatchList);

/** Returns the lists with one of them changed. */
export const changeList = (lists: readonly WatchList[], id: string, change: Partial<WatchList>): WatchList[] =>
  lists.map((each) => (each.id === id ? { ...each, ...change } : each));

/** Returns the lists without one of them; the first list stays. */
export const removeList = (lists: readonly WatchList[], id: string): WatchList[] =>
  lists.filter((each) => each.id !== id || id === DEFAULT_LIST);

/** Returns the lists with a deleted one back in its place. */
export const restoreList = (lists: readonly WatchList[], deleted: WatchList, index: number): WatchList[] => [
  ...lists.slice(0, index),
  deleted,
  ...lists.slice(index),
];

/** Returns the items with a removed one back in front of the first that followed it in `before`. */
export function putBack<T>(
  items: readonly T[],
  removed: T,
  before: readonly T[],
  isSame: (a: T, b: T) => boolean,
): readonly T[] {
  if (items.some((each) => isSame(each, removed))) return items;
  const followers = before.slice(before.findIndex((each) => isSame(each, removed)) + 1);
  const next = items.findIndex((each) => followers.some((follower) => isSame(each, follower)));
  return items.toSpliced(next < 0 ? items.length : next, 0, removed);
}

/** Returns whether a name is free for a list: no other list has it, in any case. */
export const isFree = (lists: readonly WatchList[], name: string, id: string | null = null): boolean =>
  lists.every((each) => each.id === id || each.name.toLowerCase() !== name.trim().toLowerCase());

/** Returns the symbols with one moved to an index. */
export function moveSymbol(symbols: readonly Instrument[], moved: Instrument, index: number): Instrument[] {
  const others = symbols.filter((each) => !same(each, moved));
  if (others.length === symbols.length) return others;
  const place = Math.max(0, Math.min(others.length, index));
  return [...others.slice(0, place), moved, ...others.slice(place)];
}

/** Returns the service's lists with the symbols that the page knows already. */
export const joinLists = (
  answered: readonly { readonly id: string; readonly name: string }[],
  known: readonly WatchList[],
): WatchList[] =>
  answered.map(({ id, name }) => ({ id, name, symbols: known.find((each) => each.id === id)?.symbols ?? null }));
