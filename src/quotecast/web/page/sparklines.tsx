import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import type { FeedName, Sparkline } from "quotecast-client";
import type { Column } from "./columns.ts";
import { price, tone } from "./formats.ts";
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
/** Fewer points do not make the line of a day. */
const LEAST_POINTS = 4;
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

/** Column of the last day's line, in the colour of its own change. */
export const DAY_LINE: Column = {
  title: "dayLine",
  text: () => "",
  className: "day-line",
  rank: 2,
  drawing: { width: WIDTH, draw: (row) => <DayLine row={row} /> },
};

function DayLine({ row }: { readonly row: Instrument }) {
  const closes = days.value[row.feed]?.[row.key]?.closes ?? [];
  if (closes.length < LEAST_POINTS) return null;
  const path = linePath(closes, WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN);
  const [from, to] = [closes[0] as number, closes.at(-1) as number];
  const [first, last] = [price(from), price(to)];
  return (
    <svg
      viewBox={`${-MARGIN} ${-MARGIN} ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      data-tone={tone(to - from)}
      aria-label={say("lineOfDay", { symbol: row.key, first, last })}
    >
      <path d={path} />
    </svg>
  );
}
