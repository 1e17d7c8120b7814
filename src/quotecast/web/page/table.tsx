import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useActiveRow } from "./active-row.ts";
import type { Column } from "./columns.ts";
import { rowHeight } from "./density.ts";
import { tone } from "./formats.ts";
import type { Instrument } from "./instruments.ts";
import { same } from "./instruments.ts";
import { useVisible } from "./pane.tsx";
import { PRINTED_ROWS, printing } from "./printing.ts";
import { isReplay } from "./replay-state.ts";
import { dragRow } from "./row-drag.ts";
import { idOf, stretches } from "./row-moves.ts";
import { useSelection } from "./selection.ts";
import { live } from "./service.ts";
import { nextSorting, type Sorting, sortingOf, sortingText, sortRows } from "./sorting.ts";
import { ACTION_WIDTH, type Fit, HANDLE_WIDTH, useFit } from "./widths.ts";
import { language, say } from "./words.ts";

interface Props {
  readonly label: string;
  readonly rows: readonly Instrument[];
  readonly columns: readonly Column[];
  readonly heading?: (row: Instrument) => ComponentChildren;
  /** Buttons at the end of a row, out of the tab order: the arrow keys reach them. */
  readonly action?: (row: Instrument) => ComponentChildren;
  /** The remembered sorting; a table without `onSort` remembers its own. */
  readonly sort?: string | undefined;
  readonly onSort?: (sort: string) => void;
  /** Moves a row of the unsorted table to an index; `isFinal` is false while the pointer drags it. */
  readonly onMove?: (row: Instrument, index: number, isFinal: boolean) => void;
}

/** Rows rendered beyond those in view, so that scrolling shows no gaps. */
const MARGIN_ROWS = 4;
const SORT_EVERY_MS = 2000;

/**
 * A table of quotes that move, which renders and paints only the rows in view.
 *
 * It is one tab stop, the symbol of its active row, which it also renders out of view. Arrow keys, Home, End and the
 * page keys move the focus from row to row; ArrowRight goes on to a row's buttons, ArrowUp from the first row to the
 * headings.
 */
