import { useEffect, useMemo, useState } from "preact/hooks";

import type { Page } from "quotecast-client";
import { isReplay, replayedMoment } from "../../replay-state.ts";
import type { Answer } from "../../service.ts";
import { at, type Candle, type Interval, MINUTES } from "../chart-bars.ts";

const EVERY_MS = 500;

/** Returns how many bars had closed at a moment (Unix milliseconds). */
export const closedAt = (bars: readonly Candle[], interval: Interval, moment: number): number =>
  bars.findLastIndex((bar) => at(bar) + MINUTES[interval] * 60_000 <= moment) + 1;

/** Returns an answer with the bars that have closed at the moment of the replay; the whole answer of the present. */
export function usePlayed(
  answer: Answer<Page<readonly Candle[]>>,
  interval: Interval,
): Answer<Page<readonly Candle[]>> {
  const page = answer.data;
  const [count, setCount] = useState(0);
  const playing = isReplay.value;
  useEffect(() => {
    if (!playing || !page) return;
    const look = () => setCount(closedAt(page.data, interval, replayedMoment()));
    look();
    const timer = setInterval(look, EVERY_MS);
    return () => clearInterval(timer);
  }, [playing, page, interval]);
  const data = useMemo(
    () => (playing && page ? { ...page, data: page.data.slice(0, count) } : page),
    [playing, page, count],
  );
  return { ...answer, data };
}
