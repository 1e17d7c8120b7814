import { signal } from "@preact/signals";

import { ApiError, type EventShown, RateLimited } from "quotecast-client";
import { rest } from "../service.ts";
import { session } from "../session.ts";
import { isRecord, sharedSignal } from "../stored.ts";

const WAIT_SECONDS = 25;
/** Pauses after an answer and after an error: the service takes 60 requests a minute. */
const [PAUSE_MS, RETRY_MS] = [1200, 5000];
const SHOWN_AT_MOST = 20;

interface Cursor {
  readonly user: string;
  /** Id of the last event that a window of this browser showed. */
  readonly last: number;
}

interface Message {
  readonly user: string;
  readonly events: readonly EventShown[];
}

/** Survives a reload: no event is shown twice. */
const cursor = sharedSignal<Cursor | null>(
  "alertCursor",
  null,
  (value): value is Cursor => isRecord(value) && typeof value.user === "string" && typeof value.last === "number",
);
/** Events that this window shows until the reader closes them, the newest first. */
export const shownEvents = signal<readonly EventShown[]>([]);
/** Counts the arrivals of events: lists of alerts and events are old then. */
export const arrivals = signal(0);

/**
 * Shows the events of the user who is logged in, until the returned function ends that.
 *
 * One window of this browser asks the service and passes the events on to the others; `notify` runs in that one.
 * Without locks (pages without HTTPS) each window asks.
 */
export function followEvents(user: string, notify: (event: EventShown) => void): () => void {
  const end = new AbortController();
  const channel = new BroadcastChannel("quotecast.alerts");
  const show = ({ user: owner, events }: Message) => {
    if (owner !== user) return;
    shownEvents.value = [...[...events].reverse(), ...shownEvents.value].slice(0, SHOWN_AT_MOST);
    arrivals.value += 1;
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => show(data);
  const tell = (events: readonly EventShown[]) => {
    channel.postMessage({ user, events });
    show({ user, events });
    for (const each of events) notify(each);
  };
  const { signal } = end;
  const run = () => Promise.race([askAgainAndAgain(user, tell, signal), ended(signal)]);
  if (navigator.locks) navigator.locks.request("quotecast.alerts", { signal }, run).catch(() => undefined);
  else void run();
  return () => {
    end.abort();
    channel.close();
    shownEvents.value = [];
  };
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

async function askAgainAndAgain(
  user: string,
  tell: (events: readonly EventShown[]) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let pause = PAUSE_MS;
    try {
      const events = await askOnce(user);
      if (!signal.aborted && events.length) tell(events);
    } catch (error) {
      pause = error instanceof RateLimited ? error.retryAfter * 1000 : RETRY_MS;
      if (error instanceof ApiError && error.status === 401) return;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Returns the events after the cursor, which moves past them; a new browser starts with those to come. */
async function askOnce(user: string): Promise<readonly EventShown[]> {
  const known = cursor.value?.user === user ? cursor.value.last : null;
  const query = known === null ? { limit: 1 } : { after: known, wait: WAIT_SECONDS };
  const { events, last } = await rest.call("GET /api/alerts/events", { query });
  if (session.value?.user.id !== user) return [];
  cursor.value = { user, last };
  return known === null ? [] : events;
}
