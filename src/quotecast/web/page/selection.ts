import { type Instrument, instrumentOf, isInstrument } from "./instruments.ts";
import { stored } from "./stored.ts";

/** What charts and company panes show. */
export const selected = stored<Instrument>("selected", instrumentOf("stock", "AAPL"), isInstrument);
