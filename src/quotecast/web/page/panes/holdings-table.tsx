import { useLayoutEffect, useRef, useState } from "preact/hooks";

import type { HoldingShown } from "quotecast-client";
import { difference, percent, price, quantity, tone } from "../formats.ts";
import { type Instrument, instrumentOf } from "../instruments.ts";
import { useSelect } from "../selection.ts";
import { say } from "../words.ts";
import { EditForm } from "./holding-form.tsx";
import type { Lot, Position } from "./positions.ts";

/** Classes of the columns that a narrow pane hides. */
const LESS: Record<string, string> = { averageCost: "cost", price: "price" };
const TITLES = ["symbol", "shares", "averageCost", "price", "value", "gain"] as const;

interface Props {
  readonly positions: readonly Position[];
  readonly onRemove: (holding: HoldingShown) => void;
  readonly onChange: () => void;
}

/** The positions; those of several purchases open to show each. One stop of the Tab key: the arrows move inside. */
export function HoldingsTable({ positions, onRemove, onChange }: Props) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [edited, setEdited] = useState<string | null>(null);
  useLayoutEffect(() => keepStop(body.current as HTMLElement));
  const toggle = (ticker: string) => {
    const next = new Set(open);
    if (!next.delete(ticker)) next.add(ticker);
    setOpen(next);
  };
  const end = (changed: boolean) => {
    setEdited(null);
    (body.current?.querySelector("button[tabindex='0']") as HTMLElement | null)?.focus();
    if (changed) onChange();
  };
  const lotRow = (lot: Lot, inside: boolean) =>
    lot.holding.id === edited ? (
      <tr key={lot.holding.id} class="editing">
        <td colSpan={TITLES.length + 1}>
          <EditForm holding={lot.holding} onEnd={end} />
        </td>
      </tr>
    ) : (
      <LotRow key={lot.holding.id} lot={lot} inside={inside} onEdit={setEdited} onRemove={onRemove} />
    );
  return (
    <table>
      <thead>
        <tr>
          {TITLES.map((word) => (
            <th key={word} class={LESS[word]} scope="col">
              {say(word)}
            </th>
          ))}
          <th class="action">
            <span class="unseen">{say("menu")}</span>
          </th>
        </tr>
      </thead>
      <tbody ref={body} onKeyDown={moveInGrid} onFocusIn={takeStop}>
        {positions.map((position) =>
          position.lots.length === 1
            ? lotRow(position.lots[0] as Lot, false)
            : [
                <GroupRow
                  key={position.ticker}
                  position={position}
                  isOpen={open.has(position.ticker)}
                  onToggle={toggle}
                />,
                ...(open.has(position.ticker) ? position.lots.map((lot) => lotRow(lot, true)) : []),
              ],
        )}
      </tbody>
    </table>
  );
}

const rowInstrument = ({ type, ticker }: HoldingShown): Instrument | null => (type ? instrumentOf(type, ticker) : null);

interface GroupProps {
  readonly position: Position;
  readonly isOpen: boolean;
  readonly onToggle: (ticker: string) => void;
}

function GroupRow({ position, isOpen, onToggle }: GroupProps) {
  const { ticker, lots, shares, currency, averageCost, worth } = position;
  const row = rowInstrument((lots[0] as Lot).holding);
  const select = useSelect();
  const toggle = (event: Event) => {
    event.stopPropagation();
    onToggle(ticker);
  };
  return (
    <tr class="group" onClick={row ? () => select(row) : undefined}>
      <th scope="row">
        <Name row={row} ticker={ticker} />
        <button
          type="button"
          class="icon"
          tabIndex={-1}
          aria-expanded={isOpen}
          aria-label={say("lots", { symbol: ticker, count: lots.length })}
          onClick={toggle}
        >
          {isOpen ? "▾" : "▸"} {lots.length}
        </button>
      </th>
      <td>{quantity(shares)}</td>
      <td class={LESS.averageCost}>{price(averageCost)}</td>
      <td class={LESS.price}>{price(worth.price)}</td>
      <td>
        {price(worth.value)} <small>{currency ?? say("otherCurrency")}</small>
      </td>
      <Gain gain={worth.gain} gainPercent={worth.gainPercent} />
      <td class="action" />
    </tr>
  );
}

