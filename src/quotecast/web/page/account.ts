import { signal } from "@preact/signals";
import type { Session } from "../client/index.ts";
import { type Instrument, instrumentOf, isInstrument, same, typeOf } from "./instruments.ts";
import { rest, tell } from "./service.ts";
import { session } from "./session.ts";
import { stored } from "./stored.ts";

const FIRST_WATCHED: Instrument[] = [
  ...["AAPL", "MSFT", "NVDA", "AMZN", "GOOGL", "META", "TSLA", "JPM", "XOM"].map((key) => instrumentOf("stock", key)),
  ...["BTC/USDT", "ETH/USDT", "SOL/USDT"].map((key) => instrumentOf("crypto", key)),
  ...["USD", "EUR", "gram-altin", "XU100"].map((key) => instrumentOf("doviz", key)),
];

const isList = (value: unknown): value is Instrument[] => Array.isArray(value) && value.every(isInstrument);
/** The list of who is not logged in. */
const own = stored("watchlist", FIRST_WATCHED, isList);
/** The account's list as it was last seen, to begin with after a reload. */
const ofAccount = stored<Instrument[]>("watchlistOfAccount", [], isList);
/** What is watched: the account's list, or this browser's. */
export const watched = signal<Instrument[]>(session.value ? ofAccount.value : own.value);

/** Watches an instrument, or no longer; the page shows it at once, and as it was, with the reason, if that fails. */
export async function toggleWatched(instrument: Instrument): Promise<void> {
  const before = watched.value;
  const rid = before.filter((each) => !same(each, instrument));
  const adds = rid.length === before.length;
  setWatched(adds ? [...before, instrument] : rid);
  if (!session.value) return;
  try {
    await (adds ? post(instrument) : remove(instrument));
  } catch (error) {
    // After a void token nobody is logged in, and the list is this browser's.
    if (session.value) setWatched(before);
    tell(error);
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

/** The user who has just registered: their account takes over this browser's list. */
let newcomer: string | null = null;

/** Logs in, in every window of this browser. */
export function enter(entered: Session, isNew: boolean): void {
  newcomer = isNew ? entered.user.id : null;
  ofAccount.value = [];
  session.value = entered;
}

/** Logs out in every window of this browser, and has the service make the token void. */
export function leave(): void {
  rest.call("PATCH /api/auth/profile", { body: { end_sessions: true } }).catch((error) => tell(error, "stillValid"));
  session.value = null;
}

/** Brings the account's list, which may be empty. */
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

/** Gives the account this browser's list; what the service knows no more is left out. */
async function handOver(): Promise<void> {
  newcomer = null;
  for (const instrument of own.value) await post(instrument).catch(() => null);
}
