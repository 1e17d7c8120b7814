import type { CandleChart } from "../candles.ts";

const SCROLLS: Record<string, number> = {
  ArrowLeft: -0.1,
  ArrowRight: 0.1,
  PageUp: -0.9,
  PageDown: 0.9,
  Home: -0.9,
  End: Infinity,
};
const ZOOMS: Record<string, number> = { "+": 0.8, "=": 0.8, "-": 1.25 };
/** Bars and ticks by which a key moves the selected drawing; with Alt the point of that index alone. */
const MOVES: Record<string, readonly [bars: number, ticks: number, point: number]> = {
  ArrowLeft: [-1, 0, 1],
  ArrowRight: [1, 0, 1],
  ArrowUp: [0, 1, 1],
  ArrowDown: [0, -1, 1],
  PageUp: [0, 1, 2],
  PageDown: [0, -1, 2],
};

/** Lets the keyboard move the view, and the selected drawing. */
export function onChartKey(event: KeyboardEvent, chart: CandleChart, step: number): void {
  const isDone = event.ctrlKey || event.metaKey ? travel(event, chart) : act(event, chart, step);
  if (isDone) event.preventDefault();
}

/** Takes back the last change to the drawings, or repeats it; without one, the key is the frame's. */
function travel({ key, shiftKey, altKey }: KeyboardEvent, { drawings }: CandleChart): boolean {
  const letter = key.toLowerCase();
  if (altKey || (letter !== "z" && letter !== "y")) return false;
  return letter === "y" || shiftKey ? drawings.redo() : drawings.undo();
}

function act({ key, shiftKey, altKey }: KeyboardEvent, chart: CandleChart, step: number): boolean {
  const { drawings } = chart;
  const [bars, ticks, point] = MOVES[key] ?? [0, 0, null];
  if (drawings.selected !== null && point && (altKey || point === 1)) {
    const times = shiftKey ? 10 : 1;
    drawings.nudge(bars * times, ticks * times * step, altKey ? point : undefined);
  } else if (drawings.selected !== null && (key === "Delete" || key === "Backspace")) drawings.remove();
  else if (!drawings.isIdle && key === "Escape") drawings.use(null);
  else if (SCROLLS[key] !== undefined) chart.scroll(SCROLLS[key]);
  else if (ZOOMS[key] !== undefined) chart.zoom(ZOOMS[key]);
  else return false;
  return true;
}
