import { signal } from "@preact/signals";

import type { AlertShown } from "quotecast-client";
import { registerCommands } from "../commands.ts";
import { type Instrument, instrumentOf } from "../instruments.ts";
import { selected } from "../selection.ts";
import { say } from "../words.ts";

/** The subject of the dialog: a new alert on an instrument, or a change of an alert. */
export interface Draft {
  readonly instrument: Instrument;
  readonly alert: AlertShown | null;
}

/** Null while the dialog is closed. */
export const draft = signal<Draft | null>(null);

/** Opens the dialog for a new alert. */
export function newAlert(instrument: Instrument): void {
  draft.value = { instrument, alert: null };
}

/** Opens the dialog with an alert. */
export function editAlert(alert: AlertShown): void {
  draft.value = { instrument: instrumentOf(alert.type, alert.ticker), alert };
}

/** Opens the dialog for the selected symbol from the palette, and at the key `a` outside of fields and dialogs. */
export function offerAlerts(): void {
  registerCommands(() => [
    {
      id: "newAlert",
      title: () => say("alertOn", { symbol: selected.value.key }),
      run: () => newAlert(selected.value),
    },
  ]);
  addEventListener("keydown", (event) => {
    const { key, ctrlKey, altKey, metaKey, defaultPrevented, target } = event;
    if (key !== "a" || ctrlKey || altKey || metaKey || defaultPrevented) return;
    if (draft.value || (target as Element).closest("input, select, textarea, dialog[open]")) return;
    event.preventDefault();
    newAlert(selected.value);
  });
}
