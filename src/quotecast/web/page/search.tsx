import { useEffect, useRef, useState } from "preact/hooks";

import { type Instrument, instrumentOf } from "./instruments.ts";
import { select } from "./selection.ts";
import { rest } from "./service.ts";
import { say } from "./words.ts";

interface Found extends Instrument {
  readonly name: string;
}

const [AFTER_MS, AT_MOST] = [180, 6];

export function Search() {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [found, setFound] = useState<readonly Found[] | null>(null);
  const [active, setActive] = useState(0);
  useEffect(() => hotkey(input), []);
  useEffect(() => {
    const wanted = text.trim();
    if (!wanted) {
      setFound(null);
      return;
    }
    let current = true;
    const timer = setTimeout(async () => {
      const matches = await searchAll(wanted);
      if (!current) return;
      setFound(matches);
      setActive(0);
    }, AFTER_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text]);
  const choose = (each: Found | undefined) => {
    if (each) select({ feed: each.feed, key: each.key });
    setText("");
    setFound(null);
    input.current?.blur();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found?.length) {
      event.preventDefault();
      setActive((active + step + found.length) % found.length);
    } else if (event.key === "Enter") choose(found?.[active]);
    else if (event.key === "Escape") choose(undefined);
  };
  return (
    <div class="search">
      <input
        ref={input}
        type="search"
        role="combobox"
        list={undefined}
        aria-label={say("search")}
        aria-expanded={found !== null}
        aria-controls="found"
        aria-activedescendant={found?.length ? `found-${active}` : undefined}
        placeholder={`${say("search")}  /`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onBlur={() => setFound(null)}
      />
      {found !== null && (
        <ul id="found" role="listbox" aria-label={say("search")}>
          {found.map((each, index) => (
            <li
              key={`${each.feed} ${each.key}`}
              id={`found-${index}`}
              role="option"
              aria-selected={index === active}
              onPointerDown={() => choose(each)}
            >
              <b>{each.key}</b> <span>{each.name}</span> <small>{say(each.feed)}</small>
            </li>
          ))}
          {!found.length && (
            <li role="option" aria-selected={false}>
              {say("noSuchSymbol")}
            </li>
          )}
        </ul>
      )}
    </div>
  );
}

/** Focuses the search field at a slash, unless another field or dialog has the focus. */
function hotkey(input: { current: HTMLInputElement | null }): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "/" || (event.target as Element).closest("input, select, textarea, dialog[open]")) return;
    event.preventDefault();
    input.current?.focus();
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}

async function searchAll(text: string): Promise<Found[]> {
  const [stocks, others] = await Promise.all([searchStocks(text), smallFeeds()]);
  const folded = text.toLocaleLowerCase();
  const begins = others.filter(
    (each) => each.key.toLowerCase().startsWith(folded) || each.name.toLocaleLowerCase().includes(folded),
  );
  return [...stocks.slice(0, AT_MOST), ...begins.slice(0, AT_MOST)];
}

async function searchStocks(search: string): Promise<Found[]> {
  const assets = await rest.call("GET /api/market/assets", { query: { search, limit: AT_MOST } }).catch(() => []);
  return assets.map((each) => ({ ...instrumentOf("stock", each.ticker), name: each.name }));
}

let symbols: Promise<Found[]> | null = null;

/** Returns all pairs, currencies and metals: few enough to search in the browser. */
function smallFeeds(): Promise<Found[]> {
  symbols ??= Promise.all([rest.call("GET /api/crypto/symbols"), rest.call("GET /api/doviz/symbols")]).then(
    ([pairs, doviz]) => [
      ...pairs.map((each) => ({ ...instrumentOf("crypto", each.ticker), name: each.name })),
      ...Object.values(doviz)
        .flat()
        .map((each) => ({ ...instrumentOf("doviz", each.symbol), name: `${each.name} · ${each.source}` })),
    ],
    () => {
      symbols = null;
      return [];
    },
  );
  return symbols;
}
