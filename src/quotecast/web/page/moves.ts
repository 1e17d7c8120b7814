import { activeWorkspace, arrange } from "./arrangement.ts";
import { announcement, type Moving, moving, titleOf } from "./frame-state.ts";
import { dropGroup, dropTab, tabsOf, turnTab } from "./groups.ts";
import { COLUMNS, changePlace, changeShown, isShown, type Place } from "./layout.ts";
import { fillPlaces, resizePlace, sideAt, swapPlace } from "./tiling.ts";
import { say } from "./words.ts";

/** Pixels between panes. */
export const GAP = 4;
/** Height of a pane's heading, in pixels. */
const HEADING = 27;
/** Pixels that the pointer goes before a pane moves: a click may tremble. */
const STILL = 4;

/** Controls in a heading: the pointer on them does not drag the pane. */
export const CONTROLS = "button:not(.grip, [role=tab]), select, input, label";

type Point = Pick<Place, "x" | "y">;

/** The part that a handle changes: the place of a pane with its tabs or of one tab, the size, or one of the edges. */
export type Handle = "move" | "tab" | "resize" | "resizeWidth" | "resizeHeight";

function begin(id: string, by: Moving["by"]): Moving {
  acceptMove();
  const before = activeWorkspace.value.panes;
  const begun = { id, by, before, now: before };
  moving.value = begun;
  return begun;
}

const find = (places: readonly Place[], id: string): Place => places.find((each) => each.id === id) as Place;

/** Shows the panes as they would be, and says where the moved one is. */
function preview(moved: Moving, now: readonly Place[]): void {
  moving.value = { ...moved, now };
  announcement.value = describe(now, moved.id);
}

/** Returns the place of a pane in words. */
function describe(places: readonly Place[], id: string): string {
  const place = find(places, id);
  const { x, y, w, h } = place;
  const spot = say("paneAt", { pane: titleOf(place), column: x + 1, row: y + 1, width: w, height: h });
  const tabs = tabsOf(places, id);
  if (tabs.length === 1) return spot;
  return `${spot}, ${say("tabOf", { number: tabs.indexOf(place) + 1, count: tabs.length })}`;
}

const spotOf = ({ x, y, w, h, behind }: Place): string => `${x} ${y} ${w} ${h} ${behind}`;

/** Keeps the panes where they are shown. */
export function acceptMove(): void {
  const moved = moving.value;
  moving.value = null;
  if (moved?.now.some((each) => spotOf(each) !== spotOf(find(moved.before, each.id)))) arrange(moved.now);
}

/** Keeps a change by keyboard when the focus leaves the pane. */
export function acceptKeys(): void {
  if (moving.value?.by === "keys") acceptMove();
}

/** Puts the panes back to where they were; returns whether one was on its way. */
export function cancelMove(): boolean {
  const moved = moving.value;
  moving.value = null;
  if (moved) announcement.value = describe(moved.before, moved.id);
  return moved !== null;
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Swaps a pane with its neighbour by the arrow keys, with Shift resizes it, with Alt joins the neighbour as a tab. */
export function moveByKey(event: KeyboardEvent, id: string): void {
  if (event.ctrlKey || event.metaKey) return;
  if (event.key === "Enter") acceptMove();
  const arrow = ARROWS[event.key];
  if (!arrow) return;
  event.preventDefault();
  const moved = moving.value?.id === id ? moving.value : begin(id, "keys");
  const change = event.shiftKey ? resizePlace : swapPlace;
  if (event.altKey) preview(moved, turnTab(moved.now, id, ...arrow));
  else
    preview(
      moved,
      changeShown(moved.now, (shown) => change(shown, id, ...arrow)),
    );
}

/** Moves or resizes a pane with the pointer, in steps of the grid; Escape and a lost pointer put it back. */
export function moveByPointer(event: PointerEvent, place: Place, row: number, handle: Handle): void {
  const target = event.currentTarget as HTMLElement;
  if (event.button !== 0 || (event.target as Element).closest(CONTROLS)) return;
  const grid = target.closest("main") as HTMLElement;
  const [column, height] = [(grid.clientWidth - GAP) / COLUMNS, row + GAP];
  let moved: Moving | null = null;
  const isMine = () => moved !== null && moving.value?.before === moved.before;
  const end = () => {
    grid.onpointermove = null;
    grid.onpointerup = null;
    grid.onpointercancel = null;
    grid.onlostpointercapture = null;
    if (isMine()) acceptMove();
  };
  grid.onpointermove = (now) => {
    const [right, down] = [now.clientX - event.clientX, now.clientY - event.clientY];
    if (!now.buttons) return end();
    if (!moved) {
      if (Math.hypot(right, down) < STILL) return;
      moved = begin(place.id, "pointer");
      // The tab's row may go while the tab moves. A capture before the first step would take the click from the tab.
      (handle === "tab" ? grid : target).setPointerCapture(event.pointerId);
    }
    if (!isMine()) return;
    const [dx, dy] = [Math.round(right / column), Math.round(down / height)];
    if (handle === "move" || handle === "tab") {
      const { left, top } = grid.getBoundingClientRect();
      const x = (now.clientX - left - GAP) / column;
      const y = (now.clientY - top - GAP + grid.scrollTop) / height;
      const at = { x: Math.min(COLUMNS - 0.01, Math.max(0, x)), y: Math.max(0, y) };
      const free = { x: place.x + dx, y: place.y + dy };
      preview(moved, dropAt(moved.before, place.id, handle, at, free, HEADING / height));
    } else {
      const resize = (shown: readonly Place[]) => resizePlace(shown, place.id, ...sizeBy(handle, dx, dy));
      preview(moved, changeShown(moved.before, resize));
    }
  };
  grid.onpointercancel = () => {
    if (isMine()) cancelMove();
    end();
  };
  grid.onpointerup = end;
  grid.onlostpointercapture = end;
}

/** Returns the panes with one dropped at a point: on the pane there, or in the empty space `free`. */
function dropAt(
  places: readonly Place[],
  id: string,
  handle: "move" | "tab",
  at: Point,
  free: Point,
  heading: number,
): readonly Place[] {
  const isUnder = ({ x, y, w, h }: Place) => x <= at.x && at.x < x + w && y <= at.y && at.y < y + h;
  const under = places.filter(isShown).find(isUnder);
  if (!under) {
    if (handle === "tab") return places;
    return changeShown(places, (shown) => fillPlaces(changePlace(shown, id, free), id));
  }
  const drop = handle === "tab" ? dropTab : dropGroup;
  const isHeading = at.y - under.y < heading;
  const side = isHeading ? "heading" : sideAt((at.x - under.x) / under.w, (at.y - under.y) / under.h);
  return drop(places, id, under.id, side);
}

const sizeBy = (handle: Handle, dx: number, dy: number): [number, number] => [
  handle === "resizeHeight" ? 0 : dx,
  handle === "resizeWidth" ? 0 : dy,
];
