/** A line of the legend: a name in the colour of its line, and values. */
export interface Row {
  readonly label: string;
  readonly colour: string;
  readonly text: string;
}

/** Writes rows into a list, and makes elements only when their names change. */
export function writeRows(list: HTMLElement, rows: readonly Row[]): void {
  const names = rows.map(({ label, colour }) => `${colour} ${label}`).join("\n");
  if (list.dataset.names !== names) {
    list.dataset.names = names;
    list.replaceChildren(...rows.map(rowOf));
  }
  rows.forEach(({ text }, index) => {
    const value = list.children[index]?.lastElementChild;
    if (value && value.textContent !== text) value.textContent = text;
  });
}

function rowOf({ label, colour }: Row): HTMLElement {
  const [row, name, value] = [
    document.createElement("li"),
    document.createElement("b"),
    document.createElement("span"),
  ];
  row.style.setProperty("--swatch", colour);
  name.textContent = label;
  row.append(name, " ", value);
  return row;
}
