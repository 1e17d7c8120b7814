import { useEffect, useRef } from "preact/hooks";

import type { HoldingChange, HoldingShown, SearchResult } from "quotecast-client";
import { Form } from "../form.tsx";
import { today } from "../formats.ts";
import { rest } from "../service.ts";
import { say } from "../words.ts";
import { SymbolPicker } from "./symbol-picker.tsx";

export const CURRENCIES = ["USD", "TRY", "EUR"] as const;
export type Currency = (typeof CURRENCIES)[number];
const EARLIEST = "1900-01-01";

interface FieldsProps {
  readonly currencies: readonly string[];
  readonly holding?: HoldingShown;
}

/** The fields that a new holding and its later change share. */
function Fields({ currencies, holding }: FieldsProps) {
  const amount = { required: true, type: "number", min: "0", step: "any" } as const;
  return (
    <>
      <input
        {...amount}
        name="shares"
        defaultValue={holding?.shares}
        placeholder={say("shares")}
        aria-label={say("shares")}
      />
      <input
        {...amount}
        name="avg_cost"
        defaultValue={holding?.avg_cost}
        placeholder={say("averageCost")}
        aria-label={say("averageCost")}
      />
      <input
        name="bought_at"
        type="date"
        min={EARLIEST}
        max={today()}
        required={holding !== undefined}
        defaultValue={holding?.bought_at}
        title={say("boughtAt")}
        aria-label={say("boughtAt")}
      />
      <select name="currency" aria-label={say("currency")}>
        {currencies.map((each) => (
          <option key={each} selected={each === holding?.currency}>
            {each}
          </option>
        ))}
      </select>
    </>
  );
}

export function AddForm({ onAdded }: { readonly onAdded: () => void }) {
  const form = useRef<HTMLFormElement>(null);
  const suggest = ({ currency }: SearchResult) => {
    const { elements } = form.current as HTMLFormElement;
    if (CURRENCIES.some((each) => each === currency))
      (elements.namedItem("currency") as HTMLSelectElement).value = currency;
    (elements.namedItem("shares") as HTMLInputElement).focus();
  };
  const add = async (given: FormData) => {
    const { bought_at, ...values } = valuesOf(given);
    const body = { ticker: String(given.get("ticker")), ...values, bought_at: bought_at || null };
    await rest.call("POST /api/portfolio/holdings", { body });
    onAdded();
    return "";
  };
  return (
    <Form ref={form} class="add" label={say("addHolding")} send={add} button={say("add")}>
      <SymbolPicker onChoose={suggest} />
      <Fields currencies={CURRENCIES} />
    </Form>
  );
}

interface EditProps {
  readonly holding: HoldingShown;
  /** Called after a change was saved or given up. */
  readonly onEnd: (changed: boolean) => void;
}

export function EditForm({ holding, onEnd }: EditProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const save = async (given: FormData) => {
    const body = changesOf(holding, given);
    if (Object.keys(body).length)
      await rest.call("PATCH /api/portfolio/holdings/{holding_id}", { path: { holding_id: holding.id }, body });
    onEnd(true);
  };
  const currencies = [...new Set<string>([...CURRENCIES, holding.currency])];
  return (
    <Form
      ref={form}
      class="add edit"
      label={`${say("editHolding")} ${holding.ticker}`}
      send={save}
      button={say("save")}
      onClose={() => onEnd(false)}
    >
      <b>{holding.ticker}</b>
      <Fields currencies={currencies} holding={holding} />
    </Form>
  );
}

function valuesOf(given: FormData) {
  return {
    shares: Number(given.get("shares")),
    avg_cost: Number(given.get("avg_cost")),
    bought_at: String(given.get("bought_at")),
    currency: String(given.get("currency")),
  };
}

/** Returns the fields that differ: a number with more digits than JavaScript has stays as the service has it. */
function changesOf(holding: HoldingShown, given: FormData): HoldingChange {
  const changed = Object.entries(valuesOf(given)).filter(
    ([name, value]) => holding[name as keyof HoldingShown] !== value,
  );
  return Object.fromEntries(changed);
}
