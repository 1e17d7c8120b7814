import { ApiError } from "../client/index.ts";
import { Observable } from "./observable.ts";
import { rest } from "./service.ts";
import { session } from "./session.ts";
import { stored } from "./stored.ts";
import { instrumentOf, type Instrument, same, typeOf } from "./instruments.ts";

const FIRST_WATCHED: Instrument[] = [
  ...["AAPL", "MSFT", "NVDA", "AMZN", "GOOGL", "META", "TSLA", "JPM", "XOM"].map((key) => instrumentOf("stock", key)),
  ...["BTC/USDT", "ETH/USDT", "SOL/USDT"].map((key) => instrumentOf("crypto", key)),
  ...["USD", "EUR", "gram-altin", "XU100"].map((key) => instrumentOf("doviz", key)),
];

/** The list of who is not logged in. */
const own = stored<Instrument[]>("watchlist", FIRST_WATCHED);
/** What is watched: the account's list, or this browser's. */
export const watched = new Observable<Instrument[]>(own.value);

/** Watches an instrument, or no longer; the page shows it at once, and again as it was if that fails. */
export async function toggleWatched(instrument: Instrument): Promise<void> {
  const before = watched.value;
  const rid = before.filter((each) => !same(each, instrument));
  const adds = rid.length === before.length;
  setWatched(adds ? [...before, instrument] : rid);
  if (!session.value) return;
  try {
    await (adds ? post(instrument) : remove(instrument));
  } catch (error) {
    watched.set(before);
    throw error;
  }
}

function setWatched(instruments: Instrument[]): void {
  watched.set(instruments);
  if (!session.value) own.set(instruments);
}

const post = (instrument: Instrument) =>
  rest.call("POST /api/watchlist", { body: { ticker: instrument.key, type: typeOf(instrument) } });

const remove = (instrument: Instrument) =>
  rest.call("DELETE /api/watchlist/{ticker}", {
    path: { ticker: instrument.key },
    query: { type: typeOf(instrument) },
  });

/** Brings the account's list; an account that has none yet gets this browser's. */
export async function loadWatched(): Promise<void> {
  if (!session.value) return watched.set(own.value);
  const entries = await ended(rest.call("GET /api/watchlist"));
  if (entries?.length) watched.set(entries.map((entry) => instrumentOf(entry.type, entry.ticker)));
  else if (entries) for (const instrument of watched.value) await post(instrument).catch(() => null);
}

/** The answer, or null after a token that is good no longer: then nobody is logged in. */
export async function ended<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    session.set(null);
    return null;
  }
}
