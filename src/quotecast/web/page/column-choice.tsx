import { useId, useRef, useState } from "preact/hooks";

import type { Column } from "./columns.ts";
import { say } from "./words.ts";

interface Props {
  /** Columns to choose from, the first of which stays. */
  readonly all: readonly Column[];
  readonly shown: readonly Column[];
  readonly onChoose: (text: string) => void;
}

/** A button that shows and hides a list of columns to choose. */
export function ColumnChoice({ all, shown, onChoose }: Props) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const titles = new Set(shown.map((each) => each.title));
  const toggle = (column: Column) => {
    const next = new Set(titles);
    if (!next.delete(column.title)) next.add(column.title);
    onChoose(
      all
        .slice(1)
        .filter((each) => next.has(each.title))
        .map((each) => each.title)
        .join(),
    );
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    setOpen(false);
    button.current?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="small"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {say("columns")}
      </button>
      {isOpen && (
        <div class="columns-shown" id={id} role="group" aria-label={say("showColumns")} onKeyDown={onKeyDown}>
          {all.slice(1).map((column) => (
            <label key={column.title}>
              <input type="checkbox" checked={titles.has(column.title)} onChange={() => toggle(column)} />
              {say(column.title)}
            </label>
          ))}
        </div>
      )}
    </>
  );
}