interface LotProps {
  readonly lot: Lot;
  /** Whether the row is one of a group. */
  readonly inside: boolean;
  readonly onEdit: (id: string) => void;
  readonly onRemove: (holding: HoldingShown) => void;
}

function LotRow({ lot: { holding, worth }, inside, onEdit, onRemove }: LotProps) {
  const row = rowInstrument(holding);
  const { ticker } = holding;
  const select = useSelect();
  const act = (action: () => void) => (event: Event) => {
    event.stopPropagation();
    action();
  };
  return (
    <tr class={inside ? "lot" : undefined} onClick={row ? () => select(row) : undefined}>
      <th scope="row">
        {inside ? <span class="bought">{holding.bought_at}</span> : <Name row={row} ticker={ticker} />}
      </th>
      <td>{quantity(holding.shares)}</td>
      <td class={LESS.averageCost}>{price(holding.avg_cost)}</td>
      <td class={LESS.price}>{price(worth.price)}</td>
      <td>
        {price(worth.value)} <small>{holding.currency}</small>
      </td>
      <Gain gain={worth.gain} gainPercent={worth.gainPercent} />
      <td class="action">
        <button
          type="button"
          class="icon"
          tabIndex={-1}
          aria-label={say("edit", { symbol: ticker })}
          title={say("edit", { symbol: ticker })}
          onClick={act(() => onEdit(holding.id))}
        >
          ✎
        </button>
        <button
          type="button"
          class="icon"
          tabIndex={-1}
          aria-label={say("remove", { symbol: ticker })}
          onClick={act(() => onRemove(holding))}
        >
          ×
        </button>
      </td>
    </tr>
  );
}

function Name({ row, ticker }: { readonly row: Instrument | null; readonly ticker: string }) {
  if (!row) return <abbr title={say("unknownSymbol")}>{ticker} ?</abbr>;
  return (
    <button type="button" class="symbol" tabIndex={-1}>
      {ticker}
    </button>
  );
}

function Gain({ gain, gainPercent }: { readonly gain: number | null; readonly gainPercent: number | null }) {
  return (
    <td data-tone={tone(gain)}>
      {difference(gain)} <small>{percent(gainPercent)}</small>
    </td>
  );
}

const buttonsOf = (row: Element): HTMLElement[] => [...row.querySelectorAll<HTMLElement>("button")];

/** Moves the focus with arrows, Home and End: up and down among the rows, left and right inside one. */
function moveInGrid(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const row = target.closest("tr");
  if (target.tagName !== "BUTTON" || !row || row.classList.contains("editing")) return;
  const rows = [...(event.currentTarget as Element).querySelectorAll("tr")].filter((each) => buttonsOf(each).length);
  const [here, column] = [rows.indexOf(row), buttonsOf(row).indexOf(target)];
  const to = (place: number) => {
    const buttons = buttonsOf(rows[Math.min(rows.length - 1, Math.max(0, place))] as Element);
    return buttons[Math.min(column, buttons.length - 1)];
  };
  const places: Record<string, () => HTMLElement | undefined> = {
    ArrowDown: () => to(here + 1),
    ArrowUp: () => to(here - 1),
    ArrowRight: () => buttonsOf(row)[column + 1],
    ArrowLeft: () => buttonsOf(row)[column - 1],
    Home: () => to(0),
    End: () => to(rows.length - 1),
  };
  const next = places[event.key]?.();
  if (!next || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  next.focus();
}

/** Makes the focused button the table's stop of the Tab key. */
function takeStop(event: FocusEvent): void {
  const target = event.target as HTMLElement;
  if (target.tagName !== "BUTTON" || target.closest(".editing")) return;
  for (const each of buttonsOf(event.currentTarget as Element)) if (!each.closest(".editing")) each.tabIndex = -1;
  target.tabIndex = 0;
}

/** Gives the table a stop of the Tab key, where the last one has gone with its row. */
function keepStop(body: HTMLElement): void {
  const buttons = buttonsOf(body).filter((each) => !each.closest(".editing"));
  const first = buttons[0];
  if (first && !buttons.some((each) => each.tabIndex === 0)) first.tabIndex = 0;
}
