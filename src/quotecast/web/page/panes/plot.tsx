import { useEffect, useRef } from "preact/hooks";

import type { Bar } from "../../client/index.ts";
import { compact, price } from "../formats.ts";
import type { Instrument } from "../instruments.ts";
import type { AnyQuote } from "../live.ts";
import { useValue } from "../observable.ts";
import { useVisible } from "../pane.tsx";
import { live } from "../service.ts";
import { shade } from "../theme.ts";
import { language, useWords } from "../words.ts";
import { lastBar } from "./last-bar.ts";

const RETRY_MS = 2000;

interface Props {
  readonly bars: readonly Bar[];
  readonly instrument: Instrument;
  readonly interval: string;
}

/** Candles with volume; the last one moves with the feed. */
export function Plot({ bars, instrument, interval }: Props) {
  const say = useWords();
  const element = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLParagraphElement>(null);
  const shown = useValue(shade);
  const words = useValue(language);
  const visible = useVisible();
  useEffect(() => {
    if (!visible || !bars.length) return;
    let end = () => {};
    let wanted = true;
    void library().then(({ drawn }) => {
      if (!wanted || !element.current || !legend.current) return;
      const chart = drawn(element.current, bars, { interval, feed: instrument.feed, onPoint: (bar) => describe(legend.current, bar) });
      const unwatch = follow(bars, instrument, interval, chart.update);
      end = () => (unwatch(), chart.remove());
    });
    return () => ((wanted = false), end());
  }, [bars, instrument.key, interval, shown, words, visible]);
  return (
    <div class="plot">
      <p class="legend" ref={legend} aria-live="off" />
      <div class="canvas" ref={element} role="img" aria-label={summary(instrument.key, bars)} />
      <a class="credit" href="https://www.tradingview.com/" target="_blank" rel="noopener noreferrer">{say("chartsBy")}</a>
    </div>
  );
}

/** The chart library is half of all code: the first paint does not wait for it. Asked for until it comes. */
function library(): Promise<typeof import("./candles.ts")> {
  return import("./candles.ts").catch(() => new Promise((wait) => setTimeout(wait, RETRY_MS)).then(library));
}

/** What a chart shows, for who does not see it. */
function summary(symbol: string, bars: readonly Bar[]): string {
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last) return symbol;
  const [high, low] = [Math.max(...bars.map((each) => each.high)), Math.min(...bars.map((each) => each.low))];
  return `${symbol}: ${price(first.open)} → ${price(last.close)} (${price(low)} – ${price(high)})`;
}

function describe(element: HTMLElement | null, bar: Bar | null): void {
  if (!element) return;
  element.textContent = bar ? `O ${price(bar.open)}  H ${price(bar.high)}  L ${price(bar.low)}  C ${price(bar.close)}  V ${compact(bar.volume)}` : "";
}

/** Grows the last bar with each tick. */
function follow(bars: readonly Bar[], instrument: Instrument, interval: string, update: (bar: Bar) => void): () => void {
  let bar = bars.at(-1) as Bar;
  let traded: number | null = null;
  return live.watch(instrument.feed, instrument.key, (quote: AnyQuote) => {
    const volume = "volume" in quote && quote.volume !== null ? Number(quote.volume) : null;
    // A pair's volume is of the last 24 hours, which may shrink.
    const since = volume !== null && traded !== null ? Math.max(0, volume - traded) : 0;
    traded = volume;
    bar = lastBar(bar, { price: quote.price, at: Date.parse(quote.timestamp ?? bar.time) / 1000, volume: since }, interval);
    update(bar);
  });
}
