import { activeWorkspace, arrange } from "./arrangement.ts";
import { announcement, type Moving, moving, titleOf } from "./frame-state.ts";
import { COLUMNS, changePlace, type Place } from "./layout.ts";
import { dropPlace, fillPlaces, resizePlace, sideAt, swapPlace } from "./tiling.ts";
import { say } from "./words.ts";

/** Pixels between panes. */
export const GAP = 4;

/** What does not drag the heading that it stands in. */
export const CONTROLS = "button:not(.grip), select, input, label";

type Point = Pick<Place, "x" | "y">;

/** What a handle changes: the place of a pane, its size, or one of its edges. */
export type Handle = "move" | "resize" | "resizeWidth" | "resizeHeight";

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
  announcement.value = describe(find(now, moved.id));
}

/** Returns the place of a pane in words. */
function describe(place: Place): string {
  const { x, y, w, h } = place;
  return say("paneAt", { pane: titleOf(place), column: x + 1, row: y + 1, width: w, height: h });
}

const spot = ({ x, y, w, h }: Place): string => `${x} ${y} ${w} ${h}`;

/** Keeps the panes where they are shown. */
export function acceptMove(): void {
  const moved = moving.value;
  moving.value = null;
  if (!moved) return;
  const now = new Map(moved.now.map((each) => [each.id, each]));
  const panes = activeWorkspace.value.panes;
  const settled = panes.map((each) => {
    const { x, y, w, h } = now.get(each.id) ?? each;
    return { ...each, x, y, w, h };
  });
  if (settled.some((each, index) => spot(each) !== spot(panes[index] as Place))) arrange(settled);
}

/** Keeps a change by keyboard when the focus leaves the pane. */
export function acceptKeys(): void {
  if (moving.value?.by === "keys") acceptMove();
}

/** Puts the panes back to where they were; returns whether one was on its way. */
export function cancelMove(): boolean {
  const moved = moving.value;
  moving.value = null;
  if (moved) announcement.value = describe(find(moved.before, moved.id));
  return moved !== null;
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Swaps a pane with its neighbour by the arrow keys, with Shift resizes it; Enter keeps the change. */
export function moveByKey(event: KeyboardEvent, id: string): void {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Enter") acceptMove();
  const arrow = ARROWS[event.key];
  if (!arrow) return;
  event.preventDefault();
  const moved = moving.value?.id === id ? moving.value : begin(id, "keys");
  const [dx, dy] = arrow;
  preview(moved, event.shiftKey ? resizePlace(moved.now, id, dx, dy) : swapPlace(moved.now, id, dx, dy));
}

/** Moves or resizes a pane with the pointer, in steps of the grid; Escape and a lost pointer put it back. */
export function moveByPointer(event: PointerEvent, place: Place, row: number, handle: Handle): void {
  const target = event.currentTarget as HTMLElement;
  if (event.button !== 0 || (event.target as Element).closest(CONTROLS)) return;
  const grid = target.closest("main") as HTMLElement;
  const column = (grid.clientWidth - GAP) / COLUMNS;
  const moved = begin(place.id, "pointer");
  const isMine = () => moving.value?.before === moved.before;
  target.setPointerCapture(event.pointerId);
  target.onpointermove = (now) => {
    const dx = Math.round((now.clientX - event.clientX) / column);
    const dy = Math.round((now.clientY - event.clientY) / (row + GAP));
    if (!isMine()) return;
    if (handle === "move") {
      const { left, top } = grid.getBoundingClientRect();
      const x = (now.clientX - left - GAP) / column;
      const y = (now.clientY - top - GAP + grid.scrollTop) / (row + GAP);
      const at = { x: Math.min(COLUMNS - 0.01, Math.max(0, x)), y: Math.max(0, y) };
      preview(moved, dropAt(moved.before, place, at, { x: place.x + dx, y: place.y + dy }));
    } else preview(moved, resizePlace(moved.before, place.id, ...sizeBy(handle, dx, dy)));
  };
  target.onpointercancel = cancelMove;
  target.onlostpointercapture = () => {
    target.onpointermove = null;
    target.onpointercancel = null;
    target.onlostpointercapture = null;
    if (isMine()) acceptMove();
  };
}

/** Returns the panes with one dropped at a point: on the pane there, or in the empty space `free`. */
function dropAt(places: readonly Place[], place: Place, at: Point, free: Point): readonly Place[] {
  const under = places.find(({ x, y, w, h }) => x <= at.x && at.x < x + w && y <= at.y && at.y < y + h);
  if (!under) return fillPlaces(changePlace(places, place.id, free), place.id);
  return dropPlace(places, place.id, under.id, sideAt((at.x - under.x) / under.w, (at.y - under.y) / under.h));
}

const sizeBy = (handle: Handle, dx: number, dy: number): [number, number] => [
  handle === "resizeHeight" ? 0 : dx,
  handle === "resizeWidth" ? 0 : dy,
];
