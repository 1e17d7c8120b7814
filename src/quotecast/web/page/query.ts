import { type EntryType, type Instrument, instrumentOf, typeOf } from "./instruments.ts";
import { isOneOf } from "./stored.ts";

const isType = isOneOf<EntryType>(["stock", "crypto", "doviz"]);
const TICKER = /^[A-Za-z0-9./-]{1,40}$/;

/** Returns the instrument that a query names, such as `?symbol=BTC%2FUSDT&type=crypto`; null without a valid one. */
export function parseSymbol(search: string): Instrument | null {
  const query = new URLSearchParams(search);
  const [symbol, type] = [query.get("symbol") ?? "", query.get("type") ?? "stock"];
  if (!TICKER.test(symbol) || !isType(type)) return null;
  return instrumentOf(type, type === "doviz" ? symbol : symbol.toUpperCase());
}

/** Returns the query with another workspace, which may have no name. */
export function withWorkspace(search: string, name: string): string {
  const query = new URLSearchParams(search);
  if (name) query.set("workspace", name);
  else query.delete("workspace");
  return `?${query}`;
}

/** Returns the query with another instrument; its other fields stay. */
export function withSymbol(search: string, instrument: Instrument): string {
  const query = new URLSearchParams(search);
  query.set("symbol", instrument.key);
  query.set("type", typeOf(instrument));
  return `?${query}`;
}
