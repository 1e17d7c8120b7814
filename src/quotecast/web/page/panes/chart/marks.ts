import type { CorporateAction, EarningsEvent } from "quotecast-client";
import { plain } from "../../formats.ts";
import { say } from "../../words.ts";
import type { Candle, Interval } from "../chart-bars.ts";
import { newYorkDay } from "../week.ts";

const WEEK_MS = 7 * 86_400_000;

/** A corporate action on the day from which prices are those after it, or a report on its day. */
export interface Mark {
  readonly day: string;
  /** One letter under the candle. */
  readonly letter: string;
  readonly label: string;
  readonly text: string;
}

/** Returns the marks of dividends, splits and mergers, in the reader's language. */
export function marksOf(actions: readonly CorporateAction[]): Mark[] {
  return actions.map((each) => {
    const day = each.exDate;
    if (each.type === "cash_dividend") {
      const text = `${plain(each.amount)} ${each.currency ?? ""}`;
      return { day, letter: "D", label: say("dividend"), text };
    }
    const text = each.oldShares && each.newShares ? `${plain(each.oldShares)} → ${plain(each.newShares)}` : "";
    if (each.type === "split" || each.type === "stock_dividend") return { day, letter: "S", label: say("split"), text };
    return { day, letter: "R", label: say("newSymbol"), text: each.newSymbol ?? "" };
  });
}

/** Returns the marks of reported earnings: per share, and what was expected. */
export function reportMarks(reports: readonly EarningsEvent[]): Mark[] {
  return reports
    .filter((each) => each.epsActual !== null)
    .map(({ date, epsActual, epsEstimate }) => {
      const expected = epsEstimate === null ? "" : `, ${say("epsExpected", { estimate: plain(epsEstimate) })}`;
      return { day: date, letter: "E", label: say("epsReported"), text: `${plain(epsActual)}${expected}` };
    });
}

/** Returns the marks by index of a bar, ascending: the first bar of their day, or the week or month with it. */
export function placed(marks: readonly Mark[], bars: readonly Candle[], interval: Interval): Map<number, Mark[]> {
  const isLong = interval === "W" || interval === "M";
  const found = new Map<number, Mark[]>();
  const days = new Map<number, string>();
  const dayAt = (index: number): string => {
    const known = days.get(index) ?? newYorkDay(Date.parse((bars[index] as Candle).time));
    days.set(index, known);
    return known;
  };
  for (const mark of [...marks].sort((one, other) => one.day.localeCompare(other.day))) {
    const after = firstIndex(bars.length, (index) => dayAt(index) > mark.day);
    if (!after) continue;
    if (after === bars.length && !isWithin(mark.day, dayAt(after - 1), interval)) continue;
    const index = isLong ? after - 1 : firstIndex(after, (each) => dayAt(each) >= mark.day);
    // A day without bars.
    if (index === after) continue;
    found.set(index, [...(found.get(index) ?? []), mark]);
  }
  return found;
}

/** Returns whether a day belongs to the newest bar, which began on `begun`. */
function isWithin(day: string, begun: string, interval: Interval): boolean {
  if (interval === "M") return day.slice(0, 7) === begun.slice(0, 7);
  return interval === "W" ? Date.parse(day) - Date.parse(begun) < WEEK_MS : day === begun;
}

/** Returns the first index below `count` that passes, where all after it pass; `count` for none. */
function firstIndex(count: number, passes: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
