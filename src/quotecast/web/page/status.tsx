import { useEffect, useRef, useState } from "preact/hooks";
import type { FeedName, MarketStatus } from "quotecast-client";
import { Banner } from "./banner.tsx";
import { age, dayAndTime, exchangeClock, milliseconds } from "./formats.ts";
import { isNotSaved, savedAt } from "./layout-store.ts";
import { FEEDS } from "./live.ts";
import { Menu } from "./menu.tsx";
import { type FeedView, outageOf } from "./outages.ts";
import { ReplayBar } from "./replay-bar.tsx";
import { rewind } from "./replay-state.ts";
import { feedStates, limit, live, rest, useAnswer } from "./service.ts";
import { isStorageFull } from "./stored.ts";
import { say, type Word } from "./words.ts";

const [EVERY_MS, STATUS_EVERY_MS, SAVED_FOR_MS] = [500, 30_000, 3000];
const SERVICE_NAMES: Record<FeedName, string> = { market: "stocks", crypto: "crypto", doviz: "doviz" };
const SESSIONS: Record<MarketStatus["session"], Word> = {
  pre: "sessionPre",
  regular: "sessionRegular",
  post: "sessionPost",
  closed: "sessionClosed",
};
/** Display names that are not the capitalised identifier. */
const PROVIDERS: Record<string, string> = { genelpara: "GenelPara", tcmb: "TCMB" };

/** Status line: the state of each feed, the exchange's clock, and behind a button the numbers for developers. */
export function Status() {
  const now = useNow();
  const [isOpen, setOpen] = useState(false);
  const answer = useAnswer(() => rest.call("GET /api/market/status"), "status", { everyMs: STATUS_EVERY_MS });
  const saved = savedState(now);
  const sources = FEEDS.map((name) => answer.data?.feeds[SERVICE_NAMES[name]]);
  const allSimulated = sources.every((each) => each?.simulated);
  return (
    <footer class="status" aria-label={say("feed", { feed: "" })}>
      <Banner outage={outageOf(FEEDS.map(viewOf))} />
      {rewind.value && <ReplayBar start={rewind.value} />}
      {FEEDS.map((name) => (
        <FeedStatus key={name} name={name} status={answer.data} isMarked={!allSimulated} now={now} />
      ))}
      {allSimulated && <mark>{say("simulated")}</mark>}
      <span class="grow" />
      {saved && (
        <span class="saved" role="status">
          {say(saved)}
        </span>
      )}
      <time class="exchange">New York {exchangeClock(live.serverTime())}</time>
      <Menu class="details" label={say("feedDetails")} text={say("feedDetails")} isOpen={isOpen} setOpen={setOpen}>
        <Details now={now} />
      </Menu>
    </footer>
  );
}

/** Cursor, age and delay of each feed, and the requests that the limit leaves. */
function Details({ now }: { readonly now: number }) {
  const left = limit.value;
  return (
    <>
      {FEEDS.map((name) => {
        const { feed, delay } = live.figures[name];
        const parts = [
          feed.lastFrameAt && say("age", { age: age(now - feed.lastFrameAt) }),
          delay !== null && say("delay", { delay: milliseconds(delay) }),
        ];
        return (
          <p key={name}>
            <b>{say(name)}</b> {parts.filter(Boolean).join(" · ")}
            <code>
              {feed.copy.epoch}-{feed.copy.seq}
            </code>
          </p>
        );
      })}
      {left && <p class="left">{say("requestsLeft", { remaining: left.remaining, limit: left.limit })}</p>}
    </>
  );
}

/** Returns the word for the state of the last change to the layout; null for nothing to say. */
function savedState(now: number): Word | null {
  if (isNotSaved.value) return "layoutUnsaved";
  if (isStorageFull.value) return "notStored";
  return Math.abs(now - savedAt.value) < SAVED_FOR_MS ? "layoutSaved" : null;
}

function viewOf(name: FeedName): FeedView {
  const { lastFrameAt, lastQuotesAt } = live.figures[name].feed;
  return { name, state: feedStates.value[name] ?? "connecting", lastFrameAt, lastQuotesAt };
}

interface FeedStatusProps {
  readonly name: FeedName;
  readonly status: MarketStatus | null;
  /** Whether the feed has a mark of its own for simulated data. */
  readonly isMarked: boolean;
  /** The present, in Unix milliseconds. */
  readonly now: number;
}

function FeedStatus({ name, status, isMarked, now }: FeedStatusProps) {
  const state = feedStates.value[name] ?? "connecting";
  const { feed } = live.figures[name];
  const silence = feed.lastFrameAt ? now - feed.lastFrameAt : null;
  const element = useRef<HTMLSpanElement>(null);
  // The cursor changes in the same frame as the cells, so that both always match.
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
      {source && !source.simulated && <span> {PROVIDERS[source.provider] ?? capitalise(source.provider)}</span>}
      {source?.delaySeconds ? <span> {say("lateBy", { delay: age(1000 * source.delaySeconds, "short") })}</span> : null}
      {silence !== null && state !== "live" && <span> {say("age", { age: age(silence) })}</span>}
      {isMarked && source?.simulated && <mark>{say("simulated")}</mark>}
    </span>
  );
}

/** Returns the exchange's session, with the next opening while it is closed. */
function session(status: MarketStatus, nextOpen: string): string {
  const name = say(SESSIONS[status.session]);
  return status.marketOpen ? name : say("opensAt", { session: name, time: dayAndTime(nextOpen) });
}

const capitalise = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Returns the present (Unix milliseconds), updated twice a second, in a flush. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const update = () => setNow(Date.now());
    const timer = setInterval(() => live.onNextFlush(update), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
