import { useLayoutEffect, useMemo, useRef } from "preact/hooks";

import type { EarningsCalendar, EarningsEvent } from "quotecast-client";
import { compact, dayOnly, plain } from "../formats.ts";
import { instrumentOf, same } from "../instruments.ts";
import { AnswerView, Choice, type Memory, Tools, useVisible } from "../pane.tsx";
import { useSelection } from "../selection.ts";
import { rest, useAnswer } from "../service.ts";
import { requireTabStop, walkItems } from "../tab-stop.ts";
import { lists } from "../watchlists.ts";
import { say, type Word } from "../words.ts";
import { byDay, newYorkDay, weekOf } from "./week.ts";

const EVERY_MS = 3_600_000;
const WEEKS = ["thisWeek", "laterWeek"] as const;
const WHOSE = ["reports", "onlyMine"] as const;
const HOURS: Record<string, Word> = { bmo: "beforeOpen", dmh: "duringHours", amc: "afterClose" };

/** Reports of companies by day, with what analysts expect. */
export function Earnings({ memory, remember }: Memory) {
  const week = WEEKS.find((each) => each === memory.week) ?? "thisWeek";
  const whose = WHOSE.find((each) => each === memory.whose) ?? "reports";
  const span = weekOf(newYorkDay(Date.now()), WEEKS.indexOf(week));
  const ask = () => rest.call("GET /api/financials/earnings-calendar", { query: span });
  const answer = useAnswer(ask, span.from, { everyMs: EVERY_MS, active: useVisible() });
  return (
    <>
      <Tools>
        <Choice
          label={say("daysFrom")}
          options={WEEKS}
          value={week}
          text={(each) => say(each)}
          onChoose={(each) => remember({ week: each })}
        />
        <Choice
          label={say("reports")}
          options={WHOSE}
          value={whose}
          text={(each) => (each === "reports" ? say("allNews") : say(each))}
          onChoose={(each) => remember({ whose: each })}
        />
      </Tools>
      <AnswerView answer={answer}>
        {(calendar) => <Days calendar={calendar} isMine={whose === "onlyMine"} />}
      </AnswerView>
    </>
  );
}

interface DaysProps {
  readonly calendar: EarningsCalendar;
  /** Whether only watched symbols are shown. */
  readonly isMine: boolean;
}

function Days({ calendar, isMine }: DaysProps) {
  const element = useRef<HTMLDivElement>(null);
  const watched = useMemo(
    () => new Set(lists.value.flatMap((list) => list.symbols ?? []).map(({ feed, key }) => `${feed} ${key}`)),
    [lists.value],
  );
  const reports = calendar.earningsCalendar;
  const days = useMemo(
    () => byDay(isMine ? reports.filter((each) => watched.has(`market ${each.symbol}`)) : reports),
    [reports, isMine, watched],
  );
  useLayoutEffect(() => requireTabStop(element.current));
  const { coveredFrom: from, coveredTo: to } = calendar;
  return (
    <div
      class="earnings"
      ref={element}
      role="region"
      aria-label={say("earnings")}
      tabIndex={days.length ? undefined : 0}
      onKeyDown={(event) => walkItems(event, "tbody tr")}
    >
      {!days.length && <p class="quiet">{say("emptyEarnings")}</p>}
      {days.map(([day, each]) => (
        <Day key={day} day={day} reports={each} watched={watched} />
      ))}
      {from && to && <p class="quiet">{say("covered", { from: dayOnly(from), to: dayOnly(to) })}</p>}
    </div>
  );
}

interface DayProps {
  readonly day: string;
  readonly reports: readonly EarningsEvent[];
  readonly watched: ReadonlySet<string>;
}

function Day({ day, reports, watched }: DayProps) {
  return (
    <table aria-label={dayOnly(day)}>
      <thead>
        <tr>
          <th scope="col">{dayOnly(day)}</th>
          <th scope="col" />
          <th scope="col">{say("epsOf")}</th>
          <th scope="col">{say("revenueOf")}</th>
        </tr>
      </thead>
      <tbody>
        {reports.map((report) => (
          <Report key={report.symbol} report={report} isWatched={watched.has(`market ${report.symbol}`)} />
        ))}
      </tbody>
    </table>
  );
}

function Report({ report, isWatched }: { readonly report: EarningsEvent; readonly isWatched: boolean }) {
  const { symbol, hour } = report;
  const [chosen, select] = useSelection();
  const stock = instrumentOf("stock", symbol);
  const word = HOURS[hour];
  return (
    <tr aria-current={same(chosen, stock) || undefined} onClick={() => select(stock)}>
      <th scope="row">
        <button type="button" class="symbol" tabIndex={-1}>
          {symbol}
        </button>
        {isWatched && <Mark sign="★" word="watchedMark" />}
        {report.abroad && <Mark sign="¤" word="abroadMark" />}
      </th>
      <td class="hour">{word ? say(word) : ""}</td>
      <Figure actual={report.epsActual} estimate={report.epsEstimate} text={plain} />
      <Figure actual={report.revenueActual} estimate={report.revenueEstimate} text={compact} />
    </tr>
  );
}

function Mark({ sign, word }: { readonly sign: string; readonly word: Word }) {
  return (
    <span class="mark" title={say(word)}>
      {sign}
      <span class="unseen"> {say(word)}</span>
    </span>
  );
}

interface FigureProps {
  readonly actual: number | null;
  readonly estimate: number | null;
  readonly text: (value: number | null) => string;
}

/** A reported figure with the estimate beside it, or the estimate alone. */
function Figure({ actual, estimate, text }: FigureProps) {
  if (actual === null) return <td title={say("epsEstimate")}>{text(estimate)}</td>;
  const better = estimate === null ? 0 : Math.sign(actual - estimate);
  return (
    <td
      title={`${say("epsActual")} / ${say("epsEstimate")}`}
      data-tone={better > 0 ? "rise" : better < 0 ? "fall" : undefined}
    >
      {better > 0 ? "▲ " : better < 0 ? "▼ " : ""}
      {text(actual)} / {text(estimate)}
    </td>
  );
}
