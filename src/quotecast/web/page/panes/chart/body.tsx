import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import type { Page } from "quotecast-client";
import type { Instrument } from "../../instruments.ts";
import { lazy } from "../../lazy.tsx";
import { AnswerView, type Memory } from "../../pane.tsx";
import { isReplay } from "../../replay-state.ts";
import { retried } from "../../retried.ts";
import type { Answer } from "../../service.ts";
import { say } from "../../words.ts";
import type { CandleChart } from "../candles.ts";
import type { Candle, Interval } from "../chart-bars.ts";
import { Icon } from "./icons.tsx";
import { usePlayed } from "./played.ts";
import type { Session } from "./session.ts";
import { type ChartState, type DrawingState, PANELS, type PanelName } from "./state.ts";
import { Toolbar } from "./toolbar.tsx";

interface Props extends Memory {
  readonly instrument: Instrument;
  readonly interval: Interval;
  readonly answer: Answer<Page<readonly Candle[]>>;
  readonly onGap: () => void;
  readonly session?: Session;
  /** Counts the wishes to see all bars up to the newest. */
  readonly wishes?: number;
  /** Changes when bars of another source replace all bars. */
  readonly source?: number;
  /** The controls of range and interval. */
  readonly children: ComponentChildren;
}

/** Half of all code is the chart library: the first paint does not wait for it. */
const Plot = lazy(async () => {
  const library = retried(() => import("../candles.ts"));
  const { Plot: Loaded } = await retried(() => import("../plot.tsx"));
  void library;
  return Loaded;
});
const Panel = lazy(async () => (await import("./panels.tsx")).Panel);

/** A chart with its toolbar and the panel that is open. */
export function ChartBody({
  instrument,
  interval,
  answer,
  onGap,
  source = 0,
  wishes = 0,
  session,
  children,
  ...own
}: Props) {
  const [chart, setChart] = useState<CandleChart | null>(null);
  const [open, setOpen] = useState<PanelName | null>(null);
  const [drawing, setDrawing] = useState<DrawingState>({ tool: null, selected: null });
  const played = usePlayed(answer, interval);
  const stage = useRef<HTMLDivElement>(null);
  const answered = answer.data?.session ?? null;
  const state: ChartState = { ...own, instrument, interval, session, answered, chart, drawing };
  useEffect(() => setDrawing({ tool: null, selected: null }), [chart]);
  useEffect(() => {
    if (wishes) chart?.showAll();
  }, [wishes]);
  const close = () => {
    setOpen(null);
    stage.current?.parentElement?.querySelector<HTMLElement>(`[data-panel=${open}]`)?.focus();
  };
  return (
    <>
      <Toolbar label={say("chartTools")}>
        {children}
        {PANELS.map((name) => (
          <button
            key={name}
            type="button"
            class="tool"
            data-panel={name}
            aria-expanded={open === name}
            title={say(name)}
            onClick={() => setOpen(open === name ? null : name)}
          >
            <Icon name={name} /> <span class="name">{say(name)}</span>
          </button>
        ))}
        <Actions state={state} stage={stage} />
      </Toolbar>
      <div class="stage" ref={stage}>
        {open && <Panel name={open} state={state} onClose={close} />}
        <AnswerView answer={played}>
          {({ data: bars, tick }) => (
            <Plot
              key={`${instrument.feed} ${instrument.key} ${interval} ${source} ${session} ${isReplay.value}`}
              bars={bars}
              tick={tick}
              state={state}
              onGap={onGap}
              onChart={setChart}
              onDrawing={setDrawing}
            />
          )}
        </AnswerView>
      </div>
    </>
  );
}

function Actions({
  state,
  stage,
}: {
  readonly state: ChartState;
  readonly stage: { readonly current: HTMLElement | null };
}) {
  const save = async () => (await import("./save-picture.ts")).savePicture(state);
  const toggle = () => {
    if (document.fullscreenElement) void document.exitFullscreen();
    else void stage.current?.parentElement?.requestFullscreen();
  };
  return (
    <>
      <button
        type="button"
        class="tool"
        disabled={!state.chart}
        title={say("savePicture")}
        aria-label={say("savePicture")}
        onClick={() => void save()}
      >
        <Icon name="picture" />
      </button>
      {document.fullscreenEnabled && (
        <button type="button" class="tool" title={say("fullScreen")} aria-label={say("fullScreen")} onClick={toggle}>
          <Icon name="full" />
        </button>
      )}
    </>
  );
}
