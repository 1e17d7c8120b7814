import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Column } from "./columns.ts";
import { tone } from "./formats.ts";
import type { Instrument } from "./instruments.ts";
import { same } from "./instruments.ts";
import type { QuoteSource } from "./live.ts";
import { useVisible } from "./pane.tsx";
import { select, selected } from "./selection.ts";
import { live } from "./service.ts";
import { ACTION_WIDTH, type Fit, useFit } from "./widths.ts";
import { language, say } from "./words.ts";

interface Sorting {
  readonly column: number;
  readonly descending: boolean;
}

interface Props {
  readonly label: string;
  readonly rows: readonly Instrument[];
  readonly columns: readonly Column[];
  readonly heading?: (row: Instrument) => ComponentChildren;
  readonly action?: (row: Instrument) => ComponentChildren;
  readonly source?: QuoteSource;
}

const ROW_HEIGHT = 28;
/** Rows rendered beyond those in view, so that scrolling shows no gaps. */
const MARGIN_ROWS = 4;
const SORT_EVERY_MS = 2000;

/** A table of quotes that move, which renders and paints only the rows in view. */
export function LiveTable({ label, rows, columns, heading, action, source = live }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const sorted = useSorted(rows, columns, sorting, source);
  const [from, to] = useWindow(frame, sorted.length);
  const shown = sorted.slice(from, to);
  const keys = useMemo(() => rows.map((row) => row.key), [rows]);
  const fit = useFit(frame, columns, keys, action !== undefined);
  return (
    <div class="table-frame" ref={frame} tabIndex={-1}>
      <table
        class="live"
        aria-label={label}
        aria-rowcount={sorted.length + 1}
        onKeyDown={walk}
        style={{ minWidth: `${fit.least}px` }}
      >
        <colgroup>
          <col />
          {fit.widths.map((width, index) => (
            <col key={index} style={{ width: `${width}px` }} />
          ))}
          {action && <col style={{ width: `${ACTION_WIDTH}px` }} />}
        </colgroup>
        <thead>
          <tr>
            {fit.columns.map((column) => (
              <Heading
                key={column.title}
                column={column}
                index={columns.indexOf(column)}
                sorting={sorting}
                onSort={setSorting}
              />
            ))}
            {action && (
              <th class="action">
                <span class="unseen">{say("menu")}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          <tr class="space" aria-hidden="true" style={{ height: `${from * ROW_HEIGHT}px` }} />
          {shown.map((row, index) => (
            <Row
              key={`${row.feed} ${row.key}`}
              row={row}
              fit={fit}
              number={from + index}
              heading={heading}
              action={action}
              source={source}
            />
          ))}
          <tr class="space" aria-hidden="true" style={{ height: `${(sorted.length - to) * ROW_HEIGHT}px` }} />
        </tbody>
      </table>
    </div>
  );
}

interface HeadingProps {
  readonly column: Column;
  readonly index: number;
  readonly sorting: Sorting | null;
  readonly onSort: (sorting: Sorting | null) => void;
}

function Heading({ column, index, sorting, onSort }: HeadingProps) {
  const mine = sorting?.column === index ? sorting : null;
  const next = !mine
    ? { column: index, descending: index > 0 }
    : mine.descending === index > 0
      ? { column: index, descending: index === 0 }
      : null;
  const order = mine ? (mine.descending ? "descending" : "ascending") : undefined;
  return (
    <th class={column.className} scope="col" aria-sort={order}>
      {column.value ? (
        <button type="button" onClick={() => onSort(next)}>
          {say(column.title)}
        </button>
      ) : (
        say(column.title)
      )}
    </th>
  );
}

interface RowProps extends Pick<Props, "heading" | "action"> {
  readonly row: Instrument;
  readonly fit: Fit;
  readonly number: number;
  readonly source: QuoteSource;
}

function Row({ row, fit: { columns, note }, number, heading, action, source }: RowProps) {
  const element = useRef<HTMLTableRowElement>(null);
  const words = language.value;
  const current = same(selected.value, row);
  useLayoutEffect(
    () => watchRow(element.current as HTMLTableRowElement, row, columns, note, source),
    [row.feed, row.key, columns, words, source],
  );
  return (
    <tr
      ref={element}
      data-feed={row.feed}
      aria-rowindex={number + 2}
      aria-current={current || undefined}
      onClick={() => select(row)}
    >
      {columns.map((column, index) =>
        index === 0 ? (
          <th scope="row" key={column.title}>
            <button type="button" class="symbol">
              {heading ? heading(row) : row.key}
            </button>
          </th>
        ) : (
          <td key={column.title} class={column.className}>
            {column.drawing?.draw(row)}
          </td>
        ),
      )}
      {action && <td class="action">{action(row)}</td>}
    </tr>
  );
}

/** Writes quotes into the cells directly: a tick costs only the cells that it changes. */
function watchRow(
  element: HTMLTableRowElement,
  row: Instrument,
  columns: readonly Column[],
  note: Fit["note"],
  source: QuoteSource,
): () => void {
  const before: (number | string | null | undefined)[] = [];
  return source.watch(row.feed, row.key, (quote) => {
    for (let index = 1; index < columns.length; index += 1) {
      const column = columns[index] as Column;
      const cell = element.cells[index] as HTMLTableCellElement;
      if (column.sign) cell.dataset.tone = tone(column.sign(quote));
      if (column.drawing) continue;
      const text = column.text(quote);
      const value = column.value?.(quote);
      if (cell.firstChild?.nodeValue !== text) {
        note(column, text);
        if (cell.firstChild) cell.firstChild.nodeValue = text;
        else cell.textContent = text;
        const old = before[index];
        if (column.lights && typeof old === "number" && typeof value === "number")
          live.lightUp(cell, value > old ? "lit-rise" : "lit-fall");
      }
      before[index] = value;
    }
  });
}

/** Returns the range of rows in view; an empty one while the pane is out of view. */
function useWindow(frame: { current: HTMLDivElement | null }, count: number): [number, number] {
  const visible = useVisible();
  const [view, setView] = useState({ first: 0, rows: 0 });
  useEffect(() => {
    const element = frame.current as HTMLDivElement;
    const look = () => {
      const first = Math.floor(element.scrollTop / ROW_HEIGHT);
      const rows = Math.ceil(element.clientHeight / ROW_HEIGHT);
      setView((before) => (before.first === first && before.rows === rows ? before : { first, rows }));
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  if (!visible) return [0, 0];
  const first = Math.min(view.first, Math.max(0, count - view.rows));
  return [Math.max(0, first - MARGIN_ROWS), Math.min(count, first + view.rows + MARGIN_ROWS)];
}

/** Returns the rows in order; sorts them again every two seconds, not at each tick. */
function useSorted(
  rows: readonly Instrument[],
  columns: readonly Column[],
  sorting: Sorting | null,
  source: QuoteSource,
): readonly Instrument[] {
  const [, setTick] = useState(0);
  useEffect(() => {
    if (!sorting) return;
    const timer = setInterval(() => setTick((tick) => tick + 1), SORT_EVERY_MS);
    return () => clearInterval(timer);
  }, [sorting]);
  if (!sorting) return rows;
  const value = columns[sorting.column]?.value ?? (() => null);
  const keyed = rows.map((row) => {
    const quote = source.quote(row.feed, row.key);
    return { row, value: quote ? value(quote) : null };
  });
  keyed.sort((one, other) => compareValues(one.value, other.value) * (sorting.descending ? -1 : 1));
  return keyed.map((each) => each.row);
}

function compareValues(one: unknown, other: unknown): number {
  if (typeof one === "string" && typeof other === "string") return one.localeCompare(other);
  return Number(one ?? -Infinity) - Number(other ?? -Infinity) || 0;
}

/** Moves the focus from row to row with the arrow keys. */
function walk(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = (event.target as Element).closest("tbody tr");
  if (!step || !row) return;
  const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
  const button = next?.querySelector<HTMLElement>("button.symbol");
  if (!button) return;
  event.preventDefault();
  button.focus();
}
