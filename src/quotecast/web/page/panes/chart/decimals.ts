const MOST_DECIMALS = 12;

/** Returns the decimals of a tick size: 2 for 0.01 and for 0.05. */
export function decimalsOf(tick: number): number {
  for (let decimals = 0; decimals < MOST_DECIMALS; decimals += 1) {
    const scaled = tick * 10 ** decimals;
    if (Math.abs(scaled - Math.round(scaled)) < 1e-6 * scaled) return decimals;
  }
  return MOST_DECIMALS;
}
