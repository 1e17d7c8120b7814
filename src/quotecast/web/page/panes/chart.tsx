import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { CryptoQuote, Page } from "quotecast-client";
import { toggleWatched, watched } from "../account.ts";
import { AlertButton } from "../alerts/button.tsx";
import { difference, percent, quotedPrice, tone } from "../formats.ts";
import { type EntryType, type Instrument, instrumentOf, same, typeOf } from "../instruments.ts";
import { instrumentName } from "../names.ts";
import { type Memory, useVisible } from "../pane.tsx";
import { useQuotes } from "../quotes.ts";
import { useSelection } from "../selection.ts";
import { type Answer, live, rest, useAnswer } from "../service.ts";
import { say } from "../words.ts";
import { ChartBody } from "./chart/body.tsx";
import { ExtendedChange } from "./chart/extended.tsx";
import { sessionOf } from "./chart/session.ts";
import { Segments } from "./chart/toolbar.tsx";
import type { Candle } from "./chart-bars.ts";

const RANGES = ["1D", "5D", "1M", "3M", "6M", "YTD", "1Y", "5Y"] as const;
const INTERVALS = ["1m", "5m", "15m", "1h", "4h", "D", "W", "M"] as const;
const TIMEFRAMES = ["1m", "5m", "15m", "30m", "1h", "4h", "D", "W", "M"] as const;
/** Number of bars of the charts that have no range. */
const NEWEST = 300;
/** Minimum milliseconds between two requests for bars, which the browser caches for five seconds. */
const RELOAD_EVERY_MS = 6000;
type Range = (typeof RANGES)[number];
type Interval = (typeof INTERVALS)[number];
type Timeframe = (typeof TIMEFRAMES)[number];

/** By range: the finest interval that the service has, and the default interval. */
const FINEST: Record<Range, Interval> = {
  "1D": "1m",
  "5D": "1m",
  "1M": "1m",
  "3M": "5m",
  "6M": "5m",
  YTD: "15m",
  "1Y": "15m",
  "5Y": "1h",
};
const FITTING: Record<Range, Interval> = {
  "1D": "5m",
  "5D": "15m",
  "1M": "1h",
  "3M": "D",
  "6M": "D",
  YTD: "D",
  "1Y": "D",
  "5Y": "W",
};

export function Chart({ memory, remember }: Memory) {
  const [linked] = useSelection();
  const pinned = useMemo(() => parsePin(memory.pin), [memory.pin]);
  const shown = pinned ?? linked;
  const pin = () => remember({ pin: pinned ? "" : `${typeOf(shown)} ${shown.key}` });
  return (
    <div class="chart-frame">
      <Heading shown={shown} pinned={pinned !== null} onPin={pin} />
      {shown.feed === "market" && <Stock ticker={shown.key} memory={memory} remember={remember} />}
      {shown.feed === "crypto" && <Pair ticker={shown.key} memory={memory} remember={remember} />}
      {shown.feed === "doviz" && <Currency symbol={shown.key} memory={memory} remember={remember} />}
    </div>
  );
}

function parsePin(text: string | undefined): Instrument | null {
  const [type, ...key] = (text ?? "").split(" ");
  return key.length ? instrumentOf(type as EntryType, key.join(" ")) : null;
}

function Heading({
  shown,
  pinned,
  onPin,
}: {
  readonly shown: Instrument;
  readonly pinned: boolean;
  readonly onPin: () => void;
}) {
  const [quote] = useQuotes([shown], useVisible());
  const isWatched = watched.value.some((each) => same(each, shown));
  return (
    <div class="headline" data-feed={shown.feed}>
      <h3>{shown.key}</h3>
      <span class="name">{quote && instrumentName(shown, quote.name)}</span>
      <strong>{quotedPrice(shown.key, quote?.price)}</strong>
      <span data-tone={tone(quote?.change)}>
        {difference(quote?.change)} ({percent(quote?.changePercent)})
      </span>
      {shown.feed === "market" && <ExtendedChange ticker={shown.key} last={quote?.price} />}
      <span class="grow" />
      <button
        type="button"
        class="icon"
        aria-pressed={isWatched}
        aria-label={say("addToWatchlist")}
        title={say("addToWatchlist")}
        onClick={() => void toggleWatched(shown)}
      >
        ★
      </button>
      <AlertButton instrument={shown} />
      <button
        type="button"
        class="icon"
        aria-pressed={pinned}
        aria-label={say("pin")}
        title={say("pin")}
        onClick={onPin}
      >
        ⚲
      </button>
    </div>
  );
}

