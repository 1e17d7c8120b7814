import { useEffect, useState } from "preact/hooks";

import { dateAndClock } from "./formats.ts";
import { type Rewind, replayEnd, replayedMoment, rewind } from "./replay-state.ts";
import { say } from "./words.ts";

const EVERY_MS = 500;
export const SPEEDS = [1, 10, 60] as const;
const STEP_MS = 60_000;

/** The time of the replay, its controls, and the way back to the present. */
export function ReplayBar({ start }: { readonly start: Rewind }) {
  const [, setNow] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const end = replayEnd.value;
  const go = (change: Partial<Rewind>, step = 0) => {
    rewind.value = { ...start, at: new Date(replayedMoment() + step).toISOString(), ...change };
  };
  const pause = say(start.isPaused ? "play" : "pause");
  return (
    <div class="replayed" role="group" aria-label={say("rewind")}>
      <span role="status">
        {end === null ? say("replayed") : end === "" ? say("replayEnded") : `${say("replayStopped")} ${end}`}
      </span>
      <time>{dateAndClock(replayedMoment())}</time>
      <button type="button" aria-label={pause} title={pause} onClick={() => go({ isPaused: !start.isPaused })}>
        {start.isPaused ? "▶" : "‖"}
      </button>
      <button
        type="button"
        aria-label={say("stepMinute")}
        title={say("stepMinute")}
        onClick={() => go({ isPaused: true }, STEP_MS)}
      >
        »
      </button>
      <select
        aria-label={say("speed")}
        value={start.speed}
        onChange={(event) => go({ speed: Number(event.currentTarget.value) })}
      >
        {SPEEDS.map((speed) => (
          <option key={speed} value={speed}>
            {speed}×
          </option>
        ))}
      </select>
      <button
        type="button"
        onClick={() => {
          rewind.value = null;
        }}
      >
        {say("backToLive")}
      </button>
    </div>
  );
}
