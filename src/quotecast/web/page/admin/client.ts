// Calls of /api/admin. The token lives as long as this tab: no other tab or page reads it, and no cookie has it.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { say } from "./words.ts";

const STORED = "quotecast.operator";
const RETRY_MS = 5000;
/** Milliseconds between two signs of use. */
const RENEW_MS = 60_000;

/** The operator's token; empty while nobody is signed in. */
export const token = signal(sessionStorage.getItem(STORED) ?? "");
/** The text on the form: why a session ended. */
export const ended = signal("");

token.subscribe((value) => {
  if (value) sessionStorage.setItem(STORED, value);
  else sessionStorage.removeItem(STORED);
});

/** A refusal of the service. */
export class Refused extends Error {
  readonly status: number;
  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}

/** Calls a route, and returns its answer. Throws Refused, or TypeError without an answer. */
export async function call<T>(method: "GET" | "POST", path: string, body?: unknown): Promise<T> {
  const sent = token.value;
  const headers: Record<string, string> = sent ? { Authorization: `Bearer ${sent}` } : {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(`/api/admin${path}`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    cache: "no-store",
    credentials: "omit",
  });
  if (answer.ok) return (answer.status === 204 ? undefined : await answer.json()) as T;
  const problem = (await answer.json().catch(() => ({}))) as { detail?: string };
  if (answer.status === 401 && sent && token.value === sent) {
    ended.value = say("sessionEnded");
    token.value = "";
  }
  throw new Refused(answer.status, problem.detail ?? String(answer.status));
}

/** Returns an error in words. */
export const explain = (error: unknown): string => (error instanceof Refused ? error.message : say("offline"));

export interface Answer<T> {
  readonly data: T | null;
  readonly error: unknown;
  readonly again: () => void;
}

/** Returns the answer of a path: asks when it changes and, with `everyMs`, again and again. The last one stays. */
export function useAnswer<T>(path: string, everyMs = 0): Answer<T> {
  const [state, setState] = useState<{ path: string; data: T | null; error: unknown }>({
    path,
    data: null,
    error: null,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async () => {
      let wait = everyMs;
      try {
        const data = await call<T>("GET", path);
        if (isCurrent) setState({ path, data, error: null });
      } catch (error) {
        if (isCurrent) setState((before) => ({ path, data: before.path === path ? before.data : null, error }));
        wait = RETRY_MS;
      }
      if (isCurrent && wait) timer = setTimeout(() => void run(), wait);
    };
    void run();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [path, everyMs, round]);
  const isShown = state.path === path;
  return {
    data: isShown ? state.data : null,
    error: isShown ? state.error : null,
    again: () => setRound((count) => count + 1),
  };
}

/** Renews the session while somebody uses the page: its own polls do not count as use. */
export function renewOnUse(): void {
  let renewedAt = Date.now();
  const renew = () => {
    if (!token.value || Date.now() - renewedAt < RENEW_MS) return;
    renewedAt = Date.now();
    call("GET", "/session").catch(() => undefined);
  };
  for (const name of ["pointerdown", "keydown"]) addEventListener(name, renew, { passive: true });
}
