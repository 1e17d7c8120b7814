import type { ComponentType } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { arrange, places, remember } from "./arrangement.ts";
import { Boundary } from "./boundary.tsx";
import { COLUMNS, changePlace, type Kind, type Place, ROWS, removePlace } from "./layout.ts";
import { InView, type Memory } from "./pane.tsx";
import { Chart } from "./panes/chart.tsx";
import { Company } from "./panes/company.tsx";
import { Crypto } from "./panes/crypto.tsx";
import { Doviz } from "./panes/doviz.tsx";
import { Heatmap } from "./panes/heatmap.tsx";
import { Movers } from "./panes/movers.tsx";
import { News } from "./panes/news.tsx";
import { Portfolio } from "./panes/portfolio.tsx";
import { Watchlist } from "./panes/watchlist.tsx";
import { say } from "./words.ts";

const CONTENTS: Record<Kind, ComponentType<Memory>> = {
  watchlist: Watchlist,
  chart: Chart,
  heatmap: Heatmap,
  movers: Movers,
  news: News,
  crypto: Crypto,
  doviz: Doviz,
  company: Company,
  portfolio: Portfolio,
};

const LEAST_ROW_HEIGHT = 26;
const GAP = 4;

export function Workspace() {
  const element = useRef<HTMLElement>(null);
  const row = useRowHeight(element);
  const panes = places.value;
  return (
    <main ref={element} class="workspace" aria-label={say("workspace")} style={{ gridAutoRows: `${row}px` }}>
      {[...panes]
        .sort((one, other) => one.y - other.y || one.x - other.x)
        .map((place) => (
          <Pane key={place.id} place={place} row={row} />
        ))}
    </main>
  );
}

/** Returns the height in pixels at which the rows fill the screen. */
function useRowHeight(element: { current: HTMLElement | null }): number {
  const [height, setHeight] = useState(LEAST_ROW_HEIGHT);
  // Before the first paint: a later change of height would shift the panes.
  useLayoutEffect(() => {
    const main = element.current as HTMLElement;
    const look = () => setHeight(Math.max(LEAST_ROW_HEIGHT, Math.floor((main.clientHeight - 2 * GAP) / ROWS) - GAP));
    look();
    const observer = new ResizeObserver(look);
    observer.observe(main);
    return () => observer.disconnect();
  }, []);
  return height;
}

function Pane({ place, row }: { readonly place: Place; readonly row: number }) {
  const Content = CONTENTS[place.kind];
  const title = say(place.kind);
  const handle = (how: How) => ({
    onPointerDown: (event: PointerEvent) => isArranged() && drag(event, place, row, how),
    onKeyDown: (event: KeyboardEvent) => nudge(event, place),
  });
  return (
    <section class="pane" data-kind={place.kind} aria-label={title} style={span(place)}>
      <header {...handle("move")}>
        <h2>{title}</h2>
        <button
          type="button"
          class="icon grip"
          aria-label={say("movePane", { pane: title })}
          title={say("movePane", { pane: title })}
        >
          ⠿
        </button>
        <button
          type="button"
          class="icon"
          aria-label={say("closePane", { pane: title })}
          onClick={() => arrange(removePlace(places.value, place.id))}
        >
          ×
        </button>
      </header>
      <InView>
        <Boundary>
          <Content memory={place.memory ?? {}} remember={(memory) => remember(place.id, memory)} />
        </Boundary>
      </InView>
      <div class="corner" aria-hidden="true" title={say("resizePane", { pane: title })} {...handle("resize")} />
    </section>
  );
}

/** Returns whether the panes are on the grid; a narrower page stacks them. */
const isArranged = (): boolean => matchMedia("(min-width: 1024px)").matches;

const span = ({ x, y, w, h }: Place) => ({ gridColumn: `${x + 1} / span ${w}`, gridRow: `${y + 1} / span ${h}` });

type How = "move" | "resize";

/** Moves or resizes a pane with the pointer, in steps of the grid; saves the layout on release. */
function drag(event: PointerEvent, place: Place, row: number, how: How): void {
  const target = event.currentTarget as HTMLElement;
  if (event.button !== 0 || (event.target as Element).closest("button:not(.grip)")) return;
  const grid = target.closest("main") as HTMLElement;
  const column = (grid.clientWidth + GAP) / COLUMNS;
  const before = places.value;
  event.preventDefault();
  target.setPointerCapture(event.pointerId);
  target.onpointermove = (moved) => {
    const dx = Math.round((moved.clientX - event.clientX) / column);
    const dy = Math.round((moved.clientY - event.clientY) / (row + GAP));
    const change = how === "move" ? { x: place.x + dx, y: place.y + dy } : { w: place.w + dx, h: place.h + dy };
    places.value = changePlace(before, place.id, change);
  };
  target.onlostpointercapture = () => {
    target.onpointermove = null;
    target.onlostpointercapture = null;
    arrange(places.value);
  };
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Moves a pane with the arrow keys; with Shift resizes it. */
function nudge(event: KeyboardEvent, { id, x, y, w, h }: Place): void {
  const arrow = ARROWS[event.key];
  if (!arrow || !(event.target as Element).matches(".grip")) return;
  event.preventDefault();
  const [dx, dy] = arrow;
  arrange(changePlace(places.value, id, event.shiftKey ? { w: w + dx, h: h + dy } : { x: x + dx, y: y + dy }));
}
