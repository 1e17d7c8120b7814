import { useEffect, useState } from "preact/hooks";

import type { Instrument } from "./instruments.ts";
import type { AnyQuote } from "./live.ts";
import { live } from "./service.ts";

/** Returns the last quotes of a few instruments; the component renders again in the flush in which any changes. */
export function useQuotes(instruments: readonly Instrument[], active: boolean): (AnyQuote | undefined)[] {
  const [, setMoves] = useState(0);
  const key = active ? instruments.map((each) => `${each.feed} ${each.key}`).join("\n") : "";
  useEffect(() => {
    if (!key) return;
    let moved = true;
    const note = () => {
      moved = true;
    };
    const ends = instruments.map((each) => live.watch(each.feed, each.key, note));
    const endPainting = live.onPaint(() => {
      if (moved) setMoves((count) => count + 1);
      moved = false;
    });
    return () => {
      for (const end of [...ends, endPainting]) end();
    };
  }, [key]);
  return instruments.map((each) => live.quote(each.feed, each.key));
}
