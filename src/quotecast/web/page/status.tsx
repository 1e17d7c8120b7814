import { useEffect, useRef, useState } from "preact/hooks";
import type { FeedName, MarketStatus } from "../client/index.ts";
import { savedAt } from "./arrangement.ts";
import { Banner } from "./banner.tsx";
import { age, dayAndTime, milliseconds } from "./formats.ts";
import { FEEDS } from "./live.ts";
import { marketStatus } from "./market-hours.ts";
import { type FeedView, outageOf } from "./outages.ts";
import { feedStates, limit, live, rest, useAnswer } from "./service.ts";
import { say, type Word } from "./words.ts";

const [EVERY_MS, STATUS_EVERY_MS, SAVED_FOR_MS] = [500, 30_000, 3000];
const SERVICE_NAMES: Record<FeedName, string> = { market: "stocks", crypto: "crypto", doviz: "doviz" };
const SESSIONS: Record<MarketStatus["session"], Word> = {
  pre: "sessionPre",
  regular: "sessionRegular",
  post: "sessionPost",
  closed: "sessionClosed",
};
/** Providers that are not written as their names begin. */
const PROVIDERS: Record<string, string> = { genelpara: "GenelPara", tcmb: "TCMB" };

/** What the page stands on: the feeds, how far behind the screen is, and what may still be asked. */
export function Status() {
  const now = useNow();
  const asked = useAnswer(() => rest.call("GET /api/market/status"), "status", { everyMs: STATUS_EVERY_MS });
  useEffect(() => {
    if (asked.data) marketStatus.value = asked.data;
  }, [asked.data]);
  const left = limit.value;
  const saved = now - savedAt.value < SAVED_FOR_MS;
  return (
    <footer class="status" aria-label={say("feed", { feed: "" })}>
      <Banner outage={outageOf(FEEDS.map(viewOf))} />
      {FEEDS.map((name) => (
        <FeedStatus key={name} name={name} status={asked.data} now={now} />
      ))}
      <span class="grow" />
      {saved && <span role="status">{say("layoutSaved")}</span>}
      {left && <span class="left">{say("requestsLeft", { remaining: left.remaining, limit: left.limit })}</span>}
    </footer>
  );
}

function viewOf(name: FeedName): FeedView {
  const { lastFrameAt, lastQuotesAt } = live.figures[name].feed;
  return { name, state: feedStates.value[name] ?? "connecting", lastFrameAt, lastQuotesAt };
}

interface FeedStatusProps {
  readonly name: FeedName;
  readonly status: MarketStatus | null;
  /** The present, in Unix milliseconds. */
  readonly now: number;
}

function FeedStatus({ name, status, now }: FeedStatusProps) {
  const state = feedStates.value[name] ?? "connecting";
  const { feed, delay } = live.figures[name];
  const { epoch, seq } = feed.copy;
  const silence = feed.lastFrameAt ? now - feed.lastFrameAt : null;
  const element = useRef<HTMLSpanElement>(null);
  // What the cells show and where they stand is written in the same frame.
  useEffect(() => {
    const showCursor = () => {
      (element.current as HTMLElement).dataset.cursor = `${feed.copy.epoch}-${feed.copy.seq}`;
    };
    return live.onPaint(showCursor);
  }, [name]);
  const source = status?.feeds[SERVICE_NAMES[name]];
  return (
    <span class="feed" ref={element} data-feed={name} data-state={state}>
      <b>{say(name)}</b> <em>{say(state)}</em>
      {name === "market" && status?.nextOpen && <span> {session(status, status.nextOpen)}</span>}
      {source && !source.simulated && <span> {PROVIDERS[source.provider] ?? capitalised(source.provider)}</span>}
      {source?.delaySeconds ? <span> {say("lateBy", { delay: age(1000 * source.delaySeconds, "short") })}</span> : null}
      {silence !== null && <span class="age"> {say("age", { age: age(silence) })}</span>}
      {epoch && (
        <code title={`${epoch}-${seq}`}>
          …{epoch.slice(-4)}-{seq}
        </code>
      )}
      {delay !== null && <span class="delay"> {say("delay", { delay: milliseconds(delay) })}</span>}
      {source?.simulated && <mark>{say("simulated")}</mark>}
    </span>
  );
}

/** The exchange's session, and while it is closed when it opens. */
function session(status: MarketStatus, nextOpen: string): string {
  const name = say(SESSIONS[status.session]);
  return status.marketOpen ? name : say("opensAt", { session: name, time: dayAndTime(nextOpen) });
}

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** The present (Unix milliseconds), twice a second, in step with what else is painted. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => live.join(() => setNow(Date.now())), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
