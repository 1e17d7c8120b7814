import type { TestContext } from "node:test";

import { Backoff, Connection, type ConnectionOptions, JSON_TEXT } from "../src/index.ts";

export type Sent = Record<string, unknown>;

/** A socket without a server: the test sends the server's frames. */
export class FakeSocket {
  static made: FakeSocket[] = [];
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  onerror: (() => void) | null = null;
  closed = false;
  readonly sent: Sent[] = [];

  constructor(
    readonly url: string,
    readonly subprotocols: string[],
  ) {
    FakeSocket.made.push(this);
  }

  send(message: string): void {
    this.sent.push(JSON.parse(message));
  }

  close(): void {
    this.closed = true;
  }

  receive(...frames: object[]): void {
    for (const frame of frames) this.onmessage?.({ data: JSON.stringify(frame) });
  }

  break(code = 1006): void {
    this.onclose?.({ code });
  }

  /** Returns and forgets the commands so far, without pings. */
  commands(): Sent[] {
    return this.sent.splice(0).filter((command) => command.action !== "ping");
  }
}

/** Opens a connection over fake sockets and a fake clock; waits for reconnection are the shortest. */
export function openFake(context: TestContext, options: Partial<ConnectionOptions> = {}): Connection {
  const real = globalThis.WebSocket;
  globalThis.WebSocket = FakeSocket as unknown as typeof WebSocket;
  FakeSocket.made = [];
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const backoff = new Backoff(() => 0);
  const connection = new Connection({ address: "http://localhost", encoding: JSON_TEXT, backoff, ...options });
  context.after(() => {
    connection.close();
    globalThis.WebSocket = real;
  });
  return connection;
}

export const newest = (): FakeSocket => FakeSocket.made.at(-1) as FakeSocket;

export const HEARTBEAT_MS = 15_000;
export const welcome = (...feeds: string[]) => ({
  type: "welcome",
  feeds: Object.fromEntries(feeds.map((feed) => [feed, { epoch: "e", seq: 1 }])),
  heartbeatMs: HEARTBEAT_MS,
  limits: {},
});
