import { useState } from "preact/hooks";

import { places } from "./arrangement.ts";
import { onTop, titleOf } from "./frame-state.ts";
import { inOrder, type Place } from "./layout.ts";
import { Menu } from "./menu.tsx";
import { say } from "./words.ts";

/** Buttons that fit a phone. */
const FITTING = 5;

/** The pane that a phone shows: the one that the reader asked for last, or the first. */
export function paneOnTop(): Place | undefined {
  const ordered = inOrder(places.value);
  return ordered.find((each) => each.id === onTop.value) ?? ordered[0];
}

/** The panes of a phone, one of which fills the screen. */
export function PaneBar() {
  const [isOpen, setOpen] = useState(false);
  const ordered = inOrder(places.value);
  const isTooMany = ordered.length > FITTING;
  const first = isTooMany ? ordered.slice(0, FITTING - 1) : ordered;
  const shown = paneOnTop();
  const button = (each: Place) => (
    <button
      key={each.id}
      type="button"
      aria-current={each.id === shown?.id ? "page" : undefined}
      onClick={() => {
        onTop.value = each.id;
        setOpen(false);
      }}
    >
      {titleOf(each)}
    </button>
  );
  return (
    <nav class="pane-bar" aria-label={say("panes")}>
      {first.map(button)}
      {isTooMany && (
        <Menu label={say("morePanes")} text="⋯" isOpen={isOpen} setOpen={setOpen}>
          {ordered.slice(first.length).map(button)}
        </Menu>
      )}
    </nav>
  );
}
