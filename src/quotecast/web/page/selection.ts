import { signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

import { type Instrument, instrumentOf, isInstrument } from "./instruments.ts";
import { popOut } from "./pop-out.ts";
import { isRecord, isText, sharedSignal, storedSignal } from "./stored.ts";

type Chosen = Readonly<Record<string, Instrument>>;

/** Links of panes. The panes of one link show and choose an instrument of their own. */
export const LINKS = ["1", "2", "3", "4"] as const;
export type LinkName = (typeof LINKS)[number];

const FIRST = instrumentOf("stock", "AAPL");

/** A pop-out follows the other windows; windows of the whole page choose for themselves. */
const ownSignal = popOut ? sharedSignal : storedSignal;

/** The instrument of the panes without a link, and of the page's address and title. */
export const selected = ownSignal<Instrument>("selected", FIRST, isInstrument);

/** The instruments of links. */
const linked = ownSignal<Chosen>(
  "linked",
  {},
  (value): value is Chosen => isRecord(value) && Object.values(value).every(isInstrument),
);

/** Ticker of the stock that the reader selected last; companies are shown of stocks only. */
const company = storedSignal("company", "AAPL", isText);
selected.subscribe(({ feed, key }) => {
  if (feed === "market") company.value = key;
});

/** Stores what this window shows: a pop-out begins with it, though another window may have stored since. */
export function storeChoices(): void {
  selected.value = { ...selected.value };
  linked.value = { ...linked.value };
}

function show({ feed, key }: Instrument, link: LinkName | null): void {
  const instrument = { feed, key };
  const stock = feed === "market" && link ? { [stockOf(link)]: instrument } : {};
  if (link) linked.value = { ...linked.value, ...stock, [link]: instrument };
  else selected.value = instrument;
}

/** A choice in a pop-out; its time tells it from the same choice before. */
type Choice = Instrument & { readonly link?: unknown; readonly at?: number };

/** The last choice in a pop-out, which all windows follow. */
const popOutChoice = sharedSignal<Choice>("popOutChoice", FIRST, isInstrument);
const earlier = popOutChoice.value;
popOutChoice.subscribe((next) => {
  if (next !== earlier) show(next, LINKS.find((each) => each === next.link) ?? null);
});

/** The link of the last choice in this window. */
export const lastChoice = signal<{ readonly link: LinkName | null }>({ link: null });

function choose({ feed, key }: Instrument, link: LinkName | null): void {
  lastChoice.value = { link };
  if (popOut) popOutChoice.value = { feed, key, link, at: Date.now() };
  else show({ feed, key }, link);
}

/** Shows an instrument in the panes without a link. */
export const select = (instrument: Instrument): void => choose(instrument, null);

/** The link of the pane around a component; null without one. */
export const Link = createContext<LinkName | null>(null);

/** Returns a pane's link by its memory. */
export const linkOf = (memory: Readonly<Record<string, string>> | undefined): LinkName | null =>
  LINKS.find((each) => each === memory?.link) ?? null;

/** Returns a function that chooses an instrument for the pane around a component and the panes of its link. */
export function useSelect(): (instrument: Instrument) => void {
  const link = useContext(Link);
  return (instrument) => choose(instrument, link);
}

/** Returns the instrument that the pane around a component shows, and a function that chooses another. */
export function useSelection(): [Instrument, (instrument: Instrument) => void] {
  const link = useContext(Link);
  return [(link && linked.value[link]) ?? selected.value, useSelect()];
}

/** Returns the ticker of the stock that was chosen last for the pane around a component. */
export function useStock(): string {
  const link = useContext(Link);
  return (link && linked.value[stockOf(link)]?.key) || company.value;
}

const stockOf = (link: LinkName): string => `${link} stock`;
