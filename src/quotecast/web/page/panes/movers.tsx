import { useMemo } from "preact/hooks";

import type { Mover } from "quotecast-client";
import { PERCENT, PRICE, SYMBOL, VOLUME } from "../columns.ts";
import { instrumentOf } from "../instruments.ts";
import { AnswerView, Choice, type Memory, Tools, useVisible } from "../pane.tsx";
import { rest, useAnswer } from "../service.ts";
import { LiveTable } from "../table.tsx";
import { say } from "../words.ts";

const COLUMNS = [SYMBOL, PRICE, PERCENT, VOLUME];
const SIDES = ["gainers", "losers"] as const;
const EVERY_MS = 5000;

export function Movers({ memory, remember }: Memory) {
  const side = memory.side === "losers" ? "losers" : "gainers";
  const answer = useAnswer(() => rest.call("GET /api/market/movers"), "movers", {
    everyMs: EVERY_MS,
    active: useVisible(),
  });
  return (
    <>
      <Tools>
        <Choice
          label={say("movers")}
          options={SIDES}
          value={side}
          text={(each) => say(each)}
          onChoose={(each) => remember({ side: each })}
        />
      </Tools>
      <AnswerView answer={answer}>{(movers) => <Ranking movers={movers[side]} />}</AnswerView>
    </>
  );
}

function Ranking({ movers }: { readonly movers: readonly Mover[] }) {
  const rows = useMemo(() => movers.map((each) => instrumentOf("stock", each.ticker)), [movers]);
  return <LiveTable label={say("movers")} rows={rows} columns={COLUMNS} />;
}
