import { exchangeOptions, timeOptions } from "./time-choice.ts";
import { language, locale } from "./words.ts";

const UNKNOWN = "–";

const made = new Map<string, Intl.NumberFormat>();

/** Returns a cached format: making one is slow, using it is fast. */
function format(name: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${locale()} ${name}`;
  const known = made.get(key);
  if (known) return known;
  const format = new Intl.NumberFormat(locale(), options);
  made.set(key, format);
  return format;
}

/** Decimals that show some significant digits of a value below one; Intl allows 20. */
const decimals = (value: number, digits: number) =>
  Math.min(20, Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value) || 1))));

const mostDecimals = (value: number): number =>
  Math.abs(value) >= 100 ? 2 : Math.abs(value) >= 1 ? 4 : Math.max(8, decimals(value, 4));

/** A price with at least two decimals, more where it is small. */
export function price(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : writeDecimals(value, 2, mostDecimals(value));
}

const writeDecimals = (value: number, least: number, most: number): string =>
  format(`price ${least} ${most}`, { minimumFractionDigits: least, maximumFractionDigits: most }).format(value);

/** Decimals that the prices of an instrument have had, by its key: quotes do not name its tick size. */
const learned = new Map<string, number>();

/** A price of an instrument with as many decimals as its others: the digits of a column stay in their places. */
export function quotedPrice(key: string, value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  const most = mostDecimals(value);
  const own = /\.(\d*[1-9])0*$/.exec(value.toFixed(most))?.[1]?.length ?? 0;
  const known = Math.max(2, own, learned.get(key) ?? 0);
  learned.set(key, known);
  return writeDecimals(value, Math.min(known, most), most);
}

/** A change in price or value, with its sign. */
export function difference(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  const most = Math.abs(value) >= 1 || value === 0 ? 2 : Math.max(4, decimals(value, 2));
  const options = { minimumFractionDigits: 2, maximumFractionDigits: most, signDisplay: "exceptZero" } as const;
  return format(`difference ${most}`, options).format(value);
}

/** A percentage with its sign; 1.5 is 1.5 %. */
export function percent(value: number | null | undefined, digits = 2): string {
  if (value === null || value === undefined) return UNKNOWN;
  const options = {
    style: "percent",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    signDisplay: "exceptZero",
  } as const;
  return format(`percent ${digits}`, options).format(value / 100);
}

/** A large number in few digits: 4.5M. */
export function compact(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  return format("compact", { notation: "compact", maximumFractionDigits: 2 }).format(Number(value));
}

/** A number with up to four decimals. */
export function plain(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : format("plain", { maximumFractionDigits: 4 }).format(value);
}

/** A number of shares or coins, never rounded: an account stores eight decimals. */
export function quantity(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  return format("quantity", { maximumFractionDigits: 8 }).format(value);
}

export function time(iso: string): string {
  return new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit", ...timeOptions() }).format(
    new Date(iso),
  );
}

/** A time of today (Unix milliseconds), to the second. */
export function clock(at: number): string {
  return new Intl.DateTimeFormat(locale(), { timeStyle: "medium", ...timeOptions() }).format(at);
}

/** A time (Unix milliseconds) in New York, to the second. */
export function exchangeClock(at: number): string {
  return new Intl.DateTimeFormat(locale(), { timeStyle: "medium", ...exchangeOptions() }).format(at);
}

/** A time of this week, with its weekday. */
export function dayAndTime(iso: string): string {
  const options = { weekday: "short", hour: "2-digit", minute: "2-digit", ...timeOptions() } as const;
  return new Intl.DateTimeFormat(locale(), options).format(new Date(iso));
}

/** A time with its date, which has no year. */
export function dateAndTime(iso: string): string {
  const options = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", ...timeOptions() } as const;
  return new Intl.DateTimeFormat(locale(), options).format(new Date(iso));
}

/** A day (ISO 8601 without a time), with its weekday. */
export function dayOnly(day: string): string {
  const options = { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat(locale(), options).format(new Date(day));
}

/** A time (Unix milliseconds) by the reader's clock, as the value of a `datetime-local` field. */
export function localTime(at: number): string {
  const offset = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offset).toISOString().slice(0, "2026-11-22T10:00:00".length);
}

/** The reader's date, as the value of a `date` field. */
export const today = (): string => localTime(Date.now()).slice(0, "2026-11-22".length);

/** A time, with its date unless that is today. */
export function moment(iso: string): string {
  const then = new Date(iso);
  const day = new Intl.DateTimeFormat("en-CA", { dateStyle: "short", timeZone: timeOptions().timeZone });
  if (day.format(then) === day.format(new Date())) return time(iso);
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short", ...timeOptions() }).format(then);
}

/** A moment (Unix milliseconds), to the second. */
export function dateAndClock(at: number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "medium", ...timeOptions() }).format(at);
}

/** The month and year of a date; dates have no time zone. */
export function month(day: string): string {
  const options = { month: "short", year: "2-digit", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat(locale(), options).format(new Date(day));
}

/** Returns the shortest usual unit; in Turkish the narrow one lacks the space that spelling asks for. */
const shortUnit = () => (language.value === "tr" ? "short" : "narrow");

/** A duration in its largest unit: seconds, minutes or hours. */
export function age(milliseconds: number, unitDisplay: "narrow" | "short" = shortUnit()): string {
  const seconds = Math.max(0, milliseconds / 1000);
  const [value, unit] =
    seconds < 60 ? [seconds, "second"] : seconds < 3600 ? [seconds / 60, "minute"] : [seconds / 3600, "hour"];
  return format(`${unit} ${unitDisplay}`, {
    style: "unit",
    unit: unit as string,
    unitDisplay,
    maximumFractionDigits: 0,
  }).format(Math.floor(value as number));
}

export function milliseconds(value: number): string {
  return format("ms", { style: "unit", unit: "millisecond", maximumFractionDigits: 0 }).format(value);
}

/** The name of a value's colour, by its sign. */
export function tone(value: number | null | undefined): "rise" | "fall" | "flat" {
  return !value ? "flat" : value > 0 ? "rise" : "fall";
}
