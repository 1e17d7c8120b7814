import { useMemo } from "preact/hooks";

import type { DovizSymbol } from "quotecast-client";
import { BUYING, PERCENT, SELLING, SYMBOL } from "../columns.ts";
import { type Instrument, instrumentOf } from "../instruments.ts";
import { instrumentName } from "../names.ts";
import { AnswerView, Choice, type Memory, Tools, useVisible } from "../pane.tsx";
import { useSelection } from "../selection.ts";
import { rest, useAnswer } from "../service.ts";
import { LiveTable } from "../table.tsx";
import { say } from "../words.ts";
import { Banks } from "./bank-table.tsx";
import { CATEGORIES, type Category, groupOffers } from "./banks.ts";

const COLUMNS = [SYMBOL, BUYING, SELLING, PERCENT];

export function Doviz({ memory, remember }: Memory) {
  const category = CATEGORIES.find((each) => each === memory.category) ?? "currency";
  const answer = useAnswer(() => rest.call("GET /api/doviz/symbols"), "symbols", { active: useVisible() });
  const choose = (each: Category) => remember({ category: each });
  return (
    <>
      <Tools>
        <Choice
          label={say("category")}
          options={CATEGORIES}
          value={category}
          text={(each) => say(each)}
          onChoose={choose}
        />
      </Tools>
      <AnswerView answer={answer}>
        {(symbols) => <Board category={category} symbols={symbols[category] ?? []} />}
      </AnswerView>
    </>
  );
}

interface BoardProps {
  readonly category: Category;
  readonly symbols: readonly DovizSymbol[];
}

function Board({ category, symbols }: BoardProps) {
  const offers = useMemo(
    () => groupOffers(symbols).sort((one, other) => other.banks.length - one.banks.length),
    [symbols],
  );
  const rows = useMemo(() => offers.map((each) => instrumentOf("doviz", each.symbol)), [offers]);
  const names = useMemo(() => new Map(offers.map((each) => [each.symbol, each.name])), [offers]);
  const [chosen] = useSelection();
  const shown = offers.find((each) => chosen.feed === "doviz" && each.symbol === chosen.key) ?? offers[0];
  const heading = (row: Instrument) => instrumentName(row, names.get(row.key) ?? row.key);
  return (
    <>
      <LiveTable label={say("doviz")} rows={rows} columns={COLUMNS} heading={heading} />
      {shown && shown.banks.length > 0 && <Banks category={category} offer={shown} />}
    </>
  );
}
