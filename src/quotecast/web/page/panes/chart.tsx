import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { CryptoQuote } from "quotecast-client";
import { toggleWatched, watched } from "../account.ts";
import { AlertButton } from "../alerts/button.tsx";
import { difference, percent, quotedPrice, tone } from "../formats.ts";
import { type EntryType, type Instrument, instrumentOf, same, typeOf } from "../instruments.ts";
import { instrumentName } from "../names.ts";
import { type Memory, useVisible } from "../pane.tsx";
import { useQuotes } from "../quotes.ts";
import { useSelection } from "../selection.ts";
import { live, useAnswer } from "../service.ts";
import { say } from "../words.ts";
import { ChartBody } from "./chart/body.tsx";
import { ExtendedChange } from "./chart/extended.tsx";
import { chooseInterval, chooseRange, INTERVALS, RANGES, spanOf } from "./chart/ranges.ts";
import { sessionOf } from "./chart/session.ts";
import { askRange } from "./chart/source.ts";
import { Segments } from "./chart/toolbar.tsx";

/** Minimum milliseconds between two requests for bars, which the browser caches for five seconds. */
const RELOAD_EVERY_MS = 6000;

export function Chart({ memory, remember }: Memory) {
  const [linked] = useSelection();
  const pinned = useMemo(() => parsePin(memory.pin), [memory.pin]);
  const shown = pinned ?? linked;
  const pin = () => remember({ pin: pinned ? "" : `${typeOf(shown)} ${shown.key}` });
  return (
    <div class="chart-frame">
      <Heading shown={shown} pinned={pinned !== null} onPin={pin} />
      <Bars instrument={shown} memory={memory} remember={remember} />
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

interface BarsProps extends Memory {
  readonly instrument: Instrument;
}

function Bars({ instrument, memory, remember }: BarsProps) {
  const { feed, key } = instrument;
  const { range, interval } = spanOf(feed, memory);
  const session = feed === "market" ? sessionOf(memory.session, interval) : undefined;
  // Also out of view: bars of two venues must not meet when the chart comes back.
  const changes = useVenueChanges(feed === "crypto" ? key : null);
  const answer = useAnswer(
    () => askRange(instrument, range, interval, session),
    `${feed} ${key} ${range} ${interval} ${session} ${changes}`,
    { active: useVisible() },
  );
  const reload = useReload(answer.again);
  const [wishes, setWishes] = useState(0);
  return (
    <ChartBody
      instrument={instrument}
      interval={interval}
      answer={answer}
      onGap={reload}
      session={session}
      source={changes}
      wishes={wishes}
      memory={memory}
      remember={remember}
    >
      <Segments
        label={say("range")}
        options={RANGES}
        value={range}
        onChoose={(each) => (each === range ? setWishes(wishes + 1) : remember(chooseRange(feed, each)))}
      />
      <Segments
        label={say("interval")}
        options={INTERVALS[feed]}
        value={interval}
        onChoose={(each) => remember(chooseInterval(feed, range, each))}
      />
    </ChartBody>
  );
}

/** Returns how often the pair's venue has changed: all bars of a chart are of one venue. */
function useVenueChanges(ticker: string | null): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (ticker === null) return;
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
