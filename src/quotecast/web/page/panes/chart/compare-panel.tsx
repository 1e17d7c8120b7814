import { useRef, useState } from "preact/hooks";

import { ApiError } from "quotecast-client";
import { type Instrument, instrumentOf, same } from "../../instruments.ts";
import { explain, rest } from "../../service.ts";
import { say } from "../../words.ts";
import { MOST_COMPARED, parseCompared, writeCompared } from "./compare.ts";
import { freeSlot } from "./slots.ts";
import type { ChartState } from "./state.ts";

/** Adds and removes the symbols beside the chart's own. */
export function ComparePanel({ state: { memory, remember, instrument } }: { readonly state: ChartState }) {
  const [text, setText] = useState("");
  const [message, setMessage] = useState("");
  const compared = parseCompared(memory.compare, instrument);
  // The answer to a symbol may come after others were added.
  const latest = useRef(compared);
  latest.current = compared;
  const set = (next: typeof compared) => {
    latest.current = next;
    remember({ compare: writeCompared(next) });
  };
  const add = async () => {
    if (!text.trim()) return;
    try {
      const found = await find(text.trim());
      if (!found) return setMessage(say("unknownSymbol"));
      if (same(found, instrument) || latest.current.some((each) => same(each, found)))
        return setMessage(say("alreadyShown"));
      if (latest.current.length < MOST_COMPARED) set([...latest.current, { ...found, slot: freeSlot(latest.current) }]);
      // The reader may be at the next symbol already.
      setText((now) => (now === text ? "" : now));
      setMessage("");
    } catch (error) {
      setMessage(explain(error));
    }
  };
  const isFull = compared.length >= MOST_COMPARED;
  return (
    <>
      <ul class="rows">
        {compared.map((each) => (
          <li key={`${each.feed} ${each.key}`}>
            <b>{each.key}</b> <span>{say(each.feed)}</span>
            <button
              type="button"
              class="icon"
              aria-label={say("remove", { symbol: each.key })}
              onClick={() => set(latest.current.filter((other) => !same(other, each)))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <input
          aria-label={say("compareWith")}
          placeholder={say("compareWith")}
          value={text}
          maxLength={32}
          disabled={isFull}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" disabled={isFull}>
          {say("add")}
        </button>
      </form>
      <p role="status">{isFull ? say("comparedFull", { most: MOST_COMPARED }) : message}</p>
      <p>{say("compareHelp")}</p>
    </>
  );
}

const isUnknown = (error: unknown): null => {
  if (error instanceof ApiError && error.status === 404) return null;
  throw error;
};

/** Returns the instrument of a symbol in the first feed that knows it; null in none. */
async function find(symbol: string): Promise<Instrument | null> {
  const path = { symbol };
  const stock = await rest.call("GET /api/market/quotes/{symbol}", { path }).catch(isUnknown);
  if (stock) return instrumentOf("stock", stock.ticker);
  const pair = await rest.call("GET /api/crypto/quotes/{symbol}", { path }).catch(isUnknown);
  if (pair) return instrumentOf("crypto", pair.ticker);
  const doviz = await rest.call("GET /api/doviz/quotes/{symbol}", { path }).catch(isUnknown);
  return doviz && instrumentOf("doviz", doviz.symbol);
}
