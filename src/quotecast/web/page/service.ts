import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { FeedState } from "../client/index.ts";
import { ApiError, type RateLimit, RateLimited, Rest } from "../client/index.ts";
import { Live } from "./live.ts";
import { notice } from "./notices.tsx";
import { session } from "./session.ts";
import { say, type Word } from "./words.ts";

/** What was left after the last limited answer. */
export const limit = signal<RateLimit | null>(null);
/** Raised whenever a feed's state changed. */
export const feedStates = signal<Record<string, FeedState>>({});

export const rest = new Rest({
  address: location.origin,
  token: () => session.value?.token ?? null,
  onLimit: (latest) => {
    limit.value = latest;
  },
  onVoidToken: (token) => {
    if (session.value?.token !== token) return;
    session.value = null;
    notice.value = say("sessionEnded");
  },
});

export const live = new Live(location.origin, (feed, state) => {
  feedStates.value = { ...feedStates.value, [feed]: state };
});

/** What went wrong, in words for who looks at the page. */
export function explained(error: unknown): string {
  if (error instanceof RateLimited) return say("busy", { seconds: Math.ceil(error.retryAfter) });
  if (error instanceof ApiError) {
    const fields = (error.problem.errors ?? []).map((each) => `${each.field}: ${each.message}`);
    return [error.message, ...fields].join(" · ");
  }
  return say("offline");
}

/** Tells the reader what failed; a void token is told of elsewhere. */
export function tell(error: unknown, word: Word = "failed"): void {
  if (!(error instanceof ApiError && error.status === 401)) notice.value = say(word, { detail: explained(error) });
}

export interface Asked<T> {
  readonly data: T | null;
  readonly error: unknown;
  /** Asks again now. */
  readonly again: () => void;
}

const RETRY_MS = 5000;

/**
 * An answer of the service, asked for anew when `key` changes and every `everyMs` while `active`.
 * After a refusal it asks when the limit allows, after another failure in a moment; the last good answer stays.
 */
export function useAnswer<T>(ask: () => Promise<T>, key: string, { everyMs = 0, active = true } = {}): Asked<T> {
  const [state, setState] = useState<{ key: string; data: T | null; error: unknown }>({ key, data: null, error: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!active) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let current = true;
    const later = (milliseconds: number) => {
      if (current && milliseconds > 0) timer = setTimeout(run, milliseconds);
    };
    const run = async () => {
      try {
        const data = await ask();
        if (current) setState({ key, data, error: null });
        later(everyMs);
      } catch (error) {
        if (current) setState((before) => ({ key, data: before.key === key ? before.data : null, error }));
        later(waitAfter(error));
      }
    };
    void run();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [key, active, everyMs, round]);
  const isCurrent = state.key === key;
  const again = () => setRound((count) => count + 1);
  return { data: isCurrent ? state.data : null, error: isCurrent ? state.error : null, again };
}

/** Milliseconds until it is worth asking again; 0: never, the answer would be the same. */
function waitAfter(error: unknown): number {
  if (error instanceof RateLimited) return error.retryAfter * 1000 + 100;
  return error instanceof ApiError && error.status < 500 ? 0 : RETRY_MS;
}
