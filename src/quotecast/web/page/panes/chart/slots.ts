/** The place of a line in a pane's memory: it chooses the line's colour, which stays when other lines go. */
export interface Placed {
  readonly slot: number;
}

/** Returns the first place that is free. */
export function freeSlot(taken: readonly Placed[]): number {
  const slots = new Set(taken.map((each) => each.slot));
  let free = 0;
  while (slots.has(free)) free += 1;
  return free;
}

/** Returns texts by their places; places that are free are empty. */
export function joinSlots(parts: readonly (readonly [slot: number, text: string])[], separator: string): string {
  const found: string[] = [];
  for (const [slot, text] of parts) found[slot] = text;
  return found.join(separator);
}
