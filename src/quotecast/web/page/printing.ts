import { signal } from "@preact/signals";

/** Rows of a printed table at most. */
export const PRINTED_ROWS = 200;
/** Whether the browser prints the page now: tables then have all of their rows, seen or not. */
export const printing = signal(false);

const setPrinting = (value: boolean) => {
  printing.value = value;
};
addEventListener("beforeprint", () => setPrinting(true));
addEventListener("afterprint", () => setPrinting(false));
