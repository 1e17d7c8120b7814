import { compact, plain } from "../formats.ts";
import { useAnswer } from "./client.ts";
import { Shown } from "./pages.tsx";
import { type Column, Table } from "./table.tsx";
import type { KeyUsage } from "./types.ts";
import { say } from "./words.ts";

const COLUMNS: readonly Column<KeyUsage>[] = [
  { word: "name", cell: (row) => row.name },
  { word: "id", cell: (row) => row.key_id },
  { word: "user", cell: (row) => row.email || say("ofOperator") },
  { word: "requests", cell: (row) => plain(row.requests), isNumber: true },
  { word: "refused", cell: (row) => plain(row.refused), isNumber: true },
  { word: "minutes", cell: (row) => plain(row.socket_minutes), isNumber: true },
  { word: "quotes", cell: (row) => compact(row.quotes), isNumber: true },
  { word: "bytes", cell: (row) => compact(row.bytes), isNumber: true },
];

/** The usage in a week of the keys with the most bytes. */
export function Usage() {
  const answer = useAnswer<readonly KeyUsage[]>("/usage?days=7");
  return (
    <Shown answer={answer}>
      {(rows) => <Table title={say("usage")} columns={COLUMNS} rows={rows} keyOf={(row) => row.key_id} />}
    </Shown>
  );
}
