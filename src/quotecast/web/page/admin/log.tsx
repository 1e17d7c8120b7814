import { useState } from "preact/hooks";

import { dateAndClock } from "../formats.ts";
import { useAnswer } from "./client.ts";
import { Shown, Steps } from "./pages.tsx";
import { type Column, Table } from "./table.tsx";
import type { ActionShown } from "./types.ts";
import { say } from "./words.ts";

const COLUMNS: readonly Column<ActionShown>[] = [
  { word: "time", cell: (row) => dateAndClock(Date.parse(row.happened_at)) },
  { word: "actor", cell: (row) => `${row.actor} (${row.via})` },
  { word: "address", cell: (row) => row.address },
  { word: "action", cell: (row) => row.action },
  { word: "outcome", cell: (row) => <span class={row.outcome === "done" ? "" : "bad"}>{row.outcome}</span> },
  { word: "target", cell: (row) => [row.key_name, row.email, row.target].filter(Boolean).join(" · ") },
  { word: "detail", cell: (row) => row.detail },
];

/** The log of operators' actions, the newest first. */
export function Log() {
  const [before, setBefore] = useState("");
  const answer = useAnswer<readonly ActionShown[]>(`/actions${before && `?before=${before}`}`);
  return (
    <Shown answer={answer}>
      {(rows) => (
        <>
          <Table title={say("log")} columns={COLUMNS} rows={rows} keyOf={(row) => String(row.id)} />
          <Steps before={before} last={rows.at(-1)?.id.toString()} count={rows.length} onStep={setBefore} />
        </>
      )}
    </Shown>
  );
}
