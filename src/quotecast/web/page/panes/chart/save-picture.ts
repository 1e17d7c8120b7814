import { dateAndClock } from "../../formats.ts";
import { colour } from "../../theme.ts";
import { download, fileName, withTitle } from "./picture.ts";
import type { ChartState } from "./state.ts";

/** Saves the chart as a PNG file with symbol, interval and time. */
export function savePicture({ chart, instrument, interval }: ChartState): void {
  if (!chart) return;
  const now = new Date();
  const title = {
    text: `${instrument.key} · ${interval} · ${dateAndClock(now.getTime())} · quotecast`,
    colour: colour("text"),
    ground: colour("panel"),
    font: getComputedStyle(document.body).fontFamily,
  };
  download(withTitle(chart.picture(), title), fileName(instrument.key, interval, now));
}
