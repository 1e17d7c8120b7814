import { useState } from "preact/hooks";

import { typeOf } from "../../instruments.ts";
import { say } from "../../words.ts";
import type { Tool } from "./drawing-tools.ts";
import { countDrawings, type Drawing, MOST_DRAWINGS, memoryKey, parseDrawings, parsePrice } from "./drawings.ts";
import { writePrice } from "./prices.ts";
import type { ChartState } from "./state.ts";

const TOOLS = ["trend", "level", "box", "fib", "measure"] as const;

/** Draws with the pointer or by a typed price, and lists the drawings of the symbol. */
export function DrawPanel({ state, onClose }: { readonly state: ChartState; readonly onClose: () => void }) {
  const { memory, chart, instrument, drawing } = state;
  const [price, setPrice] = useState("");
  const drawings = parseDrawings(memory[memoryKey(typeOf(instrument), instrument.key)]);
  const isFull = countDrawings(memory) >= MOST_DRAWINGS;
  const [isWrong, setWrong] = useState(false);
  const addLevel = () => {
    const typed = parsePrice(price);
    setWrong(typed === null);
    if (typed === null) return;
    chart?.drawings.add({ kind: "level", price: typed });
    setPrice("");
  };
  const use = (tool: Tool, event: MouseEvent) => {
    // A click of the keyboard has no place: the line begins in the middle, and arrows move it.
    const line = event.detail === 0 && tool !== "level" ? chart?.drawings.spanInView(tool) : null;
    if (line) chart?.drawings.add(line);
    else chart?.drawings.use(drawing.tool === tool ? null : tool);
    if (event.detail > 0) onClose();
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
  const place = each.kind === "level" ? [each.price] : [each.from.price, each.to.price];
  const name = `${say(each.kind)} ${place.map((value) => writePrice(value, null)).join(" → ")}`;
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
