import { useState } from "preact/hooks";

import type { Column } from "./columns.ts";
import { Menu } from "./menu.tsx";
import { say } from "./words.ts";

interface Props {
  /** Columns to choose from, the first of which stays. */
  readonly all: readonly Column[];
  readonly shown: readonly Column[];
  readonly onChoose: (text: string) => void;
}

/** A menu of the columns of a table. */
export function ColumnChoice({ all, shown, onChoose }: Props) {
  const [isOpen, setOpen] = useState(false);
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
  return (
    <Menu label={say("showColumns")} text="▥" isOpen={isOpen} setOpen={setOpen}>
      {all.slice(1).map((column) => (
        <label key={column.title} class="check">
          <input type="checkbox" checked={titles.has(column.title)} onChange={() => toggle(column)} />
          {say(column.title)}
        </label>
      ))}
    </Menu>
  );
}
