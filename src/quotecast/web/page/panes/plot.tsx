import { useEffect, useMemo, useRef } from "preact/hooks";

import { type Bar, Bars, type Interval } from "../../client/index.ts";
import { compact, price } from "../formats.ts";
import type { Instrument } from "../instruments.ts";
import { marketTrades } from "../market-hours.ts";
import { useVisible } from "../pane.tsx";
import { live } from "../service.ts";
import { shade } from "../theme.ts";
import { language, say } from "../words.ts";

const RETRY_MS = 2000;

interface Props {
  readonly bars: readonly Bar[];
  readonly instrument: Instrument;
  readonly interval: Interval;
  /** Called when ticks are missing: the bars must be loaded again. */
  readonly onGap: () => void;
}

type CandleChart = ReturnType<typeof import("./candles.ts").drawCandles>;

/** Candles with volume; the last one moves with the feed. */
export function Plot({ bars, instrument, interval, onGap }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLParagraphElement>(null);
  const shown = shade.value;
  const words = language.value;
  const visible = useVisible();
  const held = useMemo(() => barsOf(instrument, interval), [instrument.feed, instrument.key, interval]);
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
      const unwatch = addTicks(held, instrument, made.update, () => gap.current());
      end = () => {
        unwatch();
        made.remove();
        chart.current = null;
      };
    });
    return () => {
      wanted = false;
      end();
    };
  }, [held, bars.length > 0, shown, words, visible]);
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
function summary(symbol: string, bars: readonly Bar[]): string {
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last) return symbol;
  const [high, low] = [Math.max(...bars.map((each) => each.high)), Math.min(...bars.map((each) => each.low))];
  return `${symbol}: ${price(first.open)} → ${price(last.close)} (${price(low)} – ${price(high)})`;
}

function describe(element: HTMLElement | null, bar: Bar | null): void {
  if (!element) return;
  element.textContent = bar
    ? `O ${price(bar.open)}  H ${price(bar.high)}  L ${price(bar.low)}  C ${price(bar.close)}  V ${compact(bar.volume)}`
    : "";
}

function barsOf({ feed }: Instrument, interval: Interval): Bars {
  return feed === "market"
    ? new Bars({ interval, zone: "America/New_York", trades: marketTrades })
    : new Bars({ interval, zone: "UTC" });
}

/** Adds each tick to the bars; the returned function ends that. */
function addTicks(bars: Bars, { feed, key }: Instrument, update: (bar: Bar) => void, onGap: () => void): () => void {
  return live.watch(feed, key, (quote, continues) => {
    const volume = "volume" in quote && quote.volume !== null ? Number(quote.volume) : null;
    const at = quote.timestamp ? Date.parse(quote.timestamp) : Date.now() + live.clockOffset;
    const venue = "exchange" in quote ? quote.exchange : undefined;
    const bar = bars.take({ price: quote.price, at, volume, continues, venue });
    if (bar) update(bar);
    if (bars.isIncomplete) onGap();
  });
}
