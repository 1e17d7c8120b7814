import { useState } from "preact/hooks";

import { say } from "../../words.ts";
import { SCALES, scaleOf } from "./scale.ts";
import { canExtend } from "./session.ts";
import type { ChartState } from "./state.ts";

/** Chooses how prices lie on the axis. */
export function ScalePanel({ state }: { readonly state: ChartState }) {
  const { memory, remember, chart } = state;
  const [isAuto, setAuto] = useState(chart?.isAutoScaled ?? true);
  const scale = memory.compare ? "percent" : scaleOf(memory.scale);
  return (
    <>
      <div class="choice" role="group" aria-label={say("scale")}>
        {SCALES.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === scale}
            disabled={Boolean(memory.compare)}
            onClick={() => remember({ scale: each })}
          >
            {say(each)}
          </button>
        ))}
      </div>
      <label>
        <input
          type="checkbox"
          checked={isAuto}
          onChange={(event) => {
            setAuto(event.currentTarget.checked);
            chart?.setAutoScale(event.currentTarget.checked);
          }}
        />
        {say("autoScale")}
      </label>
      {state.instrument.feed === "market" && <Hours state={state} />}
      {memory.compare && <p>{say("percentWhileComparing")}</p>}
    </>
  );
}

/** Adds the hours before and after the sessions, where the service has them. */
function Hours({ state: { memory, remember, interval, session, answered } }: { readonly state: ChartState }) {
  const isShort = canExtend(interval);
  return (
    <>
      <label>
        <input
          type="checkbox"
          checked={memory.session === "extended"}
          onChange={(event) => remember({ session: event.currentTarget.checked ? "extended" : "" })}
        />
        {say("extendedHours")}
      </label>
      {memory.session === "extended" && !isShort && <p>{say("extendedShort")}</p>}
      {session && answered === "regular" && <p role="status">{say("extendedMissing")}</p>}
    </>
  );
}
