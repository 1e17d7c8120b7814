/** Drags a row by its handle: `onMove` gets the index over which the pointer is, `onEnd` comes after the release. */
export function dragRow(
  event: PointerEvent,
  rowHeight: number,
  index: number,
  count: number,
  onMove: (index: number) => void,
  onEnd: () => void,
): void {
  const handle = event.currentTarget as HTMLElement;
  const frame = handle.closest(".table-frame") as HTMLElement;
  if (event.button !== 0) return;
  event.preventDefault();
  event.stopPropagation();
  // The frame stays in the document while rows change places; the handle's row may not.
  frame.setPointerCapture(event.pointerId);
  const from = event.clientY + frame.scrollTop;
  let last = index;
  frame.onpointermove = (moved) => {
    scrollAtEdge(frame, moved.clientY);
    const steps = Math.round((moved.clientY + frame.scrollTop - from) / rowHeight);
    const next = Math.max(0, Math.min(count - 1, index + steps));
    if (next !== last) onMove(next);
    last = next;
  };
  frame.onlostpointercapture = () => {
    frame.onpointermove = null;
    frame.onlostpointercapture = null;
    onEnd();
  };
}

const EDGE = 24;

function scrollAtEdge(frame: HTMLElement, y: number): void {
  const { top, bottom } = frame.getBoundingClientRect();
  if (y < top + 2 * EDGE) frame.scrollTop -= EDGE / 3;
  if (y > bottom - EDGE) frame.scrollTop += EDGE / 3;
}
