import { useEffect, useMemo, useRef } from "preact/hooks";

import type { BarsChange } from "../../client/index.ts";
import { compact, price } from "../formats.ts";
import type { Instrument } from "../instruments.ts";
import { watchBars } from "../live-bars.ts";
import { useVisible } from "../pane.tsx";
import { live } from "../service.ts";
import { shade } from "../theme.ts";
import { language, say } from "../words.ts";
import { at, type Candle, ChartBars, type Interval, LIVE_INTERVAL } from "./chart-bars.ts";

const RETRY_MS = 2000;

interface Props {
  readonly bars: readonly Candle[];
  readonly instrument: Instrument;
  readonly interval: Interval;
  /** Called when bars are missing: they must be loaded again. */
  readonly onGap: () => void;
}

type CandleChart = ReturnType<typeof import("./candles.ts").drawCandles>;

/** Candles with volume, continued by the feed's live bars. */
export function Plot({ bars, instrument, interval, onGap }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLParagraphElement>(null);
  const shown = shade.value;
  const words = language.value;
  const visible = useVisible();
  const held = useMemo(() => new ChartBars(interval), [instrument.feed, instrument.key, interval]);
  const chart = useRef<CandleChart | null>(null);
  const gap = useRef(onGap);
  gap.current = onGap;
  useEffect(() => {
    held.load(bars);
    chart.current?.replace(held.all);
  }, [held, bars]);
  useEffect(() => {
    if (!visible || !bars.length) return;
    let end = () => {};
    let wanted = true;
    void library().then(({ drawCandles }) => {
      if (!wanted || !element.current || !legend.current) return;
      const made = drawCandles(element.current, held.all, {
        interval,
        feed: instrument.feed,
        onPoint: (bar) => describe(legend.current, bar),
      });
      chart.current = made;
      end = () => {
        made.remove();
        chart.current = null;
      };
    });
    return () => {
      wanted = false;
      end();
    };
  }, [held, bars.length > 0, shown, words, visible]);
  useEffect(() => {
    const update = (bar: Candle) => chart.current?.update(bar);
    return visible ? followBars(held, instrument, interval, update, () => gap.current()) : undefined;
  }, [held, visible]);
  if (!bars.length) return <p class="quiet">{say("noHistory", { symbol: instrument.key })}</p>;
  return (
    <div class="plot">
      <p class="legend" ref={legend} aria-live="off" />
      <div class="canvas" ref={element} role="img" aria-label={summary(instrument.key, bars)} />
      <a class="credit" href="https://www.tradingview.com/" target="_blank" rel="noopener noreferrer">
        {say("chartsBy")}
      </a>
    </div>
  );
}

/** Loads the chart library, with retries. It is half of all code, so the first paint does not wait for it. */
function library(): Promise<typeof import("./candles.ts")> {
  return import("./candles.ts").catch(() => new Promise((wait) => setTimeout(wait, RETRY_MS)).then(library));
}

/** Returns the chart's content as text, for screen readers. */
function summary(symbol: string, bars: readonly Candle[]): string {
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last) return symbol;
  const [high, low] = [Math.max(...bars.map((each) => each.high)), Math.min(...bars.map((each) => each.low))];
  return `${symbol}: ${price(first.open)} → ${price(last.close)} (${price(low)} – ${price(high)})`;
}

function describe(element: HTMLElement | null, bar: Candle | null): void {
  if (!element) return;
  const volume = bar?.volume != null ? `  V ${compact(bar.volume)}` : "";
  element.textContent = bar
    ? `O ${price(bar.open)}  H ${price(bar.high)}  L ${price(bar.low)}  C ${price(bar.close)}${volume}`
    : "";
}

/** Continues the bars with the feed's, drawn with the next prices; the returned function ends that. */
function followBars(
  bars: ChartBars,
  instrument: Instrument,
  interval: Interval,
  update: (bar: Candle) => void,
  onGap: () => void,
): () => void {
  let changedFrom = Infinity;
  const paint = () => {
    for (const bar of bars.all) if (at(bar) >= changedFrom) update(bar);
    changedFrom = Infinity;
  };
  const take = ({ bars: taken, missing }: BarsChange) => {
    for (const each of taken) {
      const bar = bars.take(each, missing !== null);
      if (bar) changedFrom = Math.min(changedFrom, at(bar));
    }
    if (changedFrom < Infinity) live.onNextFlush(paint);
    if (bars.isIncomplete) onGap();
  };
  return watchBars(instrument, LIVE_INTERVAL[interval], take, onGap);
}
