import { price } from "../formats.ts";
import { locale } from "../words.ts";
import type { Numbers } from "./text.ts";

/** Numbers in the reader's language; a percentage has no sign but a minus. */
export const numbers: Numbers = {
  price,
  percent: (value) =>
    new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: 2 }).format(value / 100),
};
