import type { Interval } from "../chart-bars.ts";

/** Hours that bars may add to the regular sessions; undefined for none. */
export type Session = "extended" | undefined;

/** The service has extended hours in these bars only: longer ones would begin at other times than live bars. */
const INTERVALS: ReadonlySet<Interval> = new Set<Interval>(["1m", "5m", "15m"]);

export const canExtend = (interval: Interval): boolean => INTERVALS.has(interval);

/** Returns the hours of a pane's memory. */
export const sessionOf = (text: string | undefined, interval: Interval): Session =>
  text === "extended" && canExtend(interval) ? "extended" : undefined;
