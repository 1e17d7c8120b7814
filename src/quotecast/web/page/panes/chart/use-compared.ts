import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Instrument } from "../../instruments.ts";
import { live } from "../../service.ts";
import type { Candle, Interval } from "../chart-bars.ts";
import type { Compared } from "./compared-series.ts";
import { MOST_BARS } from "./past.ts";
import type { Placed } from "./slots.ts";
import { askPage, later, waitAfter } from "./source.ts";

/** Bars of one instrument, as far back as they were loaded; `isWhole` without older ones. */
interface Loaded {
  readonly bars: readonly Candle[];
  readonly isWhole: boolean;
}

const nameOf = ({ feed, key }: Instrument): string => `${feed} ${key}`;

/**
 * Returns the other instruments of a chart, with bars back to its first one; loads them one page at a time.
 *
 * `own` are the chart's bars as the service answered them last.
 */
export function useCompared(
  instruments: readonly (Instrument & Placed)[],
  interval: Interval,
  own: readonly Candle[],
  first: string | undefined,
  active: boolean,
): readonly Compared[] {
  const loaded = useRef(new Map<string, Loaded>());
  const [round, setRound] = useState(0);
  const names = instruments.map(nameOf).join("\n");
  useEffect(() => {
    // The chart's own bars were loaded again, so those of the others may miss some at the end.
    loaded.current = new Map();
  }, [interval, own, active]);
  useEffect(() => {
    if (!active || first === undefined) return;
    const ending = new AbortController();
    const load = async () => {
      for (const instrument of instruments) {
        for await (const bars of pagesUntil(instrument, interval, first, loaded.current, ending.signal)) {
          loaded.current.set(nameOf(instrument), bars);
          setRound((count) => count + 1);
        }
      }
    };
    void load();
    return () => ending.abort();
  }, [names, interval, own, first, active]);
  useEffect(() => {
    // The page follows their quotes, for the price of the last bar.
    const ends = active ? instruments.map((each) => live.watch(each.feed, each.key, () => {})) : [];
    return () => {
      for (const end of ends) end();
    };
  }, [names, active]);
  return useMemo(
    () =>
      instruments.map((each) => ({
        key: each.key,
        slot: each.slot,
        bars: loaded.current.get(nameOf(each))?.bars ?? [],
        price: () => live.quote(each.feed, each.key)?.price ?? null,
      })),
    [names, interval, round],
  );
}

/** Yields an instrument's bars, longer page by page, until they reach back to a time. */
async function* pagesUntil(
  instrument: Instrument,
  interval: Interval,
  first: string,
  known: ReadonlyMap<string, Loaded>,
  signal: AbortSignal,
): AsyncGenerator<Loaded> {
  const ask = askPage(instrument, interval);
  let { bars, isWhole } = known.get(nameOf(instrument)) ?? { bars: [], isWhole: false };
  let page: string | null = null;
  let end = bars[0]?.time;
  while (!signal.aborted && !isWhole && bars.length < MOST_BARS && (bars[0]?.time ?? "~") > first) {
    try {
      const found = await ask(end, page);
      if (signal.aborted) return;
      bars = [...[...found.bars].reverse(), ...bars];
      [page, isWhole] = [found.next, found.next === null && !found.bars.length];
      // Without a next page the query's span has ended, and the next span begins before its first bar.
      if (page === null) end = bars[0]?.time;
      yield { bars, isWhole };
    } catch (error) {
      const seconds = waitAfter(error);
      if (seconds === null) return;
      await new Promise<void>((resolve) => later(resolve, seconds));
    }
  }
}