function Stock({ ticker, memory, remember }: Memory & { readonly ticker: string }) {
  const range = RANGES.find((each) => each === memory.range) ?? "1D";
  const chosen = INTERVALS.find((each) => each === memory.interval) ?? FITTING[range];
  const tooFine = (each: Interval) => INTERVALS.indexOf(each) < INTERVALS.indexOf(FINEST[range]);
  const interval = tooFine(chosen) ? FITTING[range] : chosen;
  const session = sessionOf(memory.session, interval);
  const answer = useAnswer(
    () => rest.page("GET /api/market/bars/{symbol}", { path: { symbol: ticker }, query: { range, interval, session } }),
    `${ticker} ${range} ${interval} ${session}`,
    { active: useVisible() },
  );
  const reload = useReload(answer.again);
  const [wishes, setWishes] = useState(0);
  const choose = (each: Range) => {
    if (each === range) setWishes((count) => count + 1);
    else remember({ range: each, interval: FITTING[each] });
  };
  return (
    <ChartBody
      instrument={instrumentOf("stock", ticker)}
      interval={interval}
      answer={answer}
      onGap={reload}
      session={session}
      wishes={wishes}
      memory={memory}
      remember={remember}
    >
      <Segments label={say("range")} options={RANGES} value={range} onChoose={choose} />
      <Segments
        label={say("interval")}
        options={INTERVALS}
        value={interval}
        disabled={tooFine}
        onChoose={(each) => remember({ interval: each })}
      />
    </ChartBody>
  );
}

function Pair({ ticker, ...own }: Memory & { readonly ticker: string }) {
  const timeframe = TIMEFRAMES.find((each) => each === own.memory.timeframe) ?? "1h";
  const changes = useVenueChanges(ticker);
  const answer = useAnswer(
    () => rest.page("GET /api/crypto/bars/{symbol}", { path: { symbol: ticker }, query: { timeframe, limit: NEWEST } }),
    `${ticker} ${timeframe} ${changes}`,
    { active: useVisible() },
  );
  return (
    <Timeframes
      answer={answer}
      instrument={instrumentOf("crypto", ticker)}
      value={timeframe}
      source={changes}
      {...own}
    />
  );
}

/** Bars of currencies and metals are the service's own, made from its quotes. */
function Currency({ symbol, ...own }: Memory & { readonly symbol: string }) {
  const timeframe = TIMEFRAMES.find((each) => each === own.memory.timeframe) ?? "15m";
  const answer = useAnswer(
    () => rest.page("GET /api/doviz/bars/{symbol}", { path: { symbol }, query: { timeframe, limit: NEWEST } }),
    `${symbol} ${timeframe}`,
    { active: useVisible() },
  );
  return (
    <Timeframes answer={answer} instrument={instrumentOf("doviz", symbol)} value={timeframe} source={0} {...own} />
  );
}

interface TimeframesProps extends Memory {
  readonly answer: Answer<Page<readonly Candle[]>>;
  readonly instrument: Instrument;
  readonly value: Timeframe;
  readonly source: number;
}

function Timeframes({ value, ...own }: TimeframesProps) {
  const reload = useReload(own.answer.again);
  const choose = (each: Timeframe) => own.remember({ timeframe: each });
  return (
    <ChartBody {...own} interval={value} onGap={reload}>
      <Segments label={say("interval")} options={TIMEFRAMES} value={value} onChoose={choose} />
    </ChartBody>
  );
}

/** Returns how often the pair's venue has changed: all bars of a chart are of one venue. */
function useVenueChanges(ticker: string): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    let venue: string | undefined;
    return live.watch("crypto", ticker, (quote) => {
      const { exchange } = quote as CryptoQuote;
      if (venue !== undefined && exchange !== venue) setCount((changes) => changes + 1);
      venue = exchange;
    });
  }, [ticker]);
  return count;
}

/** Calls `again` when the page becomes visible; returns an `again` that waits until the next request is due. */
function useReload(again: () => void): () => void {
  const latest = useRef(again);
  latest.current = again;
  const askedAt = useRef(performance.now());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const ask = () => {
    timer.current = undefined;
    askedAt.current = performance.now();
    latest.current();
  };
  useEffect(() => {
    const look = () => {
      if (!document.hidden) ask();
    };
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      clearTimeout(timer.current);
    };
  }, []);
  return () => {
    timer.current ??= setTimeout(ask, askedAt.current + RELOAD_EVERY_MS - performance.now());
  };
}
