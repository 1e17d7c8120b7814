import { useMemo } from "preact/hooks";

import type { DovizQuote, DovizSymbol } from "../../client/index.ts";
import { BUYING, PERCENT, SELLING, SYMBOL } from "../columns.ts";
import { price } from "../formats.ts";
import { type Instrument, instrumentOf } from "../instruments.ts";
import { AnswerView, Choice, type Memory, useVisible } from "../pane.tsx";
import { useQuotes } from "../quotes.ts";
import { selected } from "../selection.ts";
import { rest, useAnswer } from "../service.ts";
import { LiveTable } from "../table.tsx";
import { say } from "../words.ts";
import { groupOffers, type Offer } from "./banks.ts";

const CATEGORIES = ["currency", "gold", "silver", "precious_metals", "index"] as const;
type Category = (typeof CATEGORIES)[number];

const COLUMNS = [SYMBOL, BUYING, SELLING, PERCENT];

export function Doviz({ memory, remember }: Memory) {
  const category = CATEGORIES.find((each) => each === memory.category) ?? "currency";
  const answer = useAnswer(() => rest.call("GET /api/doviz/symbols"), "symbols", { active: useVisible() });
  const choose = (each: Category) => remember({ category: each });
  return (
    <>
      <div class="tools">
        <Choice
          label={say("category")}
          options={CATEGORIES}
          value={category}
          text={(each) => say(each)}
          onChoose={choose}
        />
      </div>
      <AnswerView answer={answer}>{(symbols) => <Board symbols={symbols[category] ?? []} />}</AnswerView>
    </>
  );
}

function Board({ symbols }: { readonly symbols: readonly DovizSymbol[] }) {
  const offers = useMemo(
    () => groupOffers(symbols).sort((one, other) => other.banks.length - one.banks.length),
    [symbols],
  );
  const rows = useMemo(() => offers.map((each) => instrumentOf("doviz", each.symbol)), [offers]);
  const names = useMemo(() => new Map(offers.map((each) => [each.symbol, each.name])), [offers]);
  const chosen = selected.value;
  const shown = offers.find((each) => chosen.feed === "doviz" && each.symbol === chosen.key) ?? offers[0];
  const heading = (row: Instrument) => names.get(row.key) ?? row.key;
  return (
    <>
      <LiveTable label={say("doviz")} rows={rows} columns={COLUMNS} heading={heading} />
      {shown && shown.banks.length > 0 && <Banks offer={shown} />}
    </>
  );
}

/** Buying and selling price of each bank; marks the best of each side, in words too. */
function Banks({ offer }: { readonly offer: Offer }) {
  const rows = useMemo(() => offer.banks.map((each) => instrumentOf("doviz", each.symbol)), [offer]);
  const quotes = useQuotes(rows, useVisible()).filter((quote) => quote !== undefined) as DovizQuote[];
  const best = {
    buying: Math.max(...quotes.map((each) => each.buying)),
    selling: Math.min(...quotes.map((each) => each.selling)),
  };
  return (
    <div class="banks" tabIndex={0} role="region" aria-label={`${offer.name}: ${say("source")}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{offer.name}</th>
            <th scope="col">{say("buying")}</th>
            <th scope="col">{say("selling")}</th>
            <th class="spread" scope="col">
              {say("spread")}
            </th>
          </tr>
        </thead>
        <tbody>
          {quotes.map((quote) => (
            <tr key={quote.symbol}>
              <th scope="row">{quote.source}</th>
              <Side value={quote.buying} best={best.buying} note={say("bestBuy")} />
              <Side value={quote.selling} best={best.selling} note={say("bestSell")} />
              <td class="spread">{price(quote.selling - quote.buying)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Side({ value, best, note }: { readonly value: number; readonly best: number; readonly note: string }) {
  const isBest = value === best;
  return (
    <td class={isBest ? "best" : undefined} title={isBest ? note : undefined}>
      {price(value)}
      {isBest && <span class="unseen"> {note}</span>}
    </td>
  );
}
