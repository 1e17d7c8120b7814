import { type EntryType, type Instrument, instrumentOf, same, typeOf } from "../../instruments.ts";
import { at, type Candle, type Interval } from "../chart-bars.ts";
import { joinSlots, type Placed } from "./slots.ts";

/** Instruments beside the chart's own, at most. */
export const MOST_COMPARED = 4;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/**
 * How long after the opening of a bar the other instrument's bar of the same time may open, in milliseconds.
 *
 * Days begin at different hours in the feeds' time zones, weeks and months also on the first trading day.
 */
const REACH: Record<Interval, number> = {
  "1m": MINUTE_MS,
  "5m": 5 * MINUTE_MS,
  "15m": 15 * MINUTE_MS,
  "30m": 30 * MINUTE_MS,
  "1h": HOUR_MS,
  "4h": 4 * HOUR_MS,
  D: 12 * HOUR_MS,
  W: 72 * HOUR_MS,
  M: 240 * HOUR_MS,
};
const TYPES = ["stock", "crypto", "doviz"] as const;
const SEPARATOR = "|";

/** Returns the compared instruments of a pane's memory, without the chart's own. */
export function parseCompared(text: string | undefined, own: Instrument): (Instrument & Placed)[] {
  const found = (text ?? "").split(SEPARATOR, MOST_COMPARED).flatMap((part, slot) => {
    const [name, ...key] = part.split(" ");
    const type = TYPES.find((each) => each === name);
    return type && key.length ? [{ ...instrumentOf(type as EntryType, key.join(" ")), slot }] : [];
  });
  return found.filter((each, index) => !same(each, own) && found.findIndex((other) => same(each, other)) === index);
}

export const writeCompared = (instruments: readonly (Instrument & Placed)[]): string =>
  joinSlots(
    instruments.map((each) => [each.slot, `${typeOf(each)} ${each.key}`]),
    SEPARATOR,
  );

/**
 * Returns the other instrument's close at each of the chart's bars; null before its first bar.
 *
 * Venues open at different hours and their days begin at different times, so a bar takes the other instrument's last bar
 * that opens before it ends. The chart's axis then has its own instrument's times only.
 */
export function alignCloses(own: readonly Candle[], other: readonly Candle[], interval: Interval): (number | null)[] {
  let [next, close] = [0, null as number | null];
  return own.map((bar) => {
    const end = at(bar) + REACH[interval];
    for (let each = other[next]; each && at(each) < end; each = other[next]) {
      close = each.close;
      next += 1;
    }
    return close;
  });
}

/** Returns the change in percent since the first known value from `from` on, up to `index`; null if unknown. */
export function changeSince(values: readonly (number | null)[], from: number, index: number): number | null {
  const base = values.slice(Math.max(0, from)).find((each) => each !== null);
  const value = values[index];
  return base && value != null ? (100 * (value - base)) / base : null;
}
