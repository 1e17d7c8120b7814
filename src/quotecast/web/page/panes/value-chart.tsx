import type { Missing, PortfolioValue } from "quotecast-client";
import { difference, percent, price, tone } from "../formats.ts";
import { AnswerView, Choice, type Memory, useVisible } from "../pane.tsx";
import { rest, useAnswer } from "../service.ts";
import { session } from "../session.ts";
import { locale, say, type Word } from "../words.ts";
import { gappedLine } from "./positions.ts";

const RANGES = ["1M", "3M", "6M", "YTD", "1Y", "5Y"] as const;
const EVERY_MS = 60_000;
const [WIDTH, HEIGHT] = [600, 160];
const REASONS: Record<Missing["reason"], Word> = {
  unknown: "reasonUnknown",
  bars: "reasonBars",
  rate: "reasonRate",
  limit: "reasonLimit",
  late: "reasonLate",
};

interface Props extends Memory {
  readonly currency: string;
  /** Changes with the holdings. */
  readonly revision: string;
}

/** The value of the holdings over time, as a line with gaps where the service does not know it. */
export function ValueChart({ currency, revision, memory, remember }: Props) {
  const range = RANGES.find((each) => each === memory.range) ?? "3M";
  const answer = useAnswer(
    () => rest.call("GET /api/portfolio/value", { query: { range, currency } }),
    `${session.value?.user.id} ${range} ${currency} ${revision}`,
    { everyMs: EVERY_MS, active: useVisible() },
  );
  return (
    <div class="value-history">
      <Choice label={say("range")} options={RANGES} value={range} onChoose={(each) => remember({ range: each })} />
      <AnswerView answer={answer}>{(data) => <Line {...data} />}</AnswerView>
    </div>
  );
}

const day = (date: string) =>
  new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeZone: "UTC" }).format(new Date(date));

function Line({ points, currency, missing }: PortfolioValue) {
  const known = points.filter((each) => each.value !== null);
  const [first, last] = [known[0], known.at(-1)];
  const { path, least, most } = gappedLine(
    points.map(({ value }) => value),
    WIDTH,
    HEIGHT,
  );
  const left = missing
    .map(({ ticker, reason, since }) => `${ticker} (${say(REASONS[reason], { since: since ? day(since) : "" })})`)
    .join(", ");
  return (
    <>
      {first && last ? (
        <figure>
          <svg
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={say("historyText", {
              from: day(first.date),
              to: day(last.date),
              first: price(first.value),
              last: price(last.value),
              least: price(least),
              most: price(most),
              currency,
            })}
          >
            <path d={path} vector-effect="non-scaling-stroke" />
          </svg>
          <figcaption>
            <span>{day(first.date)}</span>
            <strong>
              {price(last.value)} {currency}
            </strong>
            <Change first={first.value} last={last.value} />
            <span>{day(last.date)}</span>
          </figcaption>
        </figure>
      ) : (
        <p class="quiet">{say("historyEmpty")}</p>
      )}
      {left && <p class="notice">{say("valueMissing", { symbols: left })}</p>}
    </>
  );
}

function Change({ first, last }: { readonly first: number | null; readonly last: number | null }) {
  if (first === null || last === null) return null;
  const change = last - first;
  return (
    <span data-tone={tone(change)}>
      {difference(change)} {first ? percent((change / first) * 100) : ""}
    </span>
  );
}
