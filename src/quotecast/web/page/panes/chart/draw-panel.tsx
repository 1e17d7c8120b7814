import { useRef, useState } from "preact/hooks";

import { typeOf } from "../../instruments.ts";
import { say } from "../../words.ts";
import {
  cleanNote,
  countDrawings,
  type Drawing,
  KINDS,
  type Kind,
  MOST_DRAWINGS,
  memoryKey,
  NOTE_LENGTH,
  parseDrawings,
  parsePrice,
} from "./drawings.ts";
import { writePrice } from "./prices.ts";
import type { ChartState } from "./state.ts";

/** The kinds that need nothing but points. */
const TOOLS = (Object.keys(KINDS) as Kind[]).filter((each) => each !== "note");

/** Draws with the pointer or by a typed price, and lists the drawings of the symbol. */
export function DrawPanel({ state, onClose }: { readonly state: ChartState; readonly onClose: () => void }) {
  const { memory, remember, chart, instrument, drawing } = state;
  const [price, setPrice] = useState("");
  const [note, setNote] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const drawings = parseDrawings(memory[memoryKey(typeOf(instrument), instrument.key)]);
  const isFull = countDrawings(memory) >= MOST_DRAWINGS;
  const [isWrong, setWrong] = useState(false);
  const addLevel = () => {
    const typed = parsePrice(price);
    setWrong(typed === null);
    if (typed === null) return;
    chart?.drawings.add({ kind: "level", points: [{ time: 0, price: typed }] });
    setPrice("");
  };
  const use = (kind: Kind, event: MouseEvent, text?: string) => {
    // A click of the keyboard has no place: the drawing begins in the middle, and arrows move it.
    if (event.detail === 0) chart?.drawings.addInView(kind, text);
    else chart?.drawings.use(drawing.tool === kind && text === undefined ? null : kind, text);
    if (event.detail > 0) onClose();
    setNote("");
  };
  return (
    <>
      <div class="choice" role="group" aria-label={say("draw")}>
        {TOOLS.map((tool) => (
          <button
            key={tool}
            type="button"
            aria-pressed={drawing.tool === tool}
            disabled={isFull || !chart}
            onClick={(event) => use(tool, event)}
          >
            {say(tool)}
          </button>
        ))}
      </div>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          addLevel();
        }}
      >
        <input
          inputMode="decimal"
          aria-invalid={isWrong}
          aria-label={say("levelAt")}
          placeholder={say("levelAt")}
          value={price}
          disabled={isFull || !chart}
          onInput={(event) => setPrice(event.currentTarget.value)}
        />
        <button type="submit" disabled={isFull || !chart}>
          {say("add")}
        </button>
      </form>
      <form onSubmit={(event) => event.preventDefault()}>
        <input
          ref={field}
          aria-label={say("noteText")}
          placeholder={say("noteText")}
          maxLength={NOTE_LENGTH}
          value={note}
          disabled={isFull || !chart}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
        <button
          type="submit"
          disabled={isFull || !chart || !cleanNote(note)}
          onClick={(event) => {
            use("note", event, cleanNote(note));
            // The button is disabled without a text, and would lose the focus.
            field.current?.focus();
          }}
        >
          {say("note")}
        </button>
      </form>
      <label>
        <input
          type="checkbox"
          checked={memory.magnet === "on"}
          onChange={(event) => remember({ magnet: event.currentTarget.checked ? "on" : "" })}
        />
        {say("magnet")}
      </label>
      {isWrong && <p role="alert">{say("notAPrice")}</p>}
      {isFull && <p role="status">{say("drawingsFull", { most: MOST_DRAWINGS })}</p>}
      <ul class="rows">
        {drawings.map((each, index) => (
          <Row key={`${index} ${each.kind}`} each={each} index={index} state={state} />
        ))}
      </ul>
      <p>{say("drawHelp")}</p>
    </>
  );
}

function Row({
  each,
  index,
  state: { chart, drawing },
}: {
  readonly each: Drawing;
  readonly index: number;
  readonly state: ChartState;
}) {
  const place = each.text ?? each.points.map(({ price }) => writePrice(price, null)).join(" → ");
  const name = `${say(each.kind)}${each.text ? ":" : ""} ${place}`;
  return (
    <li>
      <button type="button" aria-pressed={drawing.selected === index} onClick={() => chart?.drawings.select(index)}>
        {name}
      </button>
      <button
        type="button"
        class="icon"
        aria-label={say("remove", { symbol: name })}
        onClick={() => chart?.drawings.remove(index)}
      >
        ×
      </button>
    </li>
  );
}
