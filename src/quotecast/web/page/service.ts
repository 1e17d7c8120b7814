import { effect, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { FeedState } from "quotecast-client";
import { ApiError, Connection, type RateLimit, RateLimited, Rest, userTicket } from "quotecast-client";
import { checkWithBrowser, Live } from "./live.ts";
import { notice } from "./notices.tsx";
import { isOver, loggedInAgain, refuseToken, session, validToken } from "./session.ts";
import { say, type Word } from "./words.ts";

/** Rate limit of the last answer with one. */
export const limit = signal<RateLimit | null>(null);
/** State of each feed, by name. */
export const feedStates = signal<Record<string, FeedState>>({});

const options = {
  address: location.origin,
  onLimit: (latest: RateLimit) => {
    limit.value = latest;
  },
};
/** The routes with the rights of the page's user; when the session ends, requests wait for the next login. */
export const rest = new Rest({
  ...options,
  token: () => session.value?.token ?? null,
  onVoidToken: (token) => {
    noteRefusal(token);
    return loggedInAgain(token);
  },
});
/** Quotes go on for everybody while the page asks for the password. */
const unattended = new Rest({
  ...options,
  token: () => validToken.value,
  onVoidToken: (token) => {
    noteRefusal(token);
    return false;
  },
});

function noteRefusal(token: string): void {
  if (refuseToken(token)) notice.value = say("sessionEnded");
}

/** Returns a ticket for a feed with the rights of the page's user; null where none is needed. */
export async function ticket(): Promise<string | null> {
  if (validToken.value === null) return null;
  return userTicket(unattended).catch((error) => {
    if (isOver.value) return null;
    throw error;
  });
}

/** Returns a session for an email and a password. */
export const logInAgain = (email: string, password: string) =>
  unattended.call("POST /api/auth/login", { body: { email, password } });

/**
 * Returns a connection with the rights of the page's user, and the function that ends it. Calls `onRights` when a login or a
 * logout changed them.
 */
export function connect(onRights = () => {}): { connection: Connection; close: () => void } {
  const connection = new Connection({ address: location.origin, ticket });
  const endChecks = checkWithBrowser(connection);
  let [token, user] = [validToken.value, session.value?.user.id];
  const endSession = effect(() => {
    const [nextToken, nextUser] = [validToken.value, session.value?.user.id];
    const [isOther, hasChanged] = [nextUser !== user, nextToken !== token];
    [token, user] = [nextToken, nextUser];
    // A reader who logs out of a session that is over has a guest's connection already.
    const renewed = hasChanged ? connection.renew() : Promise.resolve(true);
    void renewed.then((isNew) => isNew && isOther && onRights());
  });
  const close = () => {
    endChecks();
    endSession();
    connection.close();
  };
  return { connection, close };
}

/** Counts the logins and logouts after which the service shows the user another market. */
const rights = signal(0);
const { connection } = connect(() => {
  rights.value += 1;
});
export const live = new Live(connection, (feed, state) => {
  feedStates.value = { ...feedStates.value, [feed]: state };
});

/** Returns an error in the reader's words. */
export function explain(error: unknown): string {
  if (error instanceof RateLimited) return say("busy", { seconds: Math.ceil(error.retryAfter) });
  if (error instanceof ApiError) {
    const fields = (error.problem.errors ?? []).map((each) => `${each.field}: ${each.message}`);
    return [error.message, ...fields].join(" · ");
  }
  return say("offline");
}

/** Shows an error as a notice, except for a void token, which has a notice of its own. */
export function showError(error: unknown, word: Word = "failed"): void {
  if (!(error instanceof ApiError && error.status === 401)) notice.value = say(word, { detail: explain(error) });
}

export interface Answer<T> {
  readonly data: T | null;
  readonly error: unknown;
  /** Calls the route again now. */
  readonly again: () => void;
}

const RETRY_MS = 5000;
/** Codes of data that the service does not have at all. */
const UNAVAILABLE: ReadonlySet<string> = new Set(["no_provider", "not_offered"]);

/**
 * Returns an answer of the service: calls `ask` when `name` or the user's rights change, and every `everyMs` while `active`.
 *
 * After an error it retries: over the limit when the service allows, otherwise soon. The last good answer stays.
 */
export function useAnswer<T>(ask: () => Promise<T>, name: string, { everyMs = 0, active = true } = {}): Answer<T> {
  const key = `${rights.value} ${name}`;
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
        await live.begun;
        if (!current) return;
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

/** Milliseconds until a retry; 0 for an error that a retry would only repeat. */
function waitAfter(error: unknown): number {
  if (error instanceof RateLimited) return error.retryAfter * 1000 + 100;
  const isFinal = error instanceof ApiError && (error.status < 500 || UNAVAILABLE.has(error.code ?? ""));
  return isFinal ? 0 : RETRY_MS;
}
