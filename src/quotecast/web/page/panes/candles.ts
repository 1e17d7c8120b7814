import {
  CandlestickSeries,
  ColorType,
  CrosshairMode,
  createChart,
  HistogramSeries,
  type Time,
  type UTCTimestamp,
} from "lightweight-charts";

import type { FeedName } from "../../client/index.ts";
import { price } from "../formats.ts";
import { colour } from "../theme.ts";
import { locale } from "../words.ts";
import { at, type Candle, type Interval, isDaily } from "./chart-bars.ts";

interface Options {
  readonly interval: Interval;
  readonly feed: FeedName;
  /** Called with the bar under the crosshair, or with the last bar. */
  readonly onPoint: (bar: Candle | null) => void;
}

/** Bars for which the chart has room at least. */
const LEAST_SHOWN = 60;
/** The time zones of days. */
const ZONES: Record<FeedName, string> = { market: "America/New_York", crypto: "UTC", doviz: "Europe/Istanbul" };

const timeOf = (bar: Candle): UTCTimestamp => (at(bar) / 1000) as UTCTimestamp;

/** Draws bars into an element. `update` replaces the bar of its time or appends one; `replace` replaces all. */
export function drawCandles(element: HTMLElement, bars: readonly Candle[], { interval, feed, onPoint }: Options) {
  const chart = createChart(element, { ...appearance(), ...times(interval, feed), autoSize: true });
  const candles = chart.addSeries(CandlestickSeries, candleColours());
  const volume = chart.addSeries(HistogramSeries, {
    priceFormat: { type: "volume" },
    priceScaleId: "",
    lastValueVisible: false,
    priceLineVisible: false,
  });
  volume.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });
  const [rise, fall] = [colour("volume-rise"), colour("volume-fall")];
  const column = (bar: Candle) => ({
    time: timeOf(bar),
    value: bar.volume ?? 0,
    color: bar.close >= bar.open ? rise : fall,
  });
  const candle = (bar: Candle) => ({
    time: timeOf(bar),
    open: bar.open,
    high: bar.high,
    low: bar.low,
    close: bar.close,
  });
  const byTime = new Map<Time, Candle>();
  let last: Candle | null = null;
  let pointed = false;
  const replace = (all: readonly Candle[]) => {
    candles.setData(all.map(candle));
    volume.setData(all.map(column));
    byTime.clear();
    for (const bar of all) byTime.set(timeOf(bar), bar);
    last = all.at(-1) ?? null;
    if (!pointed) onPoint(last);
  };
  replace(bars);
  // A few bars alone would fill the width, and each new one would push one out.
  if (bars.length >= LEAST_SHOWN) chart.timeScale().fitContent();
  else chart.timeScale().setVisibleLogicalRange({ from: bars.length - LEAST_SHOWN, to: bars.length });

  chart.subscribeCrosshairMove(({ time }) => {
    const bar = time === undefined ? undefined : byTime.get(time);
    pointed = bar !== undefined;
    onPoint(bar ?? last);
  });
  const update = (bar: Candle) => {
    const isOlder = last !== null && at(bar) < at(last);
    if (!isOlder) last = bar;
    byTime.set(timeOf(bar), bar);
    candles.update(candle(bar), isOlder);
    volume.update(column(bar), isOlder);
    if (!pointed) onPoint(last);
  };
  return { update, replace, remove: () => chart.remove() };
}

function appearance() {
  const line = { color: colour("line") };
  return {
    layout: {
      background: { type: ColorType.Solid, color: colour("panel") },
      textColor: colour("quiet"),
      fontFamily: getComputedStyle(document.body).fontFamily,
      fontSize: 11,
      // The page has its own attribution: its content security policy blocks the logo's style sheet.
      attributionLogo: false,
    },
    grid: { vertLines: line, horzLines: line },
    crosshair: { mode: CrosshairMode.Normal },
    // A vertical swipe over the chart scrolls the page.
    handleScroll: { vertTouchDrag: false },
    rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.08, bottom: 0.22 } },
  };
}

function candleColours() {
  const [up, down] = [colour("rise"), colour("fall")];
  return { upColor: up, downColor: down, wickUpColor: up, wickDownColor: down, borderVisible: false };
}

/** Options of the time axis: times in the reader's zone, days in the exchange's. */
function times(interval: Interval, feed: FeedName) {
  const isDay = isDaily(interval);
  const zone = isDay ? { timeZone: ZONES[feed] } : {};
  const clock = new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit", ...zone });
  const day = new Intl.DateTimeFormat(locale(), { day: "numeric", month: "short", ...zone });
  const year = new Intl.DateTimeFormat(locale(), { month: "short", year: "numeric", ...zone });
  const full = new Intl.DateTimeFormat(
    locale(),
    isDay ? { dateStyle: "medium", ...zone } : { dateStyle: "medium", timeStyle: "short" },
  );
  const date = (time: Time) => new Date((time as number) * 1000);
  const mark = (time: Time, kind: number) => (kind <= 1 ? year : kind === 2 || isDay ? day : clock).format(date(time));
  return {
    timeScale: { timeVisible: !isDay, secondsVisible: false, borderVisible: false, tickMarkFormatter: mark },
    localization: { timeFormatter: (time: Time) => full.format(date(time)), priceFormatter: price },
  };
}
