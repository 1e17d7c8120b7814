import { useId, useMemo, useRef, useState } from "preact/hooks";

import type { SearchResult } from "quotecast-client";
import { Finder, type Found } from "../finder.ts";
import { rest } from "../service.ts";
import { say } from "../words.ts";

const AT_MOST = 8;
const NOTHING: Found<SearchResult> = { text: "", results: [], error: null };
const ask = (q: string) => rest.call("GET /api/search", { query: { q, limit: AT_MOST } });

interface Props {
  readonly onChoose: (result: SearchResult) => void;
}

/** A field for a symbol of any feed, with the symbols that fit what is typed; any other text is accepted too. */
export function SymbolPicker({ onChoose }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [found, setFound] = useState(NOTHING);
  const [active, setActive] = useState(-1);
  const finder = useMemo(() => new Finder(ask, setFound), []);
  const { results } = found;
  const close = () => {
    setFound(NOTHING);
    setActive(-1);
    finder.seek("");
  };
  const choose = (result: SearchResult) => {
    (input.current as HTMLInputElement).value = result.ticker;
    close();
    onChoose(result);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = results[active];
    if (step && results.length) setActive((active + step + results.length) % results.length);
    else if (event.key === "Enter" && chosen) choose(chosen);
    else if (event.key === "Escape" && results.length) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span class="picker">
      <input
        ref={input}
        name="ticker"
        required
        maxLength={40}
        autocomplete="off"
        spellcheck={false}
        placeholder={say("symbol")}
        aria-label={say("symbol")}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={results.length > 0}
        aria-controls={id}
        aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
        onInput={(event) => {
          setActive(-1);
          finder.seek(event.currentTarget.value.trim());
        }}
        onKeyDown={onKeyDown}
        onBlur={close}
      />
      <ul id={id} role="listbox" aria-label={say("fitting")} hidden={!results.length}>
        {results.map((each, index) => (
          <li
            key={`${each.type} ${each.ticker}`}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            // Before the field loses the focus, which closes the list.
            onMouseDown={(event) => {
              event.preventDefault();
              choose(each);
            }}
          >
            <b>{each.ticker}</b> {each.name} <small>{each.currency}</small>
          </li>
        ))}
      </ul>
    </span>
  );
}
