import { useEffect } from "preact/hooks";

import { clock } from "./formats.ts";
import { FEEDS } from "./live.ts";
import { useValue } from "./observable.ts";
import { outageOf } from "./outages.ts";
import { feedStates, live } from "./service.ts";
import { useWords } from "./words.ts";

/** One line that says which values are old, and since when; they are dimmed meanwhile. */
export function Banner() {
  const say = useWords();
  const states = useValue(feedStates);
  const outage = outageOf(
    FEEDS.map((name) => {
      const { lastFrameAt, lastQuotesAt } = live.figures[name].feed;
      return { name, state: states[name] ?? "connecting", lastFrameAt, lastQuotesAt };
    }),
  );
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
