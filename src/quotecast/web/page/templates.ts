import type { Kind, Place } from "./layout.ts";
import type { Word } from "./words.ts";

const place = (id: string, x: number, y: number, w: number, h: number, pin?: string): Place => ({
  id,
  kind: id.split("-")[0] as Kind,
  x,
  y,
  w,
  h,
  ...(pin && { memory: { pin } }),
});

/** Panes of a new workspace that fill the screen, by the word that names it. */
export const TEMPLATES = {
  fourCharts: [
    place("chart", 0, 0, 6, 12, "stock AAPL"),
    place("chart-2", 6, 0, 6, 12, "stock MSFT"),
    place("chart-3", 0, 12, 6, 12, "crypto BTC/USDT"),
    place("chart-4", 6, 12, 6, 12, "doviz gram-altin"),
  ],
  crypto: [place("crypto", 0, 0, 4, 24), place("chart", 4, 0, 8, 14), place("screener", 4, 14, 8, 10)],
  doviz: [place("doviz", 0, 0, 4, 24), place("chart", 4, 0, 8, 14), place("news", 4, 14, 8, 10)],
  portfolio: [
    place("portfolio", 0, 0, 7, 14),
    place("chart", 7, 0, 5, 14),
    place("alerts", 0, 14, 4, 10),
    place("news", 4, 14, 4, 10),
    place("earnings", 8, 14, 4, 10),
  ],
} as const satisfies Partial<Record<Word, readonly Place[]>>;

export type Template = keyof typeof TEMPLATES;
export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as Template[];
