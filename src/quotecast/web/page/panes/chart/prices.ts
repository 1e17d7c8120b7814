import { price } from "../../formats.ts";
import { locale } from "../../words.ts";
import { decimalsOf } from "./decimals.ts";

const formats = new Map<string, Intl.NumberFormat>();

/** Returns a price with the decimals of its tick size; without one, as everywhere on the page. */
export function writePrice(value: number, tick: number | null): string {
  if (!tick) return price(value);
  const decimals = decimalsOf(tick);
  const key = `${locale()} ${decimals}`;
  const format =
    formats.get(key) ??
    new Intl.NumberFormat(locale(), { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  formats.set(key, format);
  return format.format(value);
}
