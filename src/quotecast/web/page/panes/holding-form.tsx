import { useEffect, useRef, useState } from "preact/hooks";

import type { HoldingChange, HoldingShown, SearchResult } from "quotecast-client";
import { explain, rest } from "../service.ts";
import { say } from "../words.ts";
import { SymbolPicker } from "./symbol-picker.tsx";

export const CURRENCIES = ["USD", "TRY", "EUR"] as const;
export type Currency = (typeof CURRENCIES)[number];
const EARLIEST = "1900-01-01";

/** Returns the reader's date. */
const today = () => new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 10);

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
        name="cost"
        defaultValue={holding?.avg_cost}
        placeholder={say("averageCost")}
        aria-label={say("averageCost")}
      />
      <input
        name="day"
        type="date"
        min={EARLIEST}
        max={today()}
        required={holding !== undefined}
        defaultValue={holding?.bought_at}
        title={say("boughtAt")}
        aria-label={say("boughtAt")}
      />
      <select name="currency" aria-label={say("currency")} defaultValue={holding?.currency}>
        {currencies.map((each) => (
          <option key={each} selected={each === holding?.currency}>
            {each}
          </option>
        ))}
      </select>
    </>
  );
}

/** Shows why the service refused a form. */
function Refusal({ error }: { readonly error: unknown }) {
  if (error === null) return null;
  return (
    <p class="notice" role="alert">
      {explain(error)}
    </p>
  );
}

export function AddForm({ onAdded }: { readonly onAdded: () => void }) {
  const form = useRef<HTMLFormElement>(null);
  const [error, setError] = useState<unknown>(null);
  const suggest = ({ currency }: SearchResult) => {
    const { elements } = form.current as HTMLFormElement;
    if (CURRENCIES.some((each) => each === currency))
      (elements.namedItem("currency") as HTMLSelectElement).value = currency;
    (elements.namedItem("shares") as HTMLInputElement).focus();
  };
  const add = async (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(form.current as HTMLFormElement);
    const day = String(given.get("day"));
    const body = {
      ticker: String(given.get("ticker")),
      shares: Number(given.get("shares")),
      avg_cost: Number(given.get("cost")),
      currency: String(given.get("currency")),
      ...(day ? { bought_at: day } : {}),
    };
    try {
      await rest.call("POST /api/portfolio/holdings", { body });
      form.current?.reset();
      setError(null);
      onAdded();
    } catch (refusal) {
      setError(refusal);
    }
  };
  return (
    <form ref={form} class="add" aria-label={say("addHolding")} onSubmit={add}>
      <SymbolPicker onChoose={suggest} />
      <Fields currencies={CURRENCIES} />
      <button type="submit" class="main">
        {say("add")}
      </button>
      <Refusal error={error} />
    </form>
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
  const [error, setError] = useState<unknown>(null);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const body = changesOf(holding, new FormData(event.currentTarget as HTMLFormElement));
    try {
      if (Object.keys(body).length)
        await rest.call("PATCH /api/portfolio/holdings/{holding_id}", { path: { holding_id: holding.id }, body });
      onEnd(true);
    } catch (refusal) {
      setError(refusal);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    onEnd(false);
  };
  const currencies = [...new Set<string>([...CURRENCIES, holding.currency])];
  return (
    <form
      class="add edit"
      aria-label={`${say("editHolding")} ${holding.ticker}`}
      onSubmit={save}
      onKeyDown={onKeyDown}
      ref={form}
    >
      <b>{holding.ticker}</b>
      <Fields currencies={currencies} holding={holding} />
      <button type="submit" class="main">
        {say("save")}
      </button>
      <button type="button" onClick={() => onEnd(false)}>
        {say("close")}
      </button>
      <Refusal error={error} />
    </form>
  );
}

/** Returns the fields that differ: a number with more digits than JavaScript has stays as the service has it. */
function changesOf(holding: HoldingShown, given: FormData): HoldingChange {
  const all = {
    shares: Number(given.get("shares")),
    avg_cost: Number(given.get("cost")),
    bought_at: String(given.get("day")),
    currency: String(given.get("currency")),
  };
  const changed = Object.entries(all).filter(([name, value]) => holding[name as keyof HoldingShown] !== value);
  return Object.fromEntries(changed);
}
