import type { FeedName } from "quotecast-client";
import type { Candle, Interval } from "../chart-bars.ts";
import type { ToolEvents } from "./drawing-tools.ts";
import type { Row } from "./legend.ts";

export type Scale = "linear" | "log" | "percent";

/** A view: its edges in bars before the last one. */
export interface View {
  readonly from: number;
  readonly to: number;
}

export interface ChartEvents extends ToolEvents {
  /** The bar under the crosshair, or the last bar, with the values of the other lines there. */
  readonly onPoint: (bar: Candle | null, rows: readonly Row[]) => void;
  /** The newest bar left the view, or came back. */
  readonly onAway: (isAway: boolean) => void;
  /** The left edge of the bars came near. */
  readonly onEdge: () => void;
}

/** Interval and feed of the bars, the first view, and the calls for what happens on the chart. */
export interface ChartOptions {
  readonly interval: Interval;
  readonly feed: FeedName;
  readonly view: View | null;
  readonly events: ChartEvents;
}
