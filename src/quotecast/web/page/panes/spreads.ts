/** One spread of a bank, in the currency of its quote, at Unix milliseconds. */
export interface SpreadPoint {
  readonly at: number;
  readonly spread: number;
}

/** Wait between two points of a symbol, and the number of points: about two hours beside those of the past. */
export const [POINT_EVERY_MS, POINTS_AT_MOST] = [15_000, 480];
/** Distance and number of the recorded moments that the page asks for: a day. */
const [PAST_EVERY_MS, PAST_POINTS] = [7_200_000, 12];

/** Spreads by symbol: those of recorded moments, and those since the page opened. Bars have one price, not two sides. */
export class SpreadHistory {
  readonly #points = new Map<string, SpreadPoint[]>();

  /** Adds the spread of now, unless the last point is too recent. */
  note(symbol: string, spread: number, at: number): void {
    const points = this.#points.get(symbol) ?? [];
    // Points of a clock that was ahead would end the line until their time comes.
    while ((points.at(-1)?.at ?? at) > at) points.pop();
    const last = points.at(-1);
    if (last && at - last.at < POINT_EVERY_MS) return;
    points.push({ at, spread });
    if (points.length > POINTS_AT_MOST) points.shift();
    this.#points.set(symbol, points);
  }

  /** Adds the spread of a recorded moment. */
  insert(symbol: string, spread: number, at: number): void {
    const points = (this.#points.get(symbol) ?? []).filter((each) => each.at !== at);
    points.push({ at, spread });
    this.#points.set(
      symbol,
      points.sort((one, other) => one.at - other.at),
    );
  }

  /** Returns the points of a symbol, the oldest first. */
  of(symbol: string): readonly SpreadPoint[] {
    return this.#points.get(symbol) ?? [];
  }
}

/** Returns moments of the last day, the newest first. Every page asks for the same ones, so that caches have them. */
export function pastMoments(now: number): number[] {
  const last = Math.floor(now / PAST_EVERY_MS) * PAST_EVERY_MS;
  return Array.from({ length: PAST_POINTS }, (_, index) => last - index * PAST_EVERY_MS);
}

/** Returns the SVG path through the points of a box by their times, the widest spread at the top. */
export function spreadPath(points: readonly SpreadPoint[], width: number, height: number): string {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || last.at === first.at) return "";
  const spreads = points.map((each) => each.spread);
  const [least, most] = [Math.min(...spreads), Math.max(...spreads)];
  const x = (at: number) => (width * (at - first.at)) / (last.at - first.at);
  const y = (spread: number) => (most === least ? height / 2 : (height * (most - spread)) / (most - least));
  return `M${points.map(({ at, spread }) => `${round(x(at))} ${round(y(spread))}`).join("L")}`;
}

const round = (value: number): number => Math.round(value * 100) / 100;
