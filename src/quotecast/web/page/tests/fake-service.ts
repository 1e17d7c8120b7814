/** A service for the page's stores, in place of the network; tests import this before the stores. */
import { mock } from "node:test";
import "./fake-browser.ts";

interface Call {
  /** Method, path and query, such as `GET /api/alerts`. */
  readonly route: string;
  readonly body: unknown;
  readonly answer: (status: number, body: unknown, headers?: Record<string, string>) => Promise<void>;
  readonly fail: () => Promise<void>;
}

/** The requests without an answer, the oldest first. */
export const calls: Call[] = [];

/** Runs all that the last answers began. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((done) => setImmediate(done));
}

/** Lets time pass for the page's timers. */
export async function pass(milliseconds: number): Promise<void> {
  now += milliseconds;
  mock.timers.tick(milliseconds);
  await settle();
}

/** Takes the oldest request without an answer; it must be of the given route. */
export async function call(route: string): Promise<Call> {
  await settle();
  const found = calls.shift();
  if (found?.route !== route) throw new Error(`${found?.route ?? "no request"} in place of ${route}`);
  return found;
}

/** Answers the oldest request, which must be of the given route. */
export async function answer(
  route: string,
  body: unknown = null,
  status = 200,
  headers: Record<string, string> = {},
): Promise<void> {
  await (await call(route)).answer(status, body, headers);
}

class Socket {
  readonly readyState = 0;
  send(): void {}
  close(): void {}
}

let now = 0;
const define = (name: string, value: unknown): void => {
  Object.defineProperty(globalThis, name, { configurable: true, value });
};
define("location", { origin: "https://quotes.example.com", search: "" });
define("document", { addEventListener: () => {} });
define("WebSocket", Socket);
define("fetch", (address: string, { method, body }: { method: string; body?: string }) => {
  const route = `${method} ${address.replace(location.origin, "")}`;
  return new Promise<Response>((resolve, reject) => {
    // The live connection is no matter of the stores.
    if (route === "POST /api/auth/ticket") return;
    const end = async (act: () => void) => {
      act();
      await settle();
    };
    calls.push({
      route,
      body: body === undefined ? undefined : JSON.parse(body),
      answer: (status, answered, headers = {}) =>
        end(() => resolve(new Response(status === 204 ? null : JSON.stringify(answered), { status, headers }))),
      fail: () => end(() => reject(new TypeError("offline"))),
    });
  });
});
mock.method(performance, "now", () => now);
// The page's timers would keep the test's process alive.
mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
