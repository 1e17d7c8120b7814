/**
 * Returns the SVG path of a line through values at equal distances, the highest at the top of a box.
 *
 * Equal values give a line at half the height; without two values there is no line.
 */
export function linePath(values: readonly number[], width: number, height: number): string {
  if (values.length < 2) return "";
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const step = width / (values.length - 1);
  const y = (value: number) => (most === least ? height / 2 : (height * (most - value)) / (most - least));
  const points = values.map((value, index) => `${round(index * step)} ${round(y(value))}`);
  return `M${points.join("L")}`;
}

const round = (value: number): number => Math.round(value * 100) / 100;
