import type { Instrument } from "../../instruments.ts";
import type { Memory } from "../../pane.tsx";
import type { CandleChart } from "../candles.ts";
import type { Interval } from "../chart-bars.ts";
import type { Kind } from "./drawings.ts";
import type { Session } from "./session.ts";

/** The panels that open from the toolbar; each has a button. */
export const PANELS = ["indicators", "compare", "scale", "draw"] as const;
export type PanelName = (typeof PANELS)[number];

export interface DrawingState {
  readonly tool: Kind | null;
  readonly selected: number | null;
}

/** The chart of panels and actions; no chart before its library has come. */
export interface ChartState extends Memory {
  readonly instrument: Instrument;
  readonly interval: Interval;
  /** The hours that the chart asks for, and those of the answer. */
  readonly session: Session;
  readonly answered: string | null;
  readonly chart: CandleChart | null;
  readonly drawing: DrawingState;
}
