import { moveIndex } from "./row-moves.ts";

const FOCUSABLE = "a, button";
const ITEMS_PER_PAGE = 8;

/** Leaves one tab stop in a frame whose links and buttons have tabIndex -1: the last focused one, or the first. */
export function requireTabStop(frame: HTMLElement | null, first = FOCUSABLE): void {
  if (frame && !frame.querySelector('[tabindex="0"]')) frame.querySelector(first)?.setAttribute("tabindex", "0");
}

/** Focuses an element, which becomes the tab stop of its frame. */
export function focusOn(element: HTMLElement, frame: Element): void {
  for (const each of frame.querySelectorAll('[tabindex="0"]')) each.setAttribute("tabindex", "-1");
  element.setAttribute("tabindex", "0");
  element.focus();
}

/** Moves the focus from item to item with the keys of a list, and inside of an item with ArrowLeft and ArrowRight. */
export function walkItems(event: KeyboardEvent, itemSelector: string): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const frame = event.currentTarget as HTMLElement;
  const item = (event.target as Element).closest<HTMLElement>(itemSelector);
  if (!item) return;
  const next =
    nextInItem(event, item) ?? nextItem(event.key, item, [...frame.querySelectorAll<HTMLElement>(itemSelector)]);
  if (!next) return;
  event.preventDefault();
  focusOn(next, frame);
}

function nextInItem({ key, target }: KeyboardEvent, item: HTMLElement): HTMLElement | null {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const inside = [...item.querySelectorAll<HTMLElement>(FOCUSABLE)];
  return step ? (inside[inside.indexOf(target as HTMLElement) + step] ?? null) : null;
}

function nextItem(key: string, item: HTMLElement, all: readonly HTMLElement[]): HTMLElement | null {
  const items = all.filter((each) => each.querySelector(FOCUSABLE));
  const index = moveIndex(key, items.indexOf(item), items.length, ITEMS_PER_PAGE);
  return index === null ? null : (items[index]?.querySelector<HTMLElement>(FOCUSABLE) ?? null);
}
