import {
  CandlestickSeries,
  ColorType,
  CrosshairMode,
  createChart,
  HistogramSeries,
  type Time,
  type UTCTimestamp,
} from "lightweight-charts";

import { type Bar, type FeedName, type Interval, isDaily } from "../../client/index.ts";
import { price } from "../formats.ts";
import { colour } from "../theme.ts";
import { locale } from "../words.ts";

interface Options {
  readonly interval: Interval;
  readonly feed: FeedName;
  /** Called with the bar under the crosshair, or with the last bar. */
  readonly onPoint: (bar: Bar | null) => void;
}

const at = (bar: Bar): UTCTimestamp => (Date.parse(bar.time) / 1000) as UTCTimestamp;

/** Draws bars into an element. `update` replaces the last bar or appends one; `replace` replaces all. */
export function drawCandles(element: HTMLElement, bars: readonly Bar[], { interval, feed, onPoint }: Options) {
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
  const column = (bar: Bar) => ({ time: at(bar), value: bar.volume, color: bar.close >= bar.open ? rise : fall });
  const candle = (bar: Bar) => ({ time: at(bar), open: bar.open, high: bar.high, low: bar.low, close: bar.close });
  const byTime = new Map<Time, Bar>();
  let last: Bar | null = null;
  let pointed = false;
  const replace = (all: readonly Bar[]) => {
    candles.setData(all.map(candle));
    volume.setData(all.map(column));
    byTime.clear();
    for (const bar of all) byTime.set(at(bar), bar);
    last = all.at(-1) ?? null;
    if (!pointed) onPoint(last);
  };
  replace(bars);
  chart.timeScale().fitContent();

  chart.subscribeCrosshairMove(({ time }) => {
    const bar = time === undefined ? undefined : byTime.get(time);
    pointed = bar !== undefined;
    onPoint(bar ?? last);
  });
  const update = (bar: Bar) => {
    last = bar;
    byTime.set(at(bar), bar);
    candles.update(candle(bar));
    volume.update(column(bar));
    if (!pointed) onPoint(bar);
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
  const zone = isDay ? { timeZone: feed === "market" ? "America/New_York" : "UTC" } : {};
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
