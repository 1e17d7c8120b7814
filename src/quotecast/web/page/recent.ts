import { isInstrument, same } from "./instruments.ts";
import type { Choice } from "./palette-list.ts";
import { isRecord, storedSignal } from "./stored.ts";

const AT_MOST = 6;

const isChoice = (value: unknown): value is Choice =>
  isInstrument(value) && isRecord(value) && typeof value.name === "string" && typeof value.venue === "string";
const isList = (value: unknown): value is readonly Choice[] => Array.isArray(value) && value.every(isChoice);

/** The last symbols that the reader has chosen, the newest first. */
export const recent = storedSignal<readonly Choice[]>("recent", [], isList);

export function rememberChoice(choice: Choice): void {
  recent.value = [choice, ...recent.value.filter((each) => !same(each, choice))].slice(0, AT_MOST);
}
