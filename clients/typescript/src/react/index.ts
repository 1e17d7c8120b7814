import { useMemo, useSyncExternalStore } from "react";
import type { Client } from "../client.ts";
import type { Quote } from "../frames.ts";
import type { LiveQuotes } from "../live-quotes.ts";

/** The last quotes by the names that ask for them, without those that have not come. */
export type QuotesByName = Readonly<Record<string, Quote>>;

const NONE: QuotesByName = {};

/**
 * Returns the last quotes of symbols, and renders again when one of them changes, and only then.
 *
 * All components with the same client share one socket, which follows the symbols of those that are mounted.
 */
export function useQuotes(client: Client, symbols: readonly string[]): QuotesByName {
  // The list is often a new one with the same symbols.
  const list = symbols.join("\n");
  const store = useMemo(() => new Store(client.live, list ? list.split("\n") : []), [client, list]);
  return useSyncExternalStore(store.subscribe, store.read, readOnServer);
}

const readOnServer = (): QuotesByName => NONE;

/** The quotes of some names as one value, which stays the same while they do. */
class Store {
  #value = NONE;

  constructor(
    private readonly live: LiveQuotes,
    private readonly names: readonly string[],
  ) {}

  readonly subscribe = (onChange: () => void): (() => void) => this.live.watch(this.names, onChange);

  readonly read = (): QuotesByName => {
    const isSame = this.names.every((name) => this.live.quote(name) === this.#value[name]);
    if (!isSame) {
      const quotes = this.names.map((name) => [name, this.live.quote(name)] as const);
      this.#value = Object.fromEntries(quotes.filter((each): each is readonly [string, Quote] => Boolean(each[1])));
    }
    return this.#value;
  };
}
