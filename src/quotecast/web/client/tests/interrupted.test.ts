import assert from "node:assert/strict";
import { test } from "node:test";

import { Feed } from "../index.ts";
import { until } from "./service.ts";

/** A socket without a server: the test sends the server's frames. */
class FakeSocket {
  static readonly OPEN = 1;
  static readonly made: FakeSocket[] = [];
  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly sent: string[] = [];

  constructor(readonly address: string) {
    FakeSocket.made.push(this);
  }

  get since(): string | null {
    return new URL(this.address).searchParams.get("since");
  }

  send(message: string): void {
    this.sent.push(message);
  }

  close(): void {}

  open(): void {
    this.readyState = FakeSocket.OPEN;
    this.onopen?.();
  }

  snapshot(reason: string, epoch: string, ...tickers: string[]): void {
    const data = tickers.map((ticker) => ({ ticker }));
    this.onmessage?.({ data: JSON.stringify({ type: "snapshot", reason, epoch, seq: 1, data }) });
  }
}

/** Breaks the newest connection, and returns the one that the feed makes in its place. */
async function reconnect(feed: Feed<"market">): Promise<FakeSocket> {
  const before = FakeSocket.made.length;
  FakeSocket.made.at(-1)?.onclose?.({ code: 1006 });
  feed.check();
  await until(() => FakeSocket.made.length > before, "another connection");
  return FakeSocket.made.at(-1) as FakeSocket;
}

test("a cursor never covers a symbol whose snapshot has not come", async (context) => {
  const real = globalThis.WebSocket;
  globalThis.WebSocket = FakeSocket as unknown as typeof WebSocket;
  const feed = new Feed({ address: "http://localhost", feed: "market" });
  context.after(() => {
    feed.close();
    globalThis.WebSocket = real;
  });
  feed.follow(["AAPL"]);
  const first = FakeSocket.made[0] as FakeSocket;
  first.open();
  first.snapshot("resync", "a", "AAPL");

  const second = await reconnect(feed);
  assert.equal(second.since, "a-1");
  feed.follow(["AAPL", "MSFT"]);
  second.open();
  assert.ok(second.sent.some((message) => message.includes("MSFT")));
  // A snapshot of the list in the URL only: another ingest leads by now.
  second.snapshot("resync", "b", "AAPL");

  const third = await reconnect(feed);
  assert.equal(third.since, "none");
  third.open();
  third.snapshot("resync", "b", "AAPL", "MSFT");
  assert.equal((await reconnect(feed)).since, "b-1");
});