export function LiveTable(props: Props) {
  const { label, rows, columns, heading, action, onMove } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [own, setOwn] = useState("");
  const sorting = sortingOf(props.onSort ? props.sort : own, columns);
  const sorted = useSorted(rows, columns, sorting);
  const [from, to] = useWindow(frame, sorted.length);
  const { active, hasFocus, activate, onKeyDown, onFocus } = useActiveRow(frame, sorted, sorting ? undefined : onMove);
  const keys = useMemo(() => rows.map((row) => row.key), [rows]);
  const isMovable = onMove !== undefined && !sorting;
  const fit = useFit(frame, columns, keys, (action ? ACTION_WIDTH : 0) + (onMove ? HANDLE_WIDTH : 0));
  const onSort = (next: Sorting | null) => (props.onSort ?? setOwn)(sortingText(next));
  return (
    <div class="table-place">
      <div class="table-frame" ref={frame} tabIndex={-1}>
        <table
          class="live"
          aria-label={label}
          aria-rowcount={sorted.length + 1}
          data-movable={onMove ? true : undefined}
          onKeyDown={onKeyDown}
          onFocusIn={onFocus}
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
                  isFirst={column.title === columns[0]?.title}
                  sorting={sorting}
                  onSort={onSort}
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
            {stretches(sorted.length, from, to, to > from || hasFocus ? active : -1).map(({ index, height }) => {
              if (height)
                return (
                  <tr
                    key={`space ${index <= from} ${index > active}`}
                    class="space"
                    aria-hidden="true"
                    style={{ height: `${height * rowHeight.value}px` }}
                  />
                );
              const row = sorted[index] as Instrument;
              return (
                <Row
                  // Cells of another time are empty until their quotes come.
                  key={`${idOf(row)} ${isReplay.value}`}
                  row={row}
                  fit={fit}
                  number={index}
                  isActive={index === active}
                  heading={heading}
                  action={action}
                  onGrip={
                    isMovable
                      ? (event) => {
                          activate(index);
                          dragRow(
                            event,
                            rowHeight.value,
                            index,
                            sorted.length,
                            (place) => onMove(row, place, false),
                            () => onMove(row, -1, true),
                          );
                        }
                      : undefined
                  }
                />
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}

interface HeadingProps {
  readonly column: Column;
  readonly isFirst: boolean;
  readonly sorting: Sorting | null;
  readonly onSort: (sorting: Sorting | null) => void;
}

function Heading({ column, isFirst, sorting, onSort }: HeadingProps) {
  const mine = sorting?.title === column.title ? sorting : null;
  const order = mine ? (mine.descending ? "descending" : "ascending") : undefined;
  return (
    <th class={column.className} scope="col" aria-sort={order}>
      {column.value ? (
        <button type="button" tabIndex={-1} onClick={() => onSort(nextSorting(sorting, column, isFirst))}>
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
  readonly isActive: boolean;
  readonly onGrip: ((event: PointerEvent) => void) | undefined;
}

function Row({ row, fit: { columns, note }, number, isActive, heading, action, onGrip }: RowProps) {
  const element = useRef<HTMLTableRowElement>(null);
  const words = language.value;
  const [chosen, select] = useSelection();
  const current = same(chosen, row);
  useLayoutEffect(
    () => watchRow(element.current as HTMLTableRowElement, row, columns, note),
    [row.feed, row.key, columns, words],
  );
  return (
    <tr
      ref={element}
      data-feed={row.feed}
      data-row={idOf(row)}
      aria-rowindex={number + 2}
      aria-current={current || undefined}
      onClick={() => select(row)}
    >
      {columns.map((column, index) =>
        index === 0 ? (
          <th scope="row" key={column.title}>
            {onGrip && (
              <span class="handle" aria-hidden="true" title={say("dragRow")} onPointerDown={onGrip}>
                ⠿
              </span>
            )}
            <button
              type="button"
              class="symbol"
              tabIndex={isActive ? 0 : -1}
              aria-keyshortcuts={onGrip ? "Alt+ArrowUp Alt+ArrowDown" : undefined}
            >
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
): () => void {
  const before: (number | string | null | undefined)[] = [];
  return live.watch(row.feed, row.key, (quote) => {
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

/** Returns the rows in order; sorts them again every two seconds, not at each tick. */
function useSorted(
  rows: readonly Instrument[],
  columns: readonly Column[],
  sorting: Sorting | null,
): readonly Instrument[] {
  const [, setTick] = useState(0);
  const visible = useVisible();
  const isSorted = sorting !== null && visible;
  useEffect(() => {
    if (!isSorted) return;
    const timer = setInterval(() => setTick((tick) => tick + 1), SORT_EVERY_MS);
    return () => clearInterval(timer);
  }, [isSorted]);
  const value = columns.find((each) => each.title === sorting?.title)?.value;
  if (!sorting || !value) return rows;
  const sortValue = (row: Instrument) => {
    const quote = live.quote(row.feed, row.key);
    return quote ? value(quote) : null;
  };
  return sortRows(rows, sortValue, sorting.descending);
}

/** Returns the range of rows in view; an empty one while the pane is out of view. */
function useWindow(frame: { current: HTMLDivElement | null }, count: number): [number, number] {
  const visible = useVisible();
  const [view, setView] = useState({ first: 0, rows: 0 });
  const height = rowHeight.value;
  useEffect(() => {
    const element = frame.current as HTMLDivElement;
    const look = () => {
      const first = Math.floor(element.scrollTop / height);
      const rows = Math.ceil(element.clientHeight / height);
      setView((before) => (before.first === first && before.rows === rows ? before : { first, rows }));
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [height]);
  if (printing.value) return [0, Math.min(count, PRINTED_ROWS)];
  if (!visible) return [0, 0];
  const first = Math.min(view.first, Math.max(0, count - view.rows));
  return [Math.max(0, first - MARGIN_ROWS), Math.min(count, first + view.rows + MARGIN_ROWS)];
}
