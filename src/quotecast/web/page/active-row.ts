import { useLayoutEffect, useState } from "preact/hooks";

import { rowHeight } from "./density.ts";
import type { Instrument } from "./instruments.ts";
import { idOf, moveIndex } from "./row-moves.ts";

/** Moves the focus inside of the table; `active` is the index of the row that the Tab key stops at. */
export function useActiveRow(
  frame: { current: HTMLDivElement | null },
  rows: readonly Instrument[],
  onMove: ((row: Instrument, index: number, isFinal: boolean) => void) | undefined,
): {
  readonly active: number;
  readonly hasFocus: boolean;
  readonly activate: (index: number) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onFocus: (event: FocusEvent) => void;
} {
  const [id, setId] = useState("");
  const [wanted, setWanted] = useState(0);
  const active = Math.max(
    0,
    rows.findIndex((row) => idOf(row) === id),
  );
  const element = frame.current;
  // A row that changes its place loses the focus.
  const hasFocus = document.activeElement !== element && element?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    if (hasFocus && !frame.current?.contains(document.activeElement)) focusRow(frame.current, id);
  });
  useLayoutEffect(() => {
    if (wanted) focusRow(frame.current, id);
  }, [wanted]);
  const activate = (index: number) => {
    const row = rows[index];
    if (!row) return;
    setId(idOf(row));
    setWanted((count) => count + 1);
  };
  const onFocus = ({ target }: FocusEvent) => {
    const row = (target as Element).closest<HTMLElement>("tr[data-row]");
    if (row?.dataset.row && row.dataset.row !== id) setId(row.dataset.row);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey) return;
    if (event.altKey) {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      const row = rows[active];
      if (!step || !row || !onMove) return;
      event.preventDefault();
      setId(idOf(row));
      return onMove(row, active + step, true);
    }
    const isSide = event.key === "ArrowLeft" || event.key === "ArrowRight";
    const isHeading = target.closest("thead") !== null;
    if (isSide) focusBeside(target, event.key === "ArrowRight" ? 1 : -1);
    else if (event.key === "ArrowUp" && (isHeading || active === 0)) focusHeading(frame.current);
    else {
      const page = Math.max(1, Math.floor((frame.current?.clientHeight ?? 0) / rowHeight.value) - 2);
      const index = isHeading && event.key === "ArrowDown" ? active : moveIndex(event.key, active, rows.length, page);
      if (index === null) return;
      activate(index);
    }
    event.preventDefault();
  };
  return { active, hasFocus, activate, onKeyDown, onFocus };
}

function focusRow(frame: HTMLElement | null, id: string): void {
  const row = frame?.querySelector<HTMLElement>(`tr[data-row="${CSS.escape(id)}"]`);
  row?.querySelector<HTMLElement>("button.symbol")?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
}

function focusHeading(frame: HTMLElement | null): void {
  frame?.querySelector<HTMLElement>("thead button")?.focus();
}

/** Moves the focus to the next or previous button of the same row. */
function focusBeside(target: HTMLElement, step: number): void {
  const buttons = [...(target.closest("tr")?.querySelectorAll<HTMLElement>("button") ?? [])];
  buttons[buttons.indexOf(target) + step]?.focus();
}
