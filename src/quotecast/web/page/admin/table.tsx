import type { ComponentChildren } from "preact";

import { say, type Word } from "./words.ts";

export interface Column<T> {
  readonly word: Word;
  readonly cell: (row: T) => ComponentChildren;
  /** Text columns begin at the left; numbers end at the right. */
  readonly isNumber?: boolean;
}

interface Props<T> {
  readonly title: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly actions?: (row: T) => ComponentChildren;
}

/** A table with its heading; without rows it says so. */
export function Table<T>({ title, columns, rows, keyOf, actions }: Props<T>) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="quiet">{say("none")}</p>
      ) : (
        <div class="wide">
          <table>
            <thead>
              <tr>
                {columns.map(({ word, isNumber }) => (
                  <th key={word} scope="col" class={isNumber ? "number" : ""}>
                    {say(word)}
                  </th>
                ))}
                {actions && <td />}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={keyOf(row)}>
                  {columns.map(({ word, cell, isNumber }) => (
                    <td key={word} class={isNumber ? "number" : ""}>
                      {cell(row)}
                    </td>
                  ))}
                  {actions && <td class="actions">{actions(row)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
