import { computed, signal } from "@preact/signals";
import { ApiError } from "quotecast-client";
import { type EntryType, type Instrument, instrumentOf, isInstrument, same, typeOf } from "./instruments.ts";
import {
  areLists,
  changeList,
  DEFAULT_LIST,
  DEFAULT_NAME,
  findList,
  joinLists,
  moveSymbol,
  putBack,
  removeList,
  restoreList,
  type WatchList,
} from "./lists.ts";
import { answered } from "./retried.ts";
import { rest, showError } from "./service.ts";
import { session } from "./session.ts";
import { isText, sharedSignal, storedSignal } from "./stored.ts";

const FIRST_WATCHED: Instrument[] = [
  ...["AAPL", "MSFT", "NVDA", "AMZN", "GOOGL", "META", "TSLA", "JPM", "XOM"].map((key) => instrumentOf("stock", key)),
  ...["BTC/USDT", "ETH/USDT", "SOL/USDT"].map((key) => instrumentOf("crypto", key)),
  ...["USD", "EUR", "gram-altin", "XU100"].map((key) => instrumentOf("doviz", key)),
];
/** Wait in which several moves of rows share one request. */
const ORDER_AFTER_MS = 600;

const areSymbols = (value: unknown): value is Instrument[] => Array.isArray(value) && value.every(isInstrument);
const onlyList = (symbols: readonly Instrument[] | null): WatchList[] => [
  { id: DEFAULT_LIST, name: DEFAULT_NAME, symbols },
];
/** The list of a browser that has not stored several lists yet. */
const single = storedSignal("watchlist", FIRST_WATCHED, areSymbols);
/** This browser's lists, which the page shows while nobody is logged in. */
const own = sharedSignal<readonly WatchList[]>("watchlists", onlyList(single.value), areLists);
/** The account's lists as of the last answer; the page starts with them after a reload. */
const ofAccount = sharedSignal<readonly WatchList[]>("watchlistsOfAccount", onlyList([]), areLists);
/** The lists on the screen: the account's, or this browser's. */
export const lists = signal<readonly WatchList[]>(session.value ? ofAccount.value : own.value);
// Another window's changes.
own.subscribe((next) => {
  if (!session.value) lists.value = next;
});
ofAccount.subscribe((next) => {
  if (session.value) lists.value = next;
});
const currentId = storedSignal("list", DEFAULT_LIST, isText);
/** The list on the screen. */
export const currentList = computed(() => findList(lists.value, currentId.value));
/** The symbols of the list on the screen. */
export const watched = computed(() => currentList.value.symbols ?? []);

export interface Deleted {
  readonly list: WatchList;
  readonly index: number;
}
/** The list that was deleted last, until the next change. */
export const deleted = signal<Deleted | null>(null);

function setLists(next: readonly WatchList[]): void {
  lists.value = next;
  (session.value ? ofAccount : own).value = next;
}

/** Settles once the changes so far have their answers. */
let changed: Promise<unknown> = Promise.resolve();

function noteChange<T>(change: Promise<T>): Promise<T> {
  changed = Promise.allSettled([changed, change]);
  return change;
}

const setSymbols = (id: string, symbols: readonly Instrument[]) => setLists(changeList(lists.value, id, { symbols }));

/** Changes the lists at once; a failed request reverts this change, and no other, and says why. */
const attempt = (next: readonly WatchList[], request: () => Promise<unknown>, revert: Revert): Promise<void> =>
  noteChange(attemptNow(next, request, revert));

type Revert = (present: readonly WatchList[]) => readonly WatchList[];

async function attemptNow(next: readonly WatchList[], request: () => Promise<unknown>, revert: Revert): Promise<void> {
  const user = session.value?.user.id;
  setLists(next);
  deleted.value = null;
  if (!user) return;
  try {
    await request();
  } catch (error) {
    // A void token has ended the session: the page shows this browser's lists then.
    if (session.value?.user.id === user) setLists(revert(lists.value));
    showError(error);
  }
}

/** The parameter of a list's routes; the first list needs none. */
const query = (id: string) => (id === DEFAULT_LIST ? {} : { list: id });
const named = (instrument: Instrument) => ({ ticker: instrument.key, type: typeOf(instrument) });

const post = (id: string, instrument: Instrument) =>
  rest.call("POST /api/watchlist", { query: query(id), body: named(instrument) });

const remove = (id: string, instrument: Instrument) =>
  rest.call("DELETE /api/watchlist/{ticker}", {
    path: { ticker: instrument.key },
    query: { type: typeOf(instrument), ...query(id) },
  });

