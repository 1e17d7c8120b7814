import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";

import * as words from "../../words/chart-panels.ts";
import { addWords, say } from "../../words.ts";
import { ComparePanel } from "./compare-panel.tsx";
import { DrawPanel } from "./draw-panel.tsx";
import { IndicatorsPanel } from "./indicators-panel.tsx";
import { ScalePanel } from "./scale-panel.tsx";
import type { ChartState, PanelName } from "./state.ts";

addWords(words);

const CONTENTS: Record<PanelName, ComponentType<{ state: ChartState; onClose: () => void }>> = {
  indicators: IndicatorsPanel,
  compare: ComparePanel,
  scale: ScalePanel,
  draw: DrawPanel,
};

interface Props {
  readonly name: PanelName;
  readonly state: ChartState;
  readonly onClose: () => void;
}

/** The panel of one toolbar button, over the chart; Escape closes it. */
export function Panel({ name, state, onClose }: Props) {
  const element = useRef<HTMLElement>(null);
  const Content = CONTENTS[name];
  useEffect(() => {
    const first = "select:enabled, input:enabled, button:enabled";
    const controls = [...(element.current?.querySelectorAll<HTMLElement>(first) ?? [])];
    (controls.find((each) => !each.closest("header")) ?? controls[0])?.focus();
  }, [name]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  return (
    <section class="panel" ref={element} aria-label={say(name)} onKeyDown={onKeyDown}>
      <header>
        <h4>{say(name)}</h4>
        <button type="button" class="icon" aria-label={say("closePanel")} onClick={onClose}>
          ×
        </button>
      </header>
      <Content state={state} onClose={onClose} />
    </section>
  );
}
