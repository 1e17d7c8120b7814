import type { UTCTimestamp } from "lightweight-charts";
import { at, type Candle } from "../chart-bars.ts";

/** Returns the library's time of a bar: Unix seconds. */
export const timeOf = (bar: Candle): UTCTimestamp => (at(bar) / 1000) as UTCTimestamp;
