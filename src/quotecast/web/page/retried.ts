import { ApiError, Backoff, RateLimited } from "quotecast-client";

const RETRY_MS = 2000;
/** Time of the last reload for code, in Unix milliseconds. */
const STORED = "quotecast.reloadedAt";
const RELOAD_EVERY_MS = 60_000;

/** Loads code, with retries: a restart of the service fails a request, and no reader should have to repeat it. */
export async function retried<T>(load: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await load();
    } catch {
      if (tries > 1) await reloadForCode();
      await new Promise((wait) => setTimeout(wait, RETRY_MS));
    }
  }
}

/**
 * Reloads the page if the service answers, at most once a minute: Firefox before 155 remembers that an import failed,
 * and never asks again.
 */
export async function reloadForCode(): Promise<void> {
  const isAway = await fetch("/api/health", { cache: "no-store" }).then(
    (answer) => !answer.ok,
    () => true,
  );
  if (isAway || Date.now() - Number(sessionStorage.getItem(STORED)) < RELOAD_EVERY_MS) return;
  sessionStorage.setItem(STORED, String(Date.now()));
  location.reload();
}

/**
 * Calls the service until it answers, ever more seldom. Throws the last error once nobody wants the answer, and an error
 * that would only repeat.
 */
export async function answered<T>(ask: () => Promise<T>, isWanted: () => boolean): Promise<T> {
  const backoff = new Backoff();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (isFinal(error) || !isWanted()) throw error;
      await new Promise((wait) => setTimeout(wait, waitAfter(error, backoff)));
      if (!isWanted()) throw error;
    }
  }
}

/** Codes of data that the service lacks: nobody knows for how long. */
const UNAVAILABLE: ReadonlySet<string> = new Set(["no_provider", "no_data"]);

const isFinal = (error: unknown): boolean =>
  error instanceof ApiError &&
  !(error instanceof RateLimited) &&
  (error.status < 500 || UNAVAILABLE.has(error.code ?? ""));

const waitAfter = (error: unknown, backoff: Backoff): number =>
  error instanceof RateLimited ? backoff.waitAsTold(error.retryAfter * 1000) : backoff.wait();
