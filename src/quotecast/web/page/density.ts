import { computed } from "@preact/signals";
import { isOneOf, sharedSignal } from "./stored.ts";

export const DENSITIES = ["compact", "roomy"] as const;
export type Density = (typeof DENSITIES)[number];

export const density = sharedSignal<Density>("density", "compact", isOneOf(DENSITIES));
const isCoarse = matchMedia("(pointer: coarse)").matches;

/** Height of a table's row in pixels: a finger needs more than a mouse. */
export const rowHeight = computed(() => (isCoarse ? 44 : density.value === "roomy" ? 32 : 24));

/** Tells the style sheet the height of the rows, now and at every change. */
export function followDensity(): void {
  rowHeight.subscribe((pixels) => document.documentElement.style.setProperty("--row", `${pixels}px`));
}
