/** The choices of indicators: which ones, with which lengths; computed elsewhere. */

import { joinSlots, type Placed } from "./slots.ts";

export const KINDS = ["sma", "ema", "vwap", "bollinger", "rsi", "macd", "atr"] as const;
export type Kind = (typeof KINDS)[number];

/** An indicator with its numbers, in the order of its fields. */
export interface Spec extends Placed {
  readonly kind: Kind;
  readonly numbers: readonly number[];
}

export interface Field {
  readonly name: "length" | "deviations" | "fast" | "slow" | "signal";
  readonly least: number;
  readonly most: number;
  readonly step: number;
  readonly usual: number;
}

const length = (usual: number, name: Field["name"] = "length"): Field => ({
  name,
  least: 2,
  most: 400,
  step: 1,
  usual,
});

export const FIELDS: Record<Kind, readonly Field[]> = {
  sma: [length(20)],
  ema: [length(50)],
  vwap: [],
  bollinger: [length(20), { name: "deviations", least: 0.5, most: 5, step: 0.5, usual: 2 }],
  rsi: [length(14)],
  macd: [length(12, "fast"), length(26, "slow"), length(9, "signal")],
  atr: [length(14)],
};

/** Names of the lines that an indicator draws. */
export const LINES: Record<Kind, readonly string[]> = {
  sma: [""],
  ema: [""],
  vwap: [""],
  bollinger: ["↑", "", "↓"],
  rsi: [""],
  macd: ["", "signal", "±"],
  atr: [""],
};

/** Indicators that are prices; the others have a pane and a scale of their own. */
export const ON_PRICES: ReadonlySet<Kind> = new Set<Kind>(["sma", "ema", "vwap", "bollinger"]);
const NAMES: Record<Kind, string> = {
  sma: "SMA",
  ema: "EMA",
  vwap: "VWAP",
  bollinger: "Bollinger",
  rsi: "RSI",
  macd: "MACD",
  atr: "ATR",
};

/** Indicators of one chart at most: a reader cannot distinguish more. */
export const MOST_SPECS = 8;

export const nameOf = (kind: Kind): string => NAMES[kind];

/** Returns an indicator's name with its numbers: `SMA 20`. */
export const labelOf = ({ kind, numbers }: Spec): string => [NAMES[kind], ...numbers].join(" ");

/** Returns the indicator with its usual numbers. */
export const usual = (kind: Kind, slot: number): Spec => ({
  kind,
  numbers: FIELDS[kind].map((each) => each.usual),
  slot,
});

/** Returns the number within the bounds of a field, on its steps. */
export function clampNumber(field: Field, value: number): number {
  if (!Number.isFinite(value)) return field.usual;
  return Math.min(field.most, Math.max(field.least, Math.round(value / field.step) * field.step));
}

/** Returns the indicators of a pane's memory; skips what no version of the page writes. */
export function parseSpecs(text: string | undefined): Spec[] {
  return (text ?? "").split(",", MOST_SPECS).flatMap((part, slot) => {
    const [name, ...given] = part.split(" ");
    const kind = KINDS.find((each) => each === name);
    if (!kind) return [];
    const numbers = FIELDS[kind].map((field, index) => clampNumber(field, Number(given[index] ?? Number.NaN)));
    return [{ kind, numbers, slot }];
  });
}

export const writeSpecs = (specs: readonly Spec[]): string =>
  joinSlots(
    specs.map(({ kind, numbers, slot }) => [slot, [kind, ...numbers].join(" ")]),
    ",",
  );
