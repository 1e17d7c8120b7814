import { createContext } from "preact";
import { useContext } from "preact/hooks";

import { type Instrument, instrumentOf, isInstrument } from "./instruments.ts";
import { isRecord, isText, storedSignal } from "./stored.ts";

type Chosen = Readonly<Record<string, Instrument>>;

/** Links of panes. The panes of one link show and choose an instrument of their own. */
export const LINKS = ["1", "2", "3", "4"] as const;
export type LinkName = (typeof LINKS)[number];

/** The instrument of the panes without a link, and of the page's address and title. */
export const selected = storedSignal<Instrument>("selected", instrumentOf("stock", "AAPL"), isInstrument);

/** The instruments of links. */
const linked = storedSignal<Chosen>(
  "linked",
  {},
  (value): value is Chosen => isRecord(value) && Object.values(value).every(isInstrument),
);

/** Ticker of the stock that the reader selected last; companies are shown of stocks only. */
const company = storedSignal("company", "AAPL", isText);
selected.subscribe(({ feed, key }) => {
  if (feed === "market") company.value = key;
});

export function select(instrument: Instrument): void {
  selected.value = instrument;
}

/** The link of the pane around a component; null without one. */
export const Link = createContext<LinkName | null>(null);

/** Returns a pane's link by its memory. */
export const linkOf = (memory: Readonly<Record<string, string>> | undefined): LinkName | null =>
  LINKS.find((each) => each === memory?.link) ?? null;

/** Returns the instrument that the pane around a component shows, and a function that chooses another. */
export function useSelection(): [Instrument, (instrument: Instrument) => void] {
  const link = useContext(Link);
  if (!link) return [selected.value, select];
  const choose = (instrument: Instrument) => {
    const stock = instrument.feed === "market" ? { [stockOf(link)]: instrument } : {};
    linked.value = { ...linked.value, ...stock, [link]: instrument };
  };
  return [linked.value[link] ?? selected.value, choose];
}

/** Returns the ticker of the stock that was chosen last for the pane around a component. */
export function useStock(): string {
  const link = useContext(Link);
  return (link && linked.value[stockOf(link)]?.key) || company.value;
}

const stockOf = (link: LinkName): string => `${link} stock`;
