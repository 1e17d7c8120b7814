import { type EntryType, type Instrument, instrumentOf, typeOf } from "./instruments.ts";
import { FIELDS } from "./panes/screen.ts";
import { isOneOf } from "./stored.ts";

const isType = isOneOf<EntryType>(["stock", "crypto", "doviz"]);
const TICKER = /^[A-Za-z0-9./-]{1,40}$/;
const LONGEST_FIELD = 40;

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

/** Returns what a query asks of a screener, such as `?sector=Energy&minPrice=10`; null where it asks nothing. */
export function parseScreen(search: string): Record<string, string> | null {
  const query = new URLSearchParams(search);
  if (!FIELDS.some((each) => query.get(each))) return null;
  return Object.fromEntries(FIELDS.map((each) => [each, (query.get(each) ?? "").slice(0, LONGEST_FIELD)]));
}

/** Returns the query with what a screener asks for. */
export function withScreen(search: string, screen: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(search);
  for (const each of FIELDS)
    if (screen[each]) query.set(each, screen[each]);
    else query.delete(each);
  return `?${query}`;
}
