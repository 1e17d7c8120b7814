import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { type Connection, type Encoding, type Feed, type FeedName, JSON_TEXT, ROWS } from "../src/index.ts";
import { FakeFeed, type FakeQuote, FakeServer, has, select } from "./fake-service.ts";
import { newest, openFake } from "./fake-socket.ts";

const [SEQUENCES, STEPS] = [150, 120];
const NAMES = ["market", "crypto"] as const;
const KEYS = [..."ABCDEFGH"];
const GROUPS = ["in:ABC", "in:CDE"];
const FIELDS = [["price"], ["change", "volume"], "all"] as const;

/** A generator with a seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A client and its server, of which each step is drawn. */
class Run {
  readonly feeds = new Map<string, FakeFeed>(NAMES.map((name) => [name, new FakeFeed()]));
  readonly copies: Map<string, Feed<FeedName>>;
  server: FakeServer;
  readonly #connection: Connection;
  readonly #draw: () => number;

  constructor(
    private readonly context: TestContext,
    private readonly encoding: Encoding,
    seed: number,
  ) {
    this.#draw = random(seed);
    this.#connection = openFake(context, { encoding });
    this.copies = new Map(NAMES.map((name) => [name, this.#connection.feed<FeedName>(name)]));
    this.server = this.#connect();
  }

  step(): void {
    const name = this.#pick(NAMES);
    const feed = this.feeds.get(name) as FakeFeed;
    const copy = this.copies.get(name) as Feed<FeedName>;
    const weighted: [weight: number, step: () => unknown][] = [
      [20, () => this.#change(feed)],
      [20, () => this.server.tick(name)],
      [20, () => this.#obey()],
      [40, () => this.server.deliver()],
      [6, () => copy.follow(this.#draw() < 0.2 ? "all" : this.#list())],
      [3, () => copy.select(this.#pick(FIELDS) as readonly "price"[] | "all")],
      [5, () => this.#reconnect()],
      [1, () => feed.restart()],
    ];
    const steps = weighted.flatMap(([weight, step]) => Array.from({ length: weight }, () => step));
    this.#pick(steps)();
  }

  #list(): string[] {
    const [keys, groups] = [this.#draw(), this.#draw() / 2];
    return [...KEYS.filter(() => this.#draw() < keys), ...GROUPS.filter(() => this.#draw() < groups)];
  }

  /** Delivers everything that is on its way. */
  settle(): void {
    for (const [name, feed] of this.feeds) {
      feed.isLoaded = true;
      this.server.tick(name);
    }
    while (this.server.outbox.length || this.server.socket.sent.length) {
      while (this.server.outbox.length) this.server.deliver();
      while (this.server.socket.sent.length) this.#obey();
    }
    for (const name of NAMES) this.server.tick(name);
    while (this.server.outbox.length) this.server.deliver();
  }

  /** Returns the quotes that the client should have, by feed. */
  expected(): object {
    return Object.fromEntries(NAMES.map((name) => [name, this.#truth(name)]));
  }

  held(): object {
    return Object.fromEntries(NAMES.map((name) => [name, sorted(this.copies.get(name)?.copy.quotes ?? [])]));
  }

  #truth(name: string): object {
    const subscription = this.server.subscriptions.get(name);
    const quotes = [...(this.feeds.get(name)?.entries ?? [])].flatMap(([key, { quote }]): [string, object][] => {
      if (!quote || !subscription?.has(key)) return [];
      return [[key, select(quote, subscription.fields)]];
    });
    return sorted(quotes);
  }

  /** Answers a command; a cursor in it promises that the copy has the whole list as of that point. */
  #obey(): void {
    const { feed: name, since, symbols, fields } = this.server.socket.sent[0] ?? {};
    const feed = this.feeds.get(name as string);
    const copy = this.copies.get(name as string)?.copy;
    if (feed && copy && since === `${feed.epoch}-${copy.seq}`)
      for (const [key, quote] of feed.history[copy.seq] ?? [])
        if (has(symbols === "all" ? symbols : new Set(symbols as string[]), key))
          assert.deepEqual(copy.quotes.get(key), select(quote, fields as string[] | "all"));
    this.server.obey();
  }

  #change(feed: FakeFeed): void {
    const value = Math.floor(this.#draw() * 1000);
    const changes: (FakeQuote | null)[] = [
      { price: value },
      { volume: value },
      { name: `${value}`, price: value },
      null,
    ];
    feed.isLoaded = true;
    feed.change(this.#pick(KEYS), this.#pick(changes));
  }

  #reconnect(): void {
    newest().break();
    this.#connection.check();
    this.context.mock.timers.tick(0);
    this.server = this.#connect();
  }

  #connect(): FakeServer {
    return new FakeServer(newest(), this.feeds, this.encoding === ROWS);
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#draw() * choices.length)] as T;
  }
}

const sorted = (quotes: Iterable<[string, object]>) => Object.fromEntries([...quotes].sort());

for (const encoding of [ROWS, JSON_TEXT])
  test(`${encoding.subprotocol}: copies equal the server's quotes after random sequences`, async (context) => {
    for (let seed = 0; seed < SEQUENCES; seed += 1)
      await context.test(`seed ${seed}`, (inner) => {
        const run = new Run(inner, encoding, seed);
        for (let step = 0; step < STEPS; step += 1) run.step();
        run.settle();
        assert.deepEqual(run.held(), run.expected());
      });
  });
