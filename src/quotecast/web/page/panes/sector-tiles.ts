import type { HeatmapStock } from "quotecast-client";
import { type Box, treemap } from "./treemap.ts";

/** Pixels of the borders of a tile, and of the least room between them and its text. */
const EDGES = 4;
const [NAME_HEIGHT, SIGN_HEIGHT] = [13, 25];
const [PERCENT_WIDTH, PERCENT_HEIGHT] = [38, 26];

/** Returns the width in pixels of a text in the letters of names. */
export type Ruler = (text: string) => number;

export interface Fit {
  readonly boxes: readonly Box[];
  /** The stocks that share the last box; none if each has its own. */
  readonly others: readonly HeatmapStock[];
}

/** The text that fits a tile beside its name: the change, or a sign beside or below the name; null where the name does not fit. */
export function roomOf({ w, h }: Box, name: string, widthOf: Ruler): "change" | "beside" | "below" | null {
  const beside = w > widthOf(`${name}+`) + EDGES;
  if (w <= widthOf(name) + EDGES || h <= (beside ? NAME_HEIGHT : SIGN_HEIGHT)) return null;
  if (w > PERCENT_WIDTH && h > PERCENT_HEIGHT) return "change";
  return beside ? "beside" : "below";
}

/** Returns the short name of several stocks: `+67`. */
export const countOf = (stocks: readonly HeatmapStock[]): string => `+${stocks.length}`;

/** Returns boxes for as many of the largest stocks, `most` at most, as have room for their names, and one for the others. */
export function fitStocks(stocks: readonly HeatmapStock[], frame: Box, most: number, widthOf: Ruler): Fit {
  for (let count = Math.min(most, stocks.length); count > 0; count -= 1) {
    const rest = stocks.slice(count);
    const weights = stocks.slice(0, count).map((each) => each.weight);
    // The others are as large as the smallest of the named: names are what the map is for.
    const boxes = treemap(rest.length ? [...weights, weights.at(-1) as number] : weights, frame);
    const names = [...stocks.slice(0, count).map((each) => each.ticker), countOf(rest)];
    if (boxes.every((box, index) => roomOf(box, names[index] ?? "", widthOf))) return { boxes, others: rest };
  }
  return { boxes: [frame], others: stocks };
}

/** Returns the change in percent of several stocks, by their weights; null if none is known. */
export function changeOf(stocks: readonly HeatmapStock[]): number | null {
  const known = stocks.filter((each) => each.changePercent !== null);
  const weight = sum(known.map((each) => each.weight));
  return weight ? sum(known.map((each) => each.weight * (each.changePercent as number))) / weight : null;
}

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);
