import { signal } from "@preact/signals";
import type { Session } from "../client/index.ts";
import { type Instrument, instrumentOf, isInstrument, same, typeOf } from "./instruments.ts";
import { rest, showError } from "./service.ts";
import { session } from "./session.ts";
import { storedSignal } from "./stored.ts";

const FIRST_WATCHED: Instrument[] = [
  ...["AAPL", "MSFT", "NVDA", "AMZN", "GOOGL", "META", "TSLA", "JPM", "XOM"].map((key) => instrumentOf("stock", key)),
  ...["BTC/USDT", "ETH/USDT", "SOL/USDT"].map((key) => instrumentOf("crypto", key)),
  ...["USD", "EUR", "gram-altin", "XU100"].map((key) => instrumentOf("doviz", key)),
];

const isList = (value: unknown): value is Instrument[] => Array.isArray(value) && value.every(isInstrument);
/** This browser's list, which the page shows while nobody is logged in. */
const own = storedSignal("watchlist", FIRST_WATCHED, isList);
/** The account's list as of the last answer; the page starts with it after a reload. */
const ofAccount = storedSignal<Instrument[]>("watchlistOfAccount", [], isList);
/** The watchlist on the screen: the account's, or this browser's. */
export const watched = signal<Instrument[]>(session.value ? ofAccount.value : own.value);

/** Adds an instrument to the watchlist or removes it. The page changes at once; a failure undoes that and says why. */
export async function toggleWatched(instrument: Instrument): Promise<void> {
  const before = watched.value;
  const rid = before.filter((each) => !same(each, instrument));
  const adds = rid.length === before.length;
  setWatched(adds ? [...before, instrument] : rid);
  if (!session.value) return;
  try {
    await (adds ? post(instrument) : remove(instrument));
  } catch (error) {
    // A void token has ended the session: the page shows this browser's list then.
    if (session.value) setWatched(before);
    showError(error);
  }
}

function setWatched(instruments: Instrument[]): void {
  watched.value = instruments;
  (session.value ? ofAccount : own).value = instruments;
}

const post = (instrument: Instrument) =>
  rest.call("POST /api/watchlist", { body: { ticker: instrument.key, type: typeOf(instrument) } });

const remove = (instrument: Instrument) =>
  rest.call("DELETE /api/watchlist/{ticker}", {
    path: { ticker: instrument.key },
    query: { type: typeOf(instrument) },
  });

/** Id of a user who has just registered: their account gets this browser's list. */
let newcomer: string | null = null;

/** Stores a session: every window of this browser is logged in. */
export function logIn(entered: Session, isNew: boolean): void {
  newcomer = isNew ? entered.user.id : null;
  ofAccount.value = [];
  session.value = entered;
}

/** Logs out in every window of this browser; the service makes the token void. */
export function logOut(): void {
  rest
    .call("PATCH /api/auth/profile", { body: { end_sessions: true } })
    .catch((error) => showError(error, "stillValid"));
  session.value = null;
}

/** Loads the account's list; without a session shows this browser's. */
export async function loadWatched(): Promise<void> {
  const entered = session.value;
  if (!entered) {
    watched.value = own.value;
    return;
  }
  if (newcomer === entered.user.id) await handOver();
  const entries = await rest.call("GET /api/watchlist");
  if (session.value === entered) setWatched(entries.map((entry) => instrumentOf(entry.type, entry.ticker)));
}

/** Copies this browser's list to the account, without symbols that the service no longer knows. */
async function handOver(): Promise<void> {
  newcomer = null;
  for (const instrument of own.value) await post(instrument).catch(() => null);
}
