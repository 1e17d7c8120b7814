import type { Scale } from "./chart-options.ts";

export const SCALES = ["linear", "log", "percent"] as const;

/** Returns the scale of a pane's memory. */
export const scaleOf = (text: string | undefined): Scale => SCALES.find((each) => each === text) ?? "linear";
