import { signal } from "@preact/signals";

/** Whether the palette is open. */
export const isOpen = signal(false);
/** The text that the reader has typed. */
export const typed = signal("");
/** Number of the options that belong to the text; 0 while they are looked up. */
export const count = signal(0);
/** Index of the active option. */
export const active = signal(0);
/** Whether the reader has pressed Enter: the active option is chosen once the options belong to the text. */
export const isWanted = signal(false);

export function openPalette(): void {
  type("");
  count.value = 0;
  isOpen.value = true;
}

/** Takes over what the reader has typed; the first option becomes the active one. */
export function type(text: string): void {
  typed.value = text;
  active.value = 0;
  isWanted.value = false;
}

/** Makes another option the active one. */
export function step(by: number): void {
  if (count.value) active.value = (active.value + by + count.value) % count.value;
}