/** Adds an instrument to the list on the screen, or removes it. */
export async function toggleWatched(instrument: Instrument): Promise<void> {
  const { id } = currentList.value;
  const before = watched.value;
  const rid = before.filter((each) => !same(each, instrument));
  const adds = rid.length === before.length;
  const next = changeList(lists.value, id, { symbols: adds ? [...before, instrument] : rid });
  const revert: Revert = (present) => {
    const { symbols } = findList(present, id);
    if (!symbols) return present;
    const reverted = adds
      ? symbols.filter((each) => !same(each, instrument))
      : putBack(symbols, instrument, before, same);
    return changeList(present, id, { symbols: reverted });
  };
  await attempt(next, () => (adds ? post(id, instrument) : removeNow(id, instrument)), revert);
}

async function removeNow(id: string, instrument: Instrument): Promise<void> {
  const wasWaiting = id === DEFAULT_LIST && isWaiting(instrument);
  await remove(id, instrument).catch((error) => {
    if (!(wasWaiting && error instanceof ApiError && error.status === 404)) throw error;
  });
  if (wasWaiting) endWait(instrument);
}

/** Moves an instrument of the list on the screen to an index; `isFinal` stores the order. */
export function moveWatched(instrument: Instrument, index: number, isFinal: boolean): void {
  const { id } = currentList.value;
  if (index >= 0) setSymbols(id, moveSymbol(watched.value, instrument, index));
  if (isFinal && session.value) storeOrderSoon(id);
}

let timer: ReturnType<typeof setTimeout> | undefined;
let unsaved: string | null = null;

function storeOrderSoon(id: string): void {
  if (unsaved !== null && unsaved !== id) storeOrder();
  unsaved = id;
  clearTimeout(timer);
  timer = setTimeout(storeOrder, ORDER_AFTER_MS);
}

function storeOrder(): void {
  clearTimeout(timer);
  const id = unsaved;
  unsaved = null;
  if (id === null || !session.value) return;
  const symbols = (findList(lists.value, id).symbols ?? []).map(named);
  const stored = noteChange(rest.call("PUT /api/watchlist/order", { query: query(id), body: { symbols } }));
  // Not part of the change: a list loads only after all changes.
  stored.catch(async (error) => {
    showError(error);
    await loadSymbols(id).catch(() => null);
  });
}

/** Shows a list, and loads its symbols. */
export async function chooseList(id: string): Promise<void> {
  currentId.value = id;
  if (!session.value) return;
  await loadSymbols(id).catch(showError);
}

async function loadSymbols(id: string): Promise<void> {
  const user = session.value?.user.id;
  const entries = await readAfterChanges(() => rest.call("GET /api/watchlist", { query: query(id) }));
  // Moves that the page has not stored yet are newer than the answer.
  if (session.value?.user.id === user && unsaved !== id) setSymbols(id, instrumentsOf(entries));
}

const instrumentsOf = (entries: readonly { readonly type: EntryType; readonly ticker: string }[]) =>
  entries.map((entry) => instrumentOf(entry.type, entry.ticker));

/** Adds a list, with symbols or empty, and shows it. */
export const addList = (name: string, symbols: readonly Instrument[] = []): Promise<void> =>
  noteChange(addNow(name, symbols));

async function addNow(name: string, symbols: readonly Instrument[]): Promise<void> {
  try {
    const id = session.value ? await postList(name, symbols) : crypto.randomUUID();
    setLists([...lists.value, { id, name, symbols }]);
    deleted.value = null;
    currentId.value = id;
  } catch (error) {
    showError(error);
  }
}

async function postList(name: string, symbols: readonly Instrument[]): Promise<string> {
  return (await rest.call("POST /api/watchlists", { body: { name, symbols: symbols.map(named) } })).id;
}

export function renameList(id: string, name: string): Promise<void> {
  const before = findList(lists.value, id).name;
  return attempt(
    changeList(lists.value, id, { name }),
    () => rest.call("PATCH /api/watchlists/{list_id}", { path: { list_id: id }, body: { name } }),
    (present) => changeList(present, id, findList(present, id).name === name ? { name: before } : {}),
  );
}

