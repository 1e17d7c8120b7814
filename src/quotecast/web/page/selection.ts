import { type Instrument, instrumentOf, isInstrument } from "./instruments.ts";
import { stored } from "./stored.ts";

/** The instrument that charts and company panes show. */
export const selected = stored<Instrument>("selected", instrumentOf("stock", "AAPL"), isInstrument);

export function select(instrument: Instrument): void {
  selected.value = instrument;
}
