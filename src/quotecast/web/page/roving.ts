const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Returns the enabled element to which an arrow, Home or End moves the focus among the given ones; null for none. */
export function nextItem(event: KeyboardEvent, items: readonly HTMLElement[]): HTMLElement | null {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return null;
  const enabled = items.filter((each) => !(each as HTMLButtonElement).disabled);
  const here = enabled.indexOf((event.target as Element).closest("button") as HTMLElement);
  const step = STEPS[event.key];
  if (step && here >= 0) return enabled[(here + step + enabled.length) % enabled.length] ?? null;
  if (event.key === "Home") return enabled[0] ?? null;
  return event.key === "End" ? (enabled.at(-1) ?? null) : null;
}

/** Moves the focus among the buttons of a group, which is one stop of the Tab key. */
export function rove(event: KeyboardEvent): void {
  const items = [...(event.currentTarget as Element).querySelectorAll<HTMLElement>("button")];
  const next = nextItem(event, items);
  if (!next) return;
  event.preventDefault();
  for (const each of items) each.tabIndex = each === next ? 0 : -1;
  next.focus();
}
