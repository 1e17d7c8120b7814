import assert from "node:assert/strict";
import { test } from "node:test";

import { Feed } from "../index.ts";
import { until } from "./service.ts";

/** A socket whose server's part the test plays. */
class Played {
  static readonly OPEN = 1;
  static readonly made: Played[] = [];
  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly sent: string[] = [];

  constructor(readonly address: string) {
    Played.made.push(this);
  }

  get since(): string | null {
    return new URL(this.address).searchParams.get("since");
  }

  send(message: string): void {
    this.sent.push(message);
  }

  close(): void {}

  open(): void {
    this.readyState = Played.OPEN;
    this.onopen?.();
  }

  snapshot(reason: string, epoch: string, ...tickers: string[]): void {
    const data = tickers.map((ticker) => ({ ticker }));
    this.onmessage?.({ data: JSON.stringify({ type: "snapshot", reason, epoch, seq: 1, data }) });
  }
}

/** Breaks the newest connection, and returns the one that the feed makes in its place. */
async function again(feed: Feed<"market">): Promise<Played> {
  const before = Played.made.length;
  Played.made.at(-1)?.onclose?.({ code: 1006 });
  feed.check();
  await until(() => Played.made.length > before, "another connection");
  return Played.made.at(-1) as Played;
}

test("a cursor never vouches for a symbol whose snapshot has not come", async (context) => {
  const real = globalThis.WebSocket;
  globalThis.WebSocket = Played as unknown as typeof WebSocket;
  const feed = new Feed({ address: "http://localhost", feed: "market" });
  context.after(() => {
    feed.close();
    globalThis.WebSocket = real;
  });
  feed.follow(["AAPL"]);
  const first = Played.made[0] as Played;
  first.open();
  first.snapshot("resync", "a", "AAPL");

  const second = await again(feed);
  assert.equal(second.since, "a-1");
  feed.follow(["AAPL", "MSFT"]);
  second.open();
  assert.ok(second.sent.some((message) => message.includes("MSFT")));
  // Of the list in the address alone: another ingest leads by now.
  second.snapshot("resync", "b", "AAPL");

  const third = await again(feed);
  assert.equal(third.since, "none");
  third.open();
  third.snapshot("resync", "b", "AAPL", "MSFT");
  assert.equal((await again(feed)).since, "b-1");
});
