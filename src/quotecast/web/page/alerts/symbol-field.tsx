import { useEffect, useState } from "preact/hooks";

import type { SearchResult } from "quotecast-client";
import type { EntryType } from "../instruments.ts";
import { rest } from "../service.ts";
import { say, type Word } from "../words.ts";

const [AFTER_MS, AT_MOST] = [180, 8];
const TYPES: Record<EntryType, Word> = { stock: "market", crypto: "crypto", doviz: "doviz" };

interface Props {
  readonly ticker: string;
  readonly type: EntryType;
  readonly onChoose: (ticker: string, type: EntryType) => void;
}

/** A field for a symbol of any feed, which suggests what the search finds. */
export function SymbolField({ ticker, type, onChoose }: Props) {
  const [found, setFound] = useState<readonly SearchResult[]>([]);
  useEffect(() => {
    const wanted = ticker.trim();
    if (!wanted || found.some((each) => each.ticker === ticker)) return;
    let current = true;
    const timer = setTimeout(async () => {
      const results = await rest.call("GET /api/search", { query: { q: wanted, limit: AT_MOST } }).catch(() => []);
      if (!current) return;
      setFound(results);
      const exact = results.filter((each) => each.ticker === ticker);
      if (exact[0] && exact.every((each) => each.type !== type)) onChoose(ticker, exact[0].type);
    }, AFTER_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [ticker, type]);
  const note = (text: string) => {
    const exact = found.find((each) => each.ticker === text);
    onChoose(text, exact?.type ?? type);
  };
  return (
    <div class="pair">
      <label>
        {say("symbol")}
        <input
          name="ticker"
          required
          maxLength={40}
          list="alert-symbols"
          autocomplete="off"
          value={ticker}
          onInput={(event) => note(event.currentTarget.value)}
        />
        <datalist id="alert-symbols">
          {found.map((each) => (
            <option key={`${each.type} ${each.ticker}`} value={each.ticker}>
              {each.name}
            </option>
          ))}
        </datalist>
      </label>
      <label>
        {say("alertSymbolType")}
        <select value={type} onChange={(event) => onChoose(ticker, event.currentTarget.value as EntryType)}>
          {Object.entries(TYPES).map(([each, word]) => (
            <option key={each} value={each}>
              {say(word)}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
