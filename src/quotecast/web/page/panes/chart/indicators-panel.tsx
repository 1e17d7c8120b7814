import { useRef, useState } from "preact/hooks";

import { isReplay } from "../../replay-state.ts";
import { say } from "../../words.ts";
import { isDaily } from "../chart-bars.ts";
import { freeSlot } from "./slots.ts";
import {
  clampNumber,
  FIELDS,
  type Field,
  KINDS,
  type Kind,
  labelOf,
  MOST_SPECS,
  nameOf,
  parseSpecs,
  type Spec,
  usual,
  writeSpecs,
} from "./specs.ts";
import type { ChartState } from "./state.ts";

/** Adds, changes and removes indicators. */
export function IndicatorsPanel({ state: { memory, remember, instrument, interval } }: { readonly state: ChartState }) {
  const specs = parseSpecs(memory.indicators);
  // Two changes may come before the next render: the second one must keep the first.
  const latest = useRef(specs);
  latest.current = specs;
  const change = (next: (specs: readonly Spec[]) => Spec[]) => {
    latest.current = next(latest.current);
    remember({ indicators: writeSpecs(latest.current) });
  };
  const isFull = specs.length >= MOST_SPECS;
  const hasVwap = instrument.feed !== "doviz" && !isDaily(interval);
  return (
    <>
      <ul class="rows">
        {specs.map((spec) => (
          <Row
            key={`${spec.slot} ${spec.kind}`}
            spec={spec}
            onChange={(next) => change((all) => all.map((each) => (each.slot === spec.slot ? next : each)))}
            onRemove={() => change((all) => all.filter(({ slot }) => slot !== spec.slot))}
          />
        ))}
      </ul>
      <div class="adding" role="group" aria-label={say("addIndicator")}>
        {KINDS.map((kind) => (
          <button
            key={kind}
            type="button"
            disabled={isFull || (kind === "vwap" && !hasVwap)}
            onClick={() => change((all) => [...all, usual(kind, freeSlot(all))])}
          >
            + {nameOf(kind)}
          </button>
        ))}
      </div>
      {instrument.feed === "market" && (
        <label>
          <input
            type="checkbox"
            checked={memory.marks === "on"}
            disabled={isReplay.value}
            onChange={(event) => remember({ marks: event.currentTarget.checked ? "on" : "" })}
          />
          {say("showActions")}
        </label>
      )}
      {isFull && <p role="status">{say("indicatorsFull", { most: MOST_SPECS })}</p>}
      {!hasVwap && <p>{say("vwapNeeds")}</p>}
    </>
  );
}

interface RowProps {
  readonly spec: Spec;
  readonly onChange: (spec: Spec) => void;
  readonly onRemove: () => void;
}

function Row({ spec, onChange, onRemove }: RowProps) {
  const { kind, numbers } = spec;
  const change = (index: number, value: number) =>
    onChange({ ...spec, numbers: numbers.map((each, at) => (at === index ? value : each)) });
  return (
    <li>
      <b>{nameOf(kind)}</b>
      <span class="fields">
        {FIELDS[kind].map((field, index) => (
          <NumberField
            key={field.name}
            kind={kind}
            field={field}
            value={numbers[index] ?? field.usual}
            onChange={(value) => change(index, value)}
          />
        ))}
      </span>
      <button type="button" class="icon" aria-label={say("remove", { symbol: labelOf(spec) })} onClick={onRemove}>
        ×
      </button>
    </li>
  );
}

interface NumberProps {
  readonly kind: Kind;
  readonly field: Field;
  readonly value: number;
  readonly onChange: (value: number) => void;
}

function NumberField({ kind, field, value, onChange }: NumberProps) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <label>
      {say(field.name)}
      <input
        type="number"
        aria-label={`${nameOf(kind)}: ${say(field.name)}`}
        min={field.least}
        max={field.most}
        step={field.step}
        value={typed ?? value}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={(event) => {
          setTyped(null);
          onChange(clampNumber(field, event.currentTarget.valueAsNumber));
        }}
      />
    </label>
  );
}
