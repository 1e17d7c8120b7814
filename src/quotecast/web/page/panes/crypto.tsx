import { useMemo } from "preact/hooks";

import type { CryptoSymbol } from "../../client/index.ts";
import { ASK, BID, HIGH, LOW, PERCENT, PRICE, SYMBOL, VOLUME } from "../columns.ts";
import { instrumentOf } from "../instruments.ts";
import { AnswerView, useVisible } from "../pane.tsx";
import { rest, useAnswer } from "../service.ts";
import { LiveTable } from "../table.tsx";
import { say } from "../words.ts";

const COLUMNS = [SYMBOL, PRICE, PERCENT, BID, ASK, HIGH, LOW, VOLUME];

export function Crypto() {
  const answer = useAnswer(() => rest.call("GET /api/crypto/symbols"), "symbols", { active: useVisible() });
  return <AnswerView answer={answer}>{(symbols) => <Pairs symbols={symbols} />}</AnswerView>;
}

function Pairs({ symbols }: { readonly symbols: readonly CryptoSymbol[] }) {
  const rows = useMemo(() => symbols.map((each) => instrumentOf("crypto", each.ticker)), [symbols]);
  return <LiveTable label={say("crypto")} rows={rows} columns={COLUMNS} />;
}
