import { useEffect } from "preact/hooks";

import { clock } from "./formats.ts";
import type { Outage } from "./outages.ts";
import { say } from "./words.ts";

/** A line that names the feeds with old values; the style sheet dims them meanwhile. */
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
