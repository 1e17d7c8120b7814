import { effect } from "@preact/signals";

import { type FeedName, Replay } from "quotecast-client";
import { FEEDS } from "./live.ts";
import { type Rewind, reached, replayEnd, rewind } from "./replay-state.ts";
import { live, ticket } from "./service.ts";

/** Plays the recorded quotes of all feeds while the reader wants to. */
export function followRewind(): void {
  effect(() => {
    const start = rewind.value;
    if (!start) return live.endReplay();
    live.beginReplay();
    replayEnd.value = null;
    reached.value = { at: Date.parse(start.at), since: performance.now() };
    const replays = FEEDS.map((feed) => play(feed, start));
    return () => {
      for (const each of replays) each.close();
    };
  });
}

/** Plays one feed; a pause takes the quotes of its moment only. */
function play(feed: FeedName, { at, speed, isPaused }: Rewind): Replay<FeedName> {
  const replay: Replay<FeedName> = new Replay<FeedName>({
    feed,
    at,
    speed,
    symbols: ["all"],
    address: location.origin,
    ticket,
    onChange: ({ keys }, copy) => {
      live.play(feed, copy.quotes, keys);
      if (isPaused) replay.close();
    },
    onMoment: (moment) => {
      if (!isPaused) reached.value = { at: Date.parse(moment), since: performance.now() };
    },
    onEnd: ({ isWhole, reason }) => {
      replayEnd.value = isWhole ? "" : (reason ?? "");
    },
  });
  return replay;
}
