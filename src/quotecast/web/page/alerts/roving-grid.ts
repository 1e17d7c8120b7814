import { useLayoutEffect } from "preact/hooks";

const KEYS: Record<string, [number, number]> = {
  ArrowRight: [0, 1],
  ArrowLeft: [0, -1],
  ArrowDown: [1, 0],
  ArrowUp: [-1, 0],
};

/** Makes a table's buttons one stop of the Tab key; the returned handler moves the focus with the arrow keys. */
export function useRoving(table: { current: HTMLTableElement | null }, rows: number): (event: KeyboardEvent) => void {
  const lines = (): HTMLElement[][] =>
    [...(table.current?.tBodies[0]?.rows ?? [])].map((row) => [...row.querySelectorAll("button")]);
  const makeStop = (stop: HTMLElement | undefined) => {
    for (const each of lines().flat()) each.tabIndex = each === stop ? 0 : -1;
  };
  useLayoutEffect(() => {
    const all = lines().flat();
    makeStop(all.find((each) => each === document.activeElement) ?? all.find((each) => each.tabIndex === 0) ?? all[0]);
  }, [rows]);
  return (event) => {
    const step = KEYS[event.key];
    const grid = lines();
    const y = grid.findIndex((line) => line.includes(event.target as HTMLElement));
    if (!step || y < 0 || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const x = (grid[y] as HTMLElement[]).indexOf(event.target as HTMLElement);
    const next = grid[y + step[0]]?.[x + step[1]];
    event.preventDefault();
    if (!next) return;
    makeStop(next);
    next.focus();
  };
}
