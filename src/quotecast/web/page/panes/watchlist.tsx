import { useEffect, useState } from "preact/hooks";

import { toggleWatched, watched } from "../account.ts";
import { CHANGE, PERCENT, PRICE, SYMBOL, VOLUME } from "../columns.ts";
import type { Instrument } from "../instruments.ts";
import type { QuoteSource } from "../live.ts";
import { rewind } from "../replay.ts";
import { live } from "../service.ts";
import { DAY_LINE, useSparklines } from "../sparklines.tsx";
import { LiveTable } from "../table.tsx";
import { say } from "../words.ts";
import { Replayed } from "./replayed.tsx";

/** The line of the day outlives the volume and the change in a narrow pane. */
const COLUMNS = [SYMBOL, DAY_LINE, PRICE, { ...CHANGE, rank: 4 }, PERCENT, { ...VOLUME, rank: 3 }];
/** Recorded quotes have no line: it is of the present day. */
const REPLAYED_COLUMNS = COLUMNS.filter((column) => column !== DAY_LINE);

export function Watchlist() {
  const rows = watched.value;
  useSparklines(rows);
  if (!rows.length) return <p class="quiet">{say("emptyWatchlist")}</p>;
  const remove = (row: (typeof rows)[number]) => (event: Event) => {
    event.stopPropagation();
    void toggleWatched(row);
  };
  const table = (shown: readonly Instrument[], source: QuoteSource) => (
    <LiveTable
      source={source}
      label={say("watchlist")}
      rows={shown}
      columns={source === live ? COLUMNS : REPLAYED_COLUMNS}
      heading={(row) => (isCode(row.key) ? row.key : <Name row={row} />)}
      action={(row) => (
        <button type="button" class="icon" aria-label={say("remove", { symbol: row.key })} onClick={remove(row)}>
          ×
        </button>
      )}
    />
  );
  const start = rewind.value;
  return start ? (
    <Replayed rows={rows} start={start}>
      {table}
    </Replayed>
  ) : (
    table(rows, live)
  );
}

const isCode = (key: string) => key === key.toUpperCase();

/** The name of an instrument without a code, such as a gold coin. */
function Name({ row }: { readonly row: Instrument }) {
  const [name, setName] = useState(row.key);
  useEffect(() => live.watch(row.feed, row.key, (quote) => setName(quote.name)), [row.feed, row.key]);
  return <>{name}</>;
}
