import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { ApiError } from "quotecast-client";
import { localTime } from "./formats.ts";
import { useModal } from "./modal.ts";
import { SPEEDS } from "./replay-bar.tsx";
import { isRecorded, rewind } from "./replay-state.ts";
import { rest, useAnswer } from "./service.ts";
import { say } from "./words.ts";

const isOpen = signal(false);
const [MINUTE_MS, FIRST_AGE_MS] = [60_000, 600_000];

export function openRewind(): void {
  isOpen.value = true;
}

/** Asks for quotes of the past: the service says whether it records any. */
function askForPast() {
  const at = new Date(Date.now() - MINUTE_MS).toISOString();
  return rest.call("GET /api/market/quotes", { query: { symbols: "AAPL", at } });
}

/** Button of the header that opens the dialog, where something is recorded. */
export function RewindButton() {
  const { data, error } = useAnswer(askForPast, "past");
  const isOff = error instanceof ApiError && error.problem.code === "history_off";
  useEffect(() => {
    isRecorded.value = data !== null || (error !== null && !isOff);
  }, [data, error]);
  if (!isRecorded.value) return null;
  return (
    <button type="button" class="icon" aria-label={say("rewind")} title={say("rewind")} onClick={openRewind}>
      ↺
    </button>
  );
}

/** Asks for the moment from which the workspace plays. */
export function RewindDialog() {
  const close = () => {
    isOpen.value = false;
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    rewind.value = {
      at: new Date(String(given.get("at"))).toISOString(),
      speed: Number(given.get("speed")),
      isPaused: false,
    };
    close();
  };
  return (
    <dialog {...useModal(isOpen)} aria-label={say("rewind")}>
      {isOpen.value && (
        <form onSubmit={submit}>
          <label>
            {say("playFrom")}
            <input
              name="at"
              type="datetime-local"
              step="1"
              required
              max={localTime(Date.now())}
              defaultValue={localTime(Date.now() - FIRST_AGE_MS)}
            />
          </label>
          <label>
            {say("speed")}
            <select name="speed">
              {SPEEDS.map((speed) => (
                <option key={speed} value={speed}>
                  {speed}×
                </option>
              ))}
            </select>
          </label>
          <div class="row">
            <button type="button" onClick={close}>
              {say("close")}
            </button>
            <button class="main" type="submit">
              {say("play")}
            </button>
          </div>
        </form>
      )}
    </dialog>
  );
}
