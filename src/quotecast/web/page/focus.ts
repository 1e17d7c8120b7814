import { useEffect, useLayoutEffect } from "preact/hooks";

import { type FocusTarget, focusTarget } from "./frame-state.ts";

/** Gives the focus back to an element that lost it because its pane has another place among the elements. */
export function useRestoredFocus(element: { current: HTMLElement | null }): void {
  const focused = document.activeElement;
  useLayoutEffect(() => {
    if (focused instanceof HTMLElement && focused !== document.activeElement && element.current?.contains(focused))
      focused.focus({ preventScroll: true });
  });
}

/** Focuses what an action asked for, and brings it into view. */
export function useFocusTarget(element: { current: HTMLElement | null }): void {
  const target = focusTarget.value;
  useEffect(() => {
    if (!target) return;
    focusTarget.value = null;
    const found = findTarget(element.current as HTMLElement, target);
    found?.closest(".pane")?.scrollIntoView({ block: "nearest" });
    found?.focus({ preventScroll: true });
  }, [target]);
}

function findTarget(main: HTMLElement, { pane, part }: FocusTarget): HTMLElement | null {
  const found = [...main.querySelectorAll<HTMLElement>(".pane")].find((each) => each.dataset.pane === pane);
  if (!found) return document.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]');
  const inside = found.querySelector<HTMLElement>(part === "tab" ? '[aria-selected="true"]' : ".grip");
  return part !== "pane" && inside?.checkVisibility() ? inside : found;
}
