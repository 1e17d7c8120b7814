import { useEffect, useReducer, useRef } from "preact/hooks";

import { savedAt } from "./arrangement.ts";
import { age, milliseconds } from "./formats.ts";
import { FEEDS } from "./live.ts";
import { useValue } from "./observable.ts";
import { feedStates, limit, live, rest, useAnswer } from "./service.ts";
import { useWords } from "./words.ts";
import type { FeedName, MarketStatus } from "../client/index.ts";

const [EVERY_MS, STATUS_EVERY_MS, SAVED_FOR_MS] = [500, 30_000, 3000];
const SERVICE_NAMES: Record<FeedName, string> = { market: "stocks", crypto: "crypto", doviz: "doviz" };

/** What the page stands on: the feeds, how far behind the screen is, and what may still be asked. */
export function Status() {
  const say = useWords();
  useTicks();
  const asked = useAnswer(() => rest.call("GET /api/market/status"), "status", { everyMs: STATUS_EVERY_MS });
  const left = useValue(limit);
  const saved = Date.now() - savedAt.value < SAVED_FOR_MS;
  return (
    <footer class="status" aria-label={say("feed", { feed: "" })}>
      {FEEDS.map((name) => <FeedStatus key={name} name={name} status={asked.data} />)}
      <span class="grow" />
      {saved && <span role="status">{say("layoutSaved")}</span>}
      {left && <span class="left">{say("requestsLeft", { remaining: left.remaining, limit: left.limit })}</span>}
    </footer>
  );
}

function FeedStatus({ name, status }: { readonly name: FeedName; readonly status: MarketStatus | null }) {
  const say = useWords();
  const state = useValue(feedStates)[name] ?? "connecting";
  const { feed, delay } = live.figures[name];
  const { epoch, seq } = feed.copy;
  const silence = feed.lastFrameAt ? Date.now() - feed.lastFrameAt : null;
  const element = useRef<HTMLSpanElement>(null);
  // What the cells show and where they stand is written in the same frame.
  useEffect(() => live.onPaint(() => (element.current as HTMLElement).dataset["cursor"] = `${feed.copy.epoch}-${feed.copy.seq}`), [name]);
  const simulated = status?.feeds[SERVICE_NAMES[name]]?.simulated;
  return (
    <span class="feed" ref={element} data-feed={name} data-state={state}>
      <b>{say(name)}</b> <em>{say(state)}</em>
      {silence !== null && <span> {say("age", { age: age(silence) })}</span>}
      {epoch && <code title={`${epoch}-${seq}`}>…{epoch.slice(-4)}-{seq}</code>}
      {delay !== null && <span class="delay"> {say("delay", { delay: milliseconds(delay) })}</span>}
      {simulated && <mark>{say("simulated")}</mark>}
    </span>
  );
}

/** Draws again twice a second: ages grow by themselves. */
function useTicks(): void {
  const [, redraw] = useReducer((count: number, _: void) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(() => live.join(redraw), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
}
