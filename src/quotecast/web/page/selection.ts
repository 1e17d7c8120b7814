import { type Instrument, instrumentOf, isInstrument } from "./instruments.ts";
import { storedSignal } from "./stored.ts";

/** The instrument that charts and company panes show. */
export const selected = storedSignal<Instrument>("selected", instrumentOf("stock", "AAPL"), isInstrument);

export function select(instrument: Instrument): void {
  selected.value = instrument;
}
