import type { Earnings, Recommendation } from "quotecast-client";
import { month, plain } from "../formats.ts";
import { say, type Word } from "../words.ts";

const [WIDTH, HEIGHT, FOOT] = [300, 120, 16];
const GRADES = ["strongSell", "sell", "hold", "buy", "strongBuy"] as const satisfies readonly Word[];

interface Titled {
  readonly title: Word;
}

/** A drawing with its title and, for screen readers, its content as text. */
function Figure({
  title,
  unit,
  text,
  legend,
  children,
}: Titled & {
  readonly unit?: string | null;
  readonly text: string;
  readonly legend: [string, string][];
  readonly children: preact.ComponentChildren;
}) {
  return (
    <figure>
      <figcaption>
        {say(title)}
        {unit && ` (${unit})`}
        <span class="keys">
          {legend.map(([name, kind]) => (
            <span key={kind} data-kind={kind}>
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={text}>
        {children}
      </svg>
    </figure>
  );
}

/** Number of analysts per recommendation, month by month. */
export function Recommendations({ months }: { readonly months: readonly Recommendation[] }) {
  const shown = months.slice(0, 8).reverse();
  const most = Math.max(1, ...shown.map((each) => GRADES.reduce((sum, grade) => sum + (each[grade] ?? 0), 0)));
  const step = WIDTH / Math.max(1, shown.length);
  const scale = (HEIGHT - FOOT) / most;
  const text = shown
    .map((each) => `${month(each.period)}: ${GRADES.map((grade) => `${say(grade)} ${each[grade] ?? 0}`).join(", ")}`)
    .join("; ");
  return (
    <Figure title="analysts" text={text} legend={[...GRADES].reverse().map((grade) => [say(grade), grade])}>
      {shown.map((each, index) => {
        let top = HEIGHT - FOOT;
        return (
          <g key={each.period}>
            {GRADES.map((grade) => {
              const height = (each[grade] ?? 0) * scale;
              top -= height;
              return (
                <rect
                  key={grade}
                  data-kind={grade}
                  x={index * step + step * 0.2}
                  y={top}
                  width={step * 0.6}
                  height={Math.max(0, height - 1)}
                />
              );
            })}
            <text x={(index + 0.5) * step} y={HEIGHT - 3}>
              {month(each.period)}
            </text>
          </g>
        );
      })}
    </Figure>
  );
}

interface EarningsPlotProps {
  readonly quarters: readonly Earnings[];
  readonly currency: string | null;
}

/** Earnings per share, actual and estimated, quarter by quarter. */
export function EarningsPlot({ quarters, currency }: EarningsPlotProps) {
  const shown = quarters.slice(0, 8).reverse();
  const values = shown.flatMap((each) => [each.actual, each.estimate]).filter((each) => each !== null);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const step = WIDTH / Math.max(1, shown.length);
  const [inset, span] = [20, HEIGHT - FOOT - 34];
  const y = (value: number) => inset + span * (1 - (value - least) / (most - least || 1));
  const text = shown
    .map(
      (each) =>
        `${each.period}: ${say("epsActual")} ${plain(each.actual)}, ${say("epsEstimate")} ${plain(each.estimate)}`,
    )
    .join("; ");
  return (
    <Figure
      title="balanceOfEarnings"
      unit={currency}
      text={text}
      legend={[
        [say("epsActual"), "actual"],
        [say("epsEstimate"), "estimate"],
      ]}
    >
      {shown.map((each, index) => {
        const x = (index + 0.5) * step;
        const kind = (each.surprise ?? 0) >= 0 ? "beat" : "missed";
        return (
          <g key={each.period}>
            {each.estimate !== null && <circle data-kind="estimate" cx={x} cy={y(each.estimate)} r={6} />}
            {each.actual !== null && <circle data-kind={kind} cx={x} cy={y(each.actual)} r={4} />}
            {each.actual !== null && (
              <text x={x} y={Math.min(y(each.actual), y(each.estimate ?? each.actual)) - 9}>
                {plain(each.actual)}
              </text>
            )}
            <text x={x} y={HEIGHT - 3}>
              Q{each.quarter} {String(each.year ?? "").slice(2)}
            </text>
          </g>
        );
      })}
    </Figure>
  );
}
