import { useEffect, useLayoutEffect, useState } from "preact/hooks";

import { ROWS } from "./layout.ts";
import { GAP } from "./moves.ts";

/** Height below which rows do not shrink: on the grid six panes fit a window 600 pixels high. */
const [LEAST_ROW_HEIGHT, LEAST_OF_TABLET] = [16, 26];

/** The arrangement of the panes: on the grid, in two columns of a tablet, or one below the other on a phone. */
export type Shape = "grid" | "columns" | "stack";

const [PHONE, TABLET] = ["(max-width: 760px)", "(max-width: 1023px)"].map((query) => matchMedia(query)) as [
  MediaQueryList,
  MediaQueryList,
];
const shapeNow = (): Shape => (PHONE.matches ? "stack" : TABLET.matches ? "columns" : "grid");

/** Returns the present shape of the workspace. */
export function useShape(): Shape {
  const [shape, setShape] = useState(shapeNow);
  useEffect(() => {
    const look = () => setShape(shapeNow());
    for (const each of [PHONE, TABLET]) each.addEventListener("change", look);
    return () => {
      for (const each of [PHONE, TABLET]) each.removeEventListener("change", look);
    };
  }, []);
  return shape;
}

/** Returns the height in pixels at which the rows fill the screen. */
export function useRowHeight(element: { current: HTMLElement | null }, shape: Shape): number {
  const [height, setHeight] = useState(LEAST_ROW_HEIGHT);
  // Before the first paint: a later change of height would shift the panes.
  useLayoutEffect(() => {
    const main = element.current as HTMLElement;
    const least = shape === "grid" ? LEAST_ROW_HEIGHT : LEAST_OF_TABLET;
    const look = () => setHeight(Math.max(least, (main.clientHeight - GAP) / ROWS - GAP));
    look();
    const observer = new ResizeObserver(look);
    observer.observe(main);
    return () => observer.disconnect();
  }, [shape]);
  return height;
}
