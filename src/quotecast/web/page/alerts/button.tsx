import { type Instrument, same } from "../instruments.ts";
import { selected } from "../selection.ts";
import { say } from "../words.ts";
import { newAlert } from "./open.ts";

/** Opens the dialog for a new alert on an instrument. */
export function AlertButton({ instrument }: { readonly instrument: Instrument }) {
  const label = say("alertOn", { symbol: instrument.key });
  return (
    <button
      type="button"
      class="icon add-alert"
      aria-label={label}
      title={same(instrument, selected.value) ? `${label} (a)` : label}
      onClick={() => newAlert(instrument)}
    >
      {/* A bell: fonts of many machines have none. */}
      <svg viewBox="0 0 16 16" width="13" height="13" aria-hidden="true">
        <path
          d="M8 1.5a4 4 0 0 0-4 4V9l-1.5 2.5h11L12 9V5.5a4 4 0 0 0-4-4zM6.5 13a1.5 1.5 0 0 0 3 0z"
          fill="currentColor"
        />
      </svg>
    </button>
  );
}
