import { percent, price } from "../formats.ts";
import { Choice, type Memory } from "../pane.tsx";
import { say, type Word } from "../words.ts";
import { ALLOCATIONS, type AllocationBy, allocate, type Lot } from "./positions.ts";

const TYPES: Record<string, Word> = { stock: "typeStock", crypto: "typeCrypto", doviz: "typeDoviz", "": "otherType" };

interface Props extends Memory {
  readonly lots: readonly Lot[];
  readonly currency: string;
}

/** The parts of the portfolio as bars; each has its name, its share and its value as text. */
export function Allocation({ lots, currency, memory, remember }: Props) {
  const by = ALLOCATIONS.find((each) => each === memory.by) ?? "bySymbol";
  const parts = allocate(lots, by);
  const longest = parts[0]?.share ?? 1;
  return (
    <div class="allocation">
      <Choice
        label={say("allocationBy")}
        options={ALLOCATIONS}
        value={by}
        text={(each) => say(each)}
        onChoose={(each) => remember({ by: each })}
      />
      {parts.length ? (
        <ul aria-label={say("allocation")}>
          {parts.map(({ name, value, share }) => (
            <li key={name}>
              <span>{labelOf(name, by)}</span>
              <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                <rect width={Math.max(0.5, (share / longest) * 100)} height="10" />
              </svg>
              <b>{percent(share * 100, 1).replace("+", "")}</b>
              <small>
                {price(value)} {currency}
              </small>
            </li>
          ))}
        </ul>
      ) : (
        <p class="quiet">{say("nothingToAllocate")}</p>
      )}
    </div>
  );
}

function labelOf(name: string, by: AllocationBy): string {
  if (by === "byType" && name in TYPES) return say(TYPES[name] as Word);
  return name || say("others");
}
