/** Making one takes a hundred times as long as using it. */
const NEW_YORK = new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York", dateStyle: "short" });

/** Returns the day (ISO 8601) in New York at a moment of Unix milliseconds. */
export const newYorkDay = (at: number): string => NEW_YORK.format(at);

const DAY_MS = 86_400_000;
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Returns Monday and Sunday of a day's week, or of one that is `weeks` later; on a weekend the next week counts. */
export function weekOf(day: string, weeks = 0): { readonly from: string; readonly to: string } {
  const at = Date.parse(`${day}T00:00:00Z`);
  const sinceMonday = (new Date(at).getUTCDay() + 6) % 7;
  const monday = at + (7 * weeks + (sinceMonday > 4 ? 7 : 0) - sinceMonday) * DAY_MS;
  return { from: dayOf(monday), to: dayOf(monday + 6 * DAY_MS) };
}

const HOURS: readonly string[] = ["bmo", "dmh", "amc"];

/** Returns reports by day, in the order of their hours: before the open first, unknown hours last. */
export function byDay<Report extends { readonly date: string; readonly hour: string; readonly symbol: string }>(
  reports: readonly Report[],
): [string, Report[]][] {
  const days = new Map<string, Report[]>();
  const place = ({ hour }: Report) => (HOURS.includes(hour) ? HOURS.indexOf(hour) : HOURS.length);
  const inOrder = [...reports].sort(
    (one, other) =>
      one.date.localeCompare(other.date) || place(one) - place(other) || one.symbol.localeCompare(other.symbol),
  );
  for (const each of inOrder) days.set(each.date, [...(days.get(each.date) ?? []), each]);
  return [...days];
}
