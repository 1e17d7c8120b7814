import { useEffect, useState } from "preact/hooks";
import { chosenColumns } from "../chosen-columns.ts";
import { ColumnChoice } from "../column-choice.tsx";
import {
  ASK,
  BID,
  CHANGE,
  type Column,
  DAY_RANGE,
  HIGH,
  LOW,
  OPEN,
  PERCENT,
  PREVIOUS_CLOSE,
  PRICE,
  SYMBOL,
  VOLUME,
} from "../columns.ts";
import type { Instrument } from "../instruments.ts";
import { same } from "../instruments.ts";
import { type Memory, Tools } from "../pane.tsx";
import { isReplay } from "../replay-state.ts";
import { useSelection } from "../selection.ts";
import { live } from "../service.ts";
import { sortingOf } from "../sorting.ts";
import { DAY_LINE, useSparklines } from "../sparklines.tsx";
import { LiveTable } from "../table.tsx";
import { currentList, moveWatched, toggleWatched, watched } from "../watchlists.ts";
import { say } from "../words.ts";
import { DeletedList, ListTools } from "./list-tools.tsx";

/** The line of the day outlives the volume and the change in a narrow pane. */
const USUAL = [SYMBOL, DAY_LINE, PRICE, { ...CHANGE, rank: 4 }, PERCENT, { ...VOLUME, rank: 3 }];
const ALL = [SYMBOL, DAY_LINE, PRICE, CHANGE, PERCENT, BID, ASK, OPEN, HIGH, LOW, DAY_RANGE, PREVIOUS_CLOSE, VOLUME];
/** Recorded quotes have no line: it is of the present day. */
const withoutLine = (columns: readonly Column[]) => columns.filter((column) => column.title !== DAY_LINE.title);

export function Watchlist({ memory, remember }: Memory) {
  const rows = watched.value;
  const [place, setPlace] = useState("");
  useSparklines(rows);
  const columns = useColumns(memory.columns);
  const sorting = sortingOf(memory.sort, columns);
  const move = (row: Instrument, index: number, isFinal: boolean) => {
    if (sorting) return;
    moveWatched(row, index, isFinal);
    const now = watched.value.findIndex((each) => same(each, row));
    setPlace(say("placeOfRow", { symbol: row.key, place: now + 1, count: rows.length }));
  };
  const [chosen] = useSelection();
  const index = rows.findIndex((each) => same(each, chosen));
  return (
    <>
      <Tools>
        <div class="lists">
          <ListTools />
          <ColumnChoice all={ALL} shown={columns} onChoose={(text) => remember({ columns: text })} />
          {sorting ? (
            <button
              type="button"
              class="small"
              title={say("ownOrderHint", { column: say(sorting.title) })}
              onClick={() => remember({ sort: "" })}
            >
              ↺ {say("ownOrder")}
            </button>
          ) : (
            index >= 0 && <Steps row={chosen} index={index} count={rows.length} onMove={move} />
          )}
          <p class="unseen" role="status">
            {sorting ? "" : place}
          </p>
        </div>
      </Tools>
      <DeletedList />
      {currentList.value.symbols === null ? (
        <p class="quiet">{say("loading")}</p>
      ) : !rows.length ? (
        <p class="quiet">{say("emptyWatchlist")}</p>
      ) : (
        <LiveTable
          label={say("watchlist")}
          rows={rows}
          columns={isReplay.value ? withoutLine(columns) : columns}
          heading={(row) => (isCode(row.key) ? row.key : <Name row={row} />)}
          action={(row) => <Remove row={row} />}
          sort={memory.sort}
          onSort={(sort) => remember({ sort })}
          onMove={move}
        />
      )}
    </>
  );
}

/** Returns the chosen columns; the same objects until the choice changes. */
function useColumns(text: string | undefined): readonly Column[] {
  const [known, setKnown] = useState(() => ({ text, columns: chosenColumns(ALL, USUAL, text) }));
  if (known.text === text) return known.columns;
  const columns = chosenColumns(ALL, USUAL, text);
  setKnown({ text, columns });
  return columns;
}

interface StepsProps {
  readonly row: Instrument;
  readonly index: number;
  readonly count: number;
  readonly onMove: (row: Instrument, index: number, isFinal: boolean) => void;
}

/** Moves the selected symbol without dragging. */
function Steps({ row, index, count, onMove }: StepsProps) {
  const symbol = row.key;
  return (
    <span class="steps">
      <button
        type="button"
        class="icon"
        aria-label={say("moveUp", { symbol })}
        title={say("moveUp", { symbol })}
        disabled={index === 0}
        onClick={() => onMove(row, index - 1, true)}
      >
        ↑
      </button>
      <button
        type="button"
        class="icon"
        aria-label={say("moveDown", { symbol })}
        title={say("moveDown", { symbol })}
        disabled={index === count - 1}
        onClick={() => onMove(row, index + 1, true)}
      >
        ↓
      </button>
    </span>
  );
}

function Remove({ row }: { readonly row: Instrument }) {
  const remove = (event: Event) => {
    event.stopPropagation();
    void toggleWatched(row);
  };
  return (
    <button type="button" class="icon" tabIndex={-1} aria-label={say("remove", { symbol: row.key })} onClick={remove}>
      ×
    </button>
  );
}

const isCode = (key: string) => key === key.toUpperCase();

/** The name of an instrument without a code, such as a gold coin. */
function Name({ row }: { readonly row: Instrument }) {
  const [name, setName] = useState(row.key);
  useEffect(() => live.watch(row.feed, row.key, (quote) => setName(quote.name)), [row.feed, row.key]);
  return <>{name}</>;
}
