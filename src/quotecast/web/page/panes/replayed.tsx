import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { dateAndClock } from "../formats.ts";
import type { Instrument } from "../instruments.ts";
import type { QuoteSource } from "../live.ts";
import { ReplayedQuotes, type Rewind, rewind } from "../replay.ts";
import { say } from "../words.ts";

const EVERY_MS = 500;

interface Props {
  readonly rows: readonly Instrument[];
  readonly start: Rewind;
  /** Returns the table of some rows. */
  readonly children: (rows: readonly Instrument[], source: QuoteSource) => ComponentChildren;
}

/** Plays the recorded quotes of one feed, under a banner with their time and the way back to live ones. */
export function Replayed({ rows, start, children }: Props) {
  const shown = rows.filter((row) => row.feed === start.feed);
  const symbols = shown.map((row) => row.key);
  const [source, setSource] = useState<QuoteSource | null>(null);
  const [reached, setReached] = useState({ at: start.at, since: performance.now() });
  const [end, setEnd] = useState<string | null>(null);
  useEffect(() => {
    const quotes = new ReplayedQuotes(start, symbols, {
      onMoment: (at) => setReached({ at, since: performance.now() }),
      onEnd: ({ isWhole, reason }) => setEnd(isWhole ? say("replayEnded") : `${say("replayStopped")} ${reason ?? ""}`),
    });
    setSource(quotes);
    setEnd(null);
    return () => quotes.close();
  }, [start, symbols.join()]);
  const live = () => {
    rewind.value = null;
  };
  return (
    <>
      <div class="replayed">
        <span role="status">{end ?? say("replayed")}</span>
        {end === null && <Clock reached={reached} speed={start.speed} />}
        <button type="button" onClick={live}>
          {say("backToLive")}
        </button>
      </div>
      {source && children(shown, source)}
    </>
  );
}

interface ClockProps {
  /** The moment of the last frame that names one, and when it came (milliseconds of this page). */
  readonly reached: { readonly at: string; readonly since: number };
  readonly speed: number;
}

function Clock({ reached, speed }: ClockProps) {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const at = Date.parse(reached.at) + Math.max(0, now - reached.since) * speed;
  return <time>{dateAndClock(at)}</time>;
}
