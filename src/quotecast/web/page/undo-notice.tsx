import { useEffect, useRef } from "preact/hooks";

import { undo } from "./arrangement.ts";
import { focusOn, undoOffer } from "./frame-state.ts";
import { say } from "./words.ts";

/** Time until the notice goes, in milliseconds; Ctrl+Z undoes the change later, too. */
const SHOWN_MS = 12_000;

/** Offers to undo the last deletion. */
export function UndoNotice() {
  const element = useRef<HTMLDivElement>(null);
  const offer = undoOffer.value;
  useEffect(() => {
    if (!offer) return;
    const timer = setInterval(() => {
      // A notice in use stays.
      if (!element.current?.matches(":hover, :focus-within")) undoOffer.value = null;
    }, SHOWN_MS);
    return () => clearInterval(timer);
  }, [offer]);
  const revert = () => {
    focusOn({ pane: null, part: "pane" });
    undo();
  };
  return (
    <div ref={element} class="offer" role="status">
      {offer && (
        <p class="notice floating undo">
          {say(offer.word, { name: offer.name })}
          <button type="button" onClick={revert}>
            {say("undo")}
          </button>
        </p>
      )}
    </div>
  );
}
