import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { BarsChange } from "quotecast-client";
import { compact, price } from "../formats.ts";
import { type Instrument, typeOf } from "../instruments.ts";
import { watchBars } from "../live-bars.ts";
import { useVisible } from "../pane.tsx";
import { isReplay } from "../replay-state.ts";
import { retried } from "../retried.ts";
import { connect, explain, live, rest, useAnswer } from "../service.ts";
import { shade } from "../theme.ts";
import { hours, zone } from "../time-choice.ts";
import { language, say } from "../words.ts";
import type { CandleChart } from "./candles.ts";
import type { ChartEvents, View } from "./chart/chart-options.ts";
import { parseCompared } from "./chart/compare.ts";
import { memoryKey, parseDrawings, writeDrawings } from "./chart/drawings.ts";
import { onChartKey } from "./chart/keys.ts";
import { writeRows } from "./chart/legend.ts";
import { type Mark, marksOf, reportMarks } from "./chart/marks.ts";
import { Past, type PastState } from "./chart/past.ts";
import { writePrice } from "./chart/prices.ts";
import { scaleOf } from "./chart/scale.ts";
import { askPage, later, waitAfter } from "./chart/source.ts";
import { parseSpecs } from "./chart/specs.ts";
import type { ChartState, DrawingState } from "./chart/state.ts";
import { useCompared } from "./chart/use-compared.ts";
import { at, type Candle, ChartBars, type Interval, LIVE_INTERVAL } from "./chart-bars.ts";
import { newYorkDay } from "./week.ts";

const MARKS_EVERY_MS = 3_600_000;
/** Five years: the longest range of bars, and the most that the service answers of one company. */
const REPORTS_MS = 1826 * 86_400_000;

interface Props {
  readonly bars: readonly Candle[];
  /** The smallest step of the prices; null where the service names none. */
  readonly tick: number | null;
  readonly state: ChartState;
  /** Called when bars are missing: they must be loaded again. */
  readonly onGap: () => void;
  readonly onChart: (chart: CandleChart | null) => void;
  readonly onDrawing: (drawing: DrawingState) => void;
}

/** Candles with volume, continued by the feed's live bars and by older ones from the service. */
export function Plot({ bars, tick, state, onGap, onChart, onDrawing }: Props) {
  const { instrument, interval, chart, remember } = state;
  const element = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLParagraphElement>(null);
  const rows = useRef<HTMLUListElement>(null);
  const visible = useVisible();
  const held = useMemo(() => new ChartBars(interval), []);
  const [first, setFirst] = useState(bars[0]?.time);
  const [isAway, setAway] = useState(false);
  const [past, setPast] = useState<PastState>("more");
  const older = useMemo(
    () => new Past({ ask: askPage(instrument, interval, state.session), waitAfter, later, onState: setPast }),
    [],
  );
  useEffect(() => () => older.end(), []);
  const latest = useRef({ onGap, chart, tick });
  latest.current = { onGap, chart, tick };

  useEffect(() => {
    held.load(bars);
    latest.current.chart?.replace(held.all);
    setFirst(held.all[0]?.time);
  }, [bars]);
  const name = memoryKey(typeOf(instrument), instrument.key);
  const events: ChartEvents = {
    onPoint: (bar, values) => {
      describe(legend.current, bar, latest.current.tick);
      if (rows.current) writeRows(rows.current, values);
    },
    onAway: setAway,
    onEdge: () =>
      older.load(held.all, (found) => {
        held.prepend(found);
        latest.current.chart?.replace(held.all);
        setFirst(held.all[0]?.time);
      }),
    onDrawings: (drawings) => remember({ [name]: writeDrawings(drawings) }),
    onTool: (tool, selected) => onDrawing({ tool, selected }),
  };
  useChart(element, held, state, { events, visible: visible && bars.length > 0, onChart });
  useChoices(state, useComparedOf(state, bars, first, visible), tick, name);
  const noMarks = useMarks(state, visible);
  useEffect(() => {
    const update = (bar: Candle) => latest.current.chart?.update(bar);
    return visible && !isReplay.value
      ? followBars(held, instrument, interval, update, () => latest.current.onGap())
      : undefined;
  }, [visible]);
  if (!bars.length) return <p class="quiet">{say("noHistory", { symbol: instrument.key })}</p>;
  const onKeyDown = (event: KeyboardEvent) => chart && onChartKey(event, chart, tick ?? nearStep(held.all));
  return (
    <div class="plot">
      <p class="legend" ref={legend} aria-live="off" />
      <ul class="values" ref={rows} aria-label={say("chartValues")} />
      <div
        class="canvas"
        ref={element}
        role="application"
        tabIndex={0}
        aria-label={summary(instrument.key, bars)}
        data-symbol={instrument.key}
        data-bars={held.all.length}
        data-tool={state.drawing.tool ?? undefined}
        onKeyDown={onKeyDown}
      />
      {isAway && (
        <button type="button" class="newest" onClick={() => chart?.scroll(Infinity)}>
          {say("newestBar")} →
        </button>
      )}
      <p class="past" role="status">
        {past === "more" ? noMarks : say(PAST_WORDS[past])}
      </p>
      <a class="credit" href="https://www.tradingview.com/" target="_blank" rel="noopener noreferrer">
        {say("chartsBy")}
      </a>
    </div>
  );
}

const PAST_WORDS = {
  loading: "olderLoading",
  waiting: "olderWaiting",
  start: "olderStart",
  full: "olderFull",
  failed: "olderFailed",
} as const;

/** Returns a step for the keyboard where the tick size is unknown. */
const nearStep = (bars: readonly Candle[]): number => (bars.at(-1)?.close ?? 1) / 10_000;

