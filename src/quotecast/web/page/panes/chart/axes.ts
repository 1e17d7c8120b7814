import { ColorType, CrosshairMode, type PriceFormat, type Time } from "lightweight-charts";

import type { FeedName } from "quotecast-client";
import { colour } from "../../theme.ts";
import { timeOptions } from "../../time-choice.ts";
import { locale } from "../../words.ts";
import { type Interval, isDaily } from "../chart-bars.ts";
import { writePrice } from "./prices.ts";
import { ZONES } from "./zones.ts";

const FREE_PIXELS = 32;

/** Options of the chart's colours and margins, in the theme on the screen. */
export function appearance() {
  const line = { color: colour("line") };
  return {
    layout: {
      background: { type: ColorType.Solid, color: colour("panel") },
      textColor: colour("quiet"),
      fontFamily: getComputedStyle(document.body).fontFamily,
      fontSize: 11,
      // The page has its own attribution: its content security policy blocks the logo's style sheet.
      attributionLogo: false,
      panes: { separatorColor: colour("line"), separatorHoverColor: colour("selected") },
    },
    grid: { vertLines: line, horzLines: line },
    crosshair: { mode: CrosshairMode.Normal },
    // A vertical swipe over the chart scrolls the page.
    handleScroll: { vertTouchDrag: false },
    rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.08, bottom: 0.22 } },
  };
}

export function candleColours() {
  const [up, down] = [colour("rise"), colour("fall")];
  // A falling candle is filled and a rising one hollow, so that they differ without colours.
  return {
    upColor: colour("panel"),
    downColor: down,
    wickUpColor: up,
    wickDownColor: down,
    borderUpColor: up,
    borderDownColor: down,
    priceLineVisible: false,
    lastValueVisible: false,
  };
}

/** Returns the format of prices with a tick size; without one, of prices as everywhere on the page. */
export const priceFormat = (tick: number | null): PriceFormat => ({
  type: "custom",
  minMove: tick ?? 1e-8,
  formatter: (value: number) => writePrice(value, tick),
});

/** Options of the time axis: times in the zone that the reader chose, days in the exchange's. */
export function times(interval: Interval, feed: FeedName) {
  const isDay = isDaily(interval);
  const zone = isDay ? { timeZone: ZONES[feed] } : timeOptions();
  const clock = new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit", ...zone });
  const day = new Intl.DateTimeFormat(locale(), { day: "numeric", month: "short", ...zone });
  const year = new Intl.DateTimeFormat(locale(), { month: "short", year: "numeric", ...zone });
  const full = new Intl.DateTimeFormat(
    locale(),
    isDay ? { dateStyle: "medium", ...zone } : { dateStyle: "medium", timeStyle: "short", ...zone },
  );
  const date = (time: Time) => new Date((time as number) * 1000);
  const mark = (time: Time, kind: number) => (kind <= 1 ? year : kind === 2 || isDay ? day : clock).format(date(time));
  return {
    timeScale: {
      timeVisible: !isDay,
      secondsVisible: false,
      borderVisible: false,
      // A pane that the reader maximises and restores shows the same bars.
      lockVisibleTimeRangeOnResize: true,
      // The newest candle stands free.
      rightOffsetPixels: FREE_PIXELS,
      tickMarkFormatter: mark,
      // Thousands of bars fit into the width of a pane.
      minBarSpacing: 0.05,
    },
    localization: { timeFormatter: (time: Time) => full.format(date(time)) },
  };
}
