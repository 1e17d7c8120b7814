import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import type { FeedName, Sparkline } from "quotecast-client";
import type { Column } from "./columns.ts";
import { price } from "./formats.ts";
import type { Instrument } from "./instruments.ts";
import { linePath } from "./line-path.ts";
import { useVisible } from "./pane.tsx";
import { rest, useAnswer } from "./service.ts";
import { say } from "./words.ts";

type Lines = Record<string, Sparkline>;

const ROUTES = {
  market: "GET /api/market/sparklines",
  crypto: "GET /api/crypto/sparklines",
  doviz: "GET /api/doviz/sparklines",
} as const;
const EVERY_MS = 180_000;
/** Symbols of one request, at most. */
const SYMBOLS_AT_MOST = 500;
const [WIDTH, HEIGHT, MARGIN] = [56, 16, 1];

/** The last day of each instrument, by feed and symbol. */
const days = signal<Partial<Record<FeedName, Lines>>>({});

/** Loads the lines of a list: one request per feed, repeated every few minutes while the pane is in view. */
export function useSparklines(rows: readonly Instrument[]): void {
  useLinesOf("market", rows);
  useLinesOf("crypto", rows);
  useLinesOf("doviz", rows);
}

function useLinesOf(feed: FeedName, rows: readonly Instrument[]): void {
  const keys = rows.filter((row) => row.feed === feed).map((row) => row.key);
  const symbols = keys.slice(0, SYMBOLS_AT_MOST).sort().join();
  const answer = useAnswer<Lines>(() => rest.call(ROUTES[feed], { query: { symbols } }), symbols, {
    everyMs: EVERY_MS,
    active: useVisible() && symbols !== "",
  });
  useEffect(() => {
    if (answer.data) days.value = { ...days.value, [feed]: answer.data };
  }, [answer.data]);
}

/** Column of the last day's line, in the colour of the change. */
export const DAY_LINE: Column = {
  title: "dayLine",
  text: () => "",
  sign: (quote) => quote.change,
  className: "day-line",
  rank: 2,
  drawing: { width: WIDTH, draw: (row) => <DayLine row={row} /> },
};

function DayLine({ row }: { readonly row: Instrument }) {
  const closes = days.value[row.feed]?.[row.key]?.closes ?? [];
  const path = linePath(closes, WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN);
  if (!path) return null;
  const [first, last] = [closes[0], closes.at(-1)].map(price);
  return (
    <svg
      viewBox={`${-MARGIN} ${-MARGIN} ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={say("lineOfDay", { symbol: row.key, first: first ?? "", last: last ?? "" })}
    >
      <path d={path} />
    </svg>
  );
}
