const RETRY_MS = 2000;

/** Loads code, with retries: a restart of the service fails a request, and no reader should have to repeat it. */
export const retried = <T>(load: () => Promise<T>): Promise<T> =>
  load().catch(() => new Promise((wait) => setTimeout(wait, RETRY_MS)).then(() => retried(load)));
