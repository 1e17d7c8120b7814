import { Backoff } from "./backoff.ts";
import { ConnectionFailed } from "./errors.ts";

export interface RetryOptions {
  /** Repetitions of a request at most; 3 by default. */
  readonly retries?: number;
  /** Seconds of `Retry-After` that are too long to wait; 60 by default. */
  readonly longestWait?: number;
  /** Seconds until an unanswered request counts as failed; 30 by default. */
  readonly timeout?: number;
}

/** Answers that a repetition may improve. */
const PASSING = new Set([429, 502, 503, 504]);
/** Without a `Retry-After`, the service does not have what the request asks for. */
const UNAVAILABLE = 503;
/** Methods that a repetition does no harm to. */
const IDEMPOTENT = new Set(["GET", "HEAD", "PUT", "DELETE"]);
/** Own wait at most where the service asks for one. */
const OWN_WAIT_MS = 1000;

/** Returns a `fetch` that repeats idempotent requests, after the wait that the service asks for. */
export function fetchWithRetries(send: typeof fetch, options: RetryOptions = {}): typeof fetch {
  const { retries = 3, longestWait = 60, timeout = 30 } = options;
  return async (input, init = {}) => {
    const backoff = new Backoff();
    for (let left = isRepeatable(init) ? retries : 0; ; left -= 1) {
      const outcome = await attempt(send, input, init, timeout * 1000);
      const wait = waitAfter(outcome, backoff);
      const isFinal = left <= 0 || wait === null || wait > longestWait * 1000;
      if (outcome instanceof ConnectionFailed) {
        if (isFinal) throw outcome;
      } else if (isFinal) return outcome;
      else void outcome.body?.cancel();
      await sleep(wait, init.signal);
    }
  };
}

function isRepeatable({ method = "GET", headers }: RequestInit): boolean {
  return IDEMPOTENT.has(method) || new Headers(headers).has("Idempotency-Key");
}

/** Returns the answer, or the failure to get one. Throws if the caller gave the request up. */
async function attempt(
  send: typeof fetch,
  input: Parameters<typeof fetch>[0],
  init: RequestInit,
  timeoutMs: number,
): Promise<Response | ConnectionFailed> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    return await send(input, { ...init, signal: init.signal ? AbortSignal.any([init.signal, limit]) : limit });
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    return new ConnectionFailed(`no answer from ${String(input)}`, { cause });
  }
}

/** Returns the milliseconds to wait before a repetition; null if it would not help. */
function waitAfter(outcome: Response | ConnectionFailed, backoff: Backoff): number | null {
  if (outcome instanceof ConnectionFailed) return backoff.wait();
  if (!PASSING.has(outcome.status)) return null;
  const asked = retryAfter(outcome.headers);
  // The service itself lacks a provider; a proxy's answer has no such id.
  if (asked === null && outcome.status === UNAVAILABLE && outcome.headers.has("X-Request-ID")) return null;
  const own = backoff.wait();
  return asked === null ? own : Math.max(asked * 1000, Math.min(own, OWN_WAIT_MS));
}

/** Returns the seconds of `Retry-After`, which may also be a date; null without one. */
export function retryAfter(headers: Headers): number | null {
  const text = headers.get("Retry-After")?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text);
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? null : Math.max(0, (moment - Date.now()) / 1000);
}

/** Waits; throws if the caller gives up meanwhile. */
function sleep(milliseconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", giveUp);
      resolve();
    }, milliseconds);
    if (signal?.aborted) giveUp();
    else signal?.addEventListener("abort", giveUp, { once: true });
  });
}
