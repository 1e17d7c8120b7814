import { useEffect } from "preact/hooks";

import { clock } from "./formats.ts";
import type { Outage } from "./outages.ts";
import { say } from "./words.ts";

/** One line that says which values are old, and since when; they are dimmed meanwhile. */
export function Banner({ outage }: { readonly outage: Outage | null }) {
  const stale = outage?.feeds.join(" ") ?? "";
  useEffect(() => {
    document.documentElement.dataset.stale = stale;
  }, [stale]);
  return (
    <p class="banner" role="status">
      {outage &&
        say(outage.word, { feeds: outage.feeds.map((name) => say(name)).join(", "), time: clock(outage.since) })}
    </p>
  );
}