/** Deletes a list; `undoDelete` brings it back. */
export async function deleteList(id: string): Promise<void> {
  const index = lists.value.findIndex((each) => each.id === id);
  const list = lists.value[index];
  if (!list || index === 0) return;
  if (list.symbols === null) await loadSymbols(id).catch(() => null);
  const whole = findList(lists.value, id);
  currentId.value = lists.value[index - 1]?.id ?? DEFAULT_LIST;
  const before = lists.value;
  const done = attempt(
    removeList(before, id),
    () => rest.call("DELETE /api/watchlists/{list_id}", { path: { list_id: id } }),
    (present) => putBack(present, whole, before, (a, b) => a.id === b.id),
  );
  deleted.value = { list: whole, index };
  await done;
  if (deleted.value?.list === whole && isThere(id)) deleted.value = null;
}

const isThere = (id: string): boolean => lists.value.some((each) => each.id === id);

/** Brings the deleted list back, with its symbols and in its place. */
export const undoDelete = (): Promise<void> => noteChange(undoNow());

async function undoNow(): Promise<void> {
  const undone = deleted.value;
  if (!undone) return;
  deleted.value = null;
  const { list, index } = undone;
  const user = session.value?.user.id;
  // The deletion may be under way, and may fail.
  await changed;
  if (session.value?.user.id !== user || isThere(list.id)) return;
  try {
    const id = session.value ? await postList(list.name, list.symbols ?? []) : list.id;
    setLists(restoreList(lists.value, { ...list, id }, index));
    currentId.value = id;
    if (session.value)
      await rest.call("PATCH /api/watchlists/{list_id}", { path: { list_id: id }, body: { position: index } });
  } catch (error) {
    deleted.value = undone;
    showError(error);
  }
}

/** Id of a user who has just registered: their account gets this browser's lists. */
let newcomer: string | null = null;
/** Symbols of this browser that the first list of a new account does not have yet. */
let waiting: readonly Instrument[] = [];
const isWaiting = (instrument: Instrument): boolean => waiting.some((each) => same(each, instrument));
const endWait = (instrument: Instrument): void => {
  waiting = waiting.filter((each) => !same(each, instrument));
};

/** Prepares the lists of an account that is about to open. */
export function openAccount(user: string, isNew: boolean): void {
  newcomer = isNew ? user : null;
  ofAccount.value = isNew ? own.value : onlyList(null);
}

/** Loads the account's lists; without a session shows this browser's. */
export async function loadWatched(): Promise<void> {
  deleted.value = null;
  waiting = [];
  // The lists of one user do not wait for the changes of another.
  changed = Promise.resolve();
  const user = session.value?.user.id;
  lists.value = user ? ofAccount.value : own.value;
  if (!user) return;
  const isHere = () => session.value?.user.id === user;
  if (newcomer === user) await noteChange(handOver(isHere));
  if (!isHere()) return;
  await answered(() => loadAll(user), isHere);
}

async function loadAll(user: string): Promise<void> {
  await loadSymbols(currentList.value.id).catch((error) => {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  });
  const found = await readAfterChanges(() => rest.call("GET /api/watchlists"));
  if (session.value?.user.id !== user) return;
  setLists(joinLists(found, lists.value));
  if (currentList.value.symbols === null) await loadSymbols(currentList.value.id);
}

/** Returns an answer of the service; one that the reader's change overtook is asked for again. */
async function readAfterChanges<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    const before = changed;
    await before;
    const found = await ask();
    if (changed === before) return found;
  }
}

/** Copies this browser's lists to the account, without symbols that the service no longer knows. */
async function handOver(isHere: () => boolean): Promise<void> {
  newcomer = null;
  const [first, ...others] = own.value;
  waiting = first?.symbols ?? [];
  // The symbols of the first list come last: the service takes them one by one, and a minute's limit may be in between.
  for (const { id: before, name, symbols } of others) {
    const id = await sent(() => postList(name, symbols ?? []), isHere);
    if (!isHere()) return;
    if (!id) continue;
    setLists(changeList(lists.value, before, { id }));
    if (currentId.value === before) currentId.value = id;
  }
  if (first && first.name !== DEFAULT_NAME) await renameList(DEFAULT_LIST, first.name);
  for (const instrument of waiting) {
    // The reader may remove it meanwhile.
    const isWanted = () => isHere() && isWaiting(instrument);
    if (isWanted()) await sent(() => post(DEFAULT_LIST, instrument), isWanted);
    if (!isHere()) return;
    endWait(instrument);
  }
}

/** Returns the answer to a request that waits for the service; null for one that fails for good, which a notice says. */
async function sent<T>(ask: () => Promise<T>, isWanted: () => boolean): Promise<T | null> {
  try {
    return await answered(ask, isWanted);
  } catch (error) {
    const isUnknown = error instanceof ApiError && [404, 422].includes(error.status);
    if (isWanted() && !isUnknown) showError(error);
    return null;
  }
}