interface ChartWishes {
  readonly events: ChartEvents;
  readonly visible: boolean;
  readonly onChart: (chart: CandleChart | null) => void;
}

/** Draws the chart, and again in another theme or language; the view stays. */
function useChart(
  element: { readonly current: HTMLElement | null },
  held: ChartBars,
  { instrument, interval }: ChartState,
  { events, visible, onChart }: ChartWishes,
): void {
  const [shown, words] = [shade.value, `${language.value} ${hours.value} ${zone.value}`];
  const view = useRef<View | null>(null);
  const latest = useRef(events);
  latest.current = events;
  useEffect(() => {
    if (!visible) return;
    let made: CandleChart | null = null;
    let wanted = true;
    void retried(() => import("./candles.ts")).then(({ CandleChart: Made }) => {
      if (!wanted || !element.current) return;
      made = new Made(element.current, held.all, {
        interval,
        feed: instrument.feed,
        view: view.current,
        events: {
          onPoint: (bar, rows) => latest.current.onPoint(bar, rows),
          onAway: (isAway) => latest.current.onAway(isAway),
          onEdge: () => latest.current.onEdge(),
          onDrawings: (drawings) => latest.current.onDrawings(drawings),
          onTool: (tool, selected) => latest.current.onTool(tool, selected),
        },
      });
      onChart(made);
    });
    return () => {
      wanted = false;
      view.current = made?.view() ?? view.current;
      made?.remove();
      if (made) onChart(null);
    };
  }, [shown, words, visible]);
}

/** Applies the choices of the pane's memory to the chart. */
function useChoices(
  { chart, memory }: ChartState,
  compared: ReturnType<typeof useCompared>,
  tick: number | null,
  name: string,
): void {
  useEffect(() => chart?.setTick(tick), [chart, tick]);
  useEffect(
    () => chart?.setScale(compared.length ? "percent" : scaleOf(memory.scale)),
    [chart, memory.scale, compared.length > 0],
  );
  useEffect(() => void chart?.setStudies(parseSpecs(memory.indicators)), [chart, memory.indicators]);
  useEffect(() => chart?.setCompared(compared), [chart, compared]);
  useEffect(() => {
    if (chart) chart.drawings.isMagnetic = memory.magnet === "on";
  }, [chart, memory.magnet]);
  useEffect(() => chart?.drawings.set(parseDrawings(memory[name])), [chart, memory[name]]);
}

/** Draws the dividends, splits and reports of a stock, if the reader asks for them; returns why there are none. */
function useMarks({ chart, instrument, memory }: ChartState, visible: boolean): string {
  const symbol = instrument.key;
  const isOn = instrument.feed === "market" && memory.marks === "on" && !isReplay.value;
  const options = { everyMs: MARKS_EVERY_MS, active: visible && isOn };
  const askActions = () =>
    rest.call("GET /api/market/actions", {
      query: { symbols: symbol, start: "1900-01-01", end: newYorkDay(Date.now()) },
    });
  const askReports = () =>
    rest.call("GET /api/financials/earnings-calendar", {
      query: { symbol, from: newYorkDay(Date.now() - REPORTS_MS), to: newYorkDay(Date.now()) },
    });
  const actions = useAnswer(askActions, `actions ${symbol}`, options);
  const reports = useAnswer(askReports, `reports ${symbol}`, options);
  const marks = useMemo<readonly Mark[]>(
    () => (isOn ? [...marksOf(actions.data ?? []), ...reportMarks(reports.data?.earningsCalendar ?? [])] : []),
    [isOn, actions.data, reports.data, language.value],
  );
  useEffect(() => chart?.setMarks(marks), [chart, marks]);
  return isOn && actions.error && !actions.data ? explain(actions.error) : "";
}

function useComparedOf(
  { instrument, interval, memory }: ChartState,
  bars: readonly Candle[],
  first: string | undefined,
  visible: boolean,
) {
  // A replay has the bars of one instrument.
  const playing = isReplay.value;
  const others = useMemo(() => (playing ? [] : parseCompared(memory.compare, instrument)), [memory.compare, playing]);
  return useCompared(others, interval, bars, first, visible);
}

/** Returns the chart's content as text, for screen readers. */
function summary(symbol: string, bars: readonly Candle[]): string {
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last) return symbol;
  const [high, low] = [Math.max(...bars.map((each) => each.high)), Math.min(...bars.map((each) => each.low))];
  return `${symbol}: ${price(first.open)} → ${price(last.close)} (${price(low)} – ${price(high)})`;
}

function describe(element: HTMLElement | null, bar: Candle | null, tick: number | null): void {
  if (!element) return;
  const volume = bar?.volume != null ? `  V ${compact(bar.volume)}` : "";
  const write = (value: number) => writePrice(value, tick);
  element.textContent = bar
    ? `O ${write(bar.open)}  H ${write(bar.high)}  L ${write(bar.low)}  C ${write(bar.close)}${volume}`
    : "";
}

/** Continues the bars with the feed's, drawn with the next prices; the returned function ends that. */
function followBars(
  bars: ChartBars,
  instrument: Instrument,
  interval: Interval,
  update: (bar: Candle) => void,
  onGap: () => void,
): () => void {
  let changedFrom = Infinity;
  const paint = () => {
    for (const bar of bars.since(changedFrom)) update(bar);
    changedFrom = Infinity;
  };
  const take = ({ bars: taken, missing }: BarsChange) => {
    for (const each of taken) {
      const bar = bars.take(each, missing !== null);
      if (bar) changedFrom = Math.min(changedFrom, at(bar));
    }
    if (changedFrom < Infinity) live.onNextFlush(paint);
    if (bars.isIncomplete) onGap();
  };
  const { connection, close } = connect();
  watchBars(connection, instrument, LIVE_INTERVAL[interval], take, onGap);
  return close;
}
