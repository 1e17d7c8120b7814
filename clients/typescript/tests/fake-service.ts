import type { FakeSocket, Sent } from "./fake-socket.ts";

type Value = string | number | null;
export type FakeQuote = Record<string, Value>;
const GROUP = "in:";

type Symbols = ReadonlySet<string> | "all";

const [MOVING, FIXED] = [
  ["price", "change", "volume"],
  ["type", "name"],
];

interface Entry {
  quote: FakeQuote | null;
  /** Seq of the last change, and of the last change of a field that does not move. */
  seq: number;
  fixedSeq: number;
}

/** Returns a quote with the selected moving fields. */
export const select = (quote: FakeQuote, fields: readonly string[] | "all"): FakeQuote =>
  Object.fromEntries(
    ["ticker", ...(fields === "all" ? MOVING : fields), ...FIXED].map((field) => [field, quote[field] as Value]),
  );

/** The quotes of one feed, as a worker has them. */
export class FakeFeed {
  readonly entries = new Map<string, Entry>();
  /** All quotes as of each seq. */
  readonly history: ReadonlyMap<string, FakeQuote>[] = [new Map()];
  epoch = "a";
  seq = 0;
  isLoaded = false;

  change(key: string, fields: FakeQuote | null): void {
    this.seq += 1;
    const known = this.entries.get(key);
    const quote = fields && { ticker: key, price: 0, change: null, volume: null, type: "q", name: "", ...known?.quote };
    const isFixed = !known?.quote || !fields || "name" in fields;
    const fixedSeq = isFixed ? this.seq : known.fixedSeq;
    this.entries.set(key, { quote: quote && { ...quote, ...fields }, seq: this.seq, fixedSeq });
    this.history.push(
      new Map([...this.entries].flatMap(([each, { quote: held }]) => (held ? [[each, held] as const] : []))),
    );
  }

  /** Another ingest takes over: cursors of before mean nothing. */
  restart(): void {
    this.epoch += "a";
  }
}

export const has = (symbols: Symbols, key: string): boolean =>
  symbols === "all" || symbols.has(key) || [...symbols].some((each) => each.startsWith(GROUP) && each.includes(key));

/** What a server knows of one feed on one connection. */
class Subscription {
  symbols: Symbols = new Set();
  fields: readonly string[] = MOVING;
  seq: number;

  constructor(
    readonly feed: FakeFeed,
    readonly isInRows: boolean,
  ) {
    this.seq = feed.seq;
  }

  changes(since: number): [string, Entry][] {
    return [...this.feed.entries].filter(([key, { seq }]) => seq > since && this.has(key));
  }

  /** The group `in:ABC` has the symbols A, B and C. */
  has(key: string): boolean {
    return has(this.symbols, key);
  }

  /** Returns the update with the changes after the cursor; nothing if there are none. */
  advance(): object[] {
    const changes = this.changes(this.seq);
    const data = changes.flatMap(([, entry]) => (entry.quote ? [this.#item(entry, entry.fixedSeq > this.seq)] : []));
    const removed = changes.filter(([, { quote }]) => !quote).map(([key]) => key);
    this.seq = this.feed.seq;
    return changes.length ? [{ type: "update", ...this.mark, data, ...(removed.length ? { removed } : {}) }] : [];
  }

  snapshot(reason: string, entries: [string, Entry][]): object {
    const columns = this.isInRows ? { columns: ["ticker", ...this.fields, ...FIXED] } : {};
    const data = entries.flatMap(([, entry]) => (entry.quote ? [this.#item(entry, true)] : []));
    return { type: "snapshot", ...this.mark, reason, ...columns, data };
  }

  get mark(): { epoch: string; seq: number } {
    return { epoch: this.feed.epoch, seq: this.seq };
  }

  #item({ quote }: Entry, isWhole: boolean): object {
    const columns = ["ticker", ...this.fields, ...(isWhole ? FIXED : [])];
    const row = columns.map((column) => quote?.[column]);
    return this.isInRows ? row : Object.fromEntries(columns.map((column, index) => [column, row[index]]));
  }
}

/** The server's side of one connection: it answers commands and sends frames when a test says. */
export class FakeServer {
  readonly subscriptions: Map<string, Subscription>;
  /** Frames on their way to the client. */
  readonly outbox: object[] = [];

  constructor(
    readonly socket: FakeSocket,
    feeds: ReadonlyMap<string, FakeFeed>,
    isInRows: boolean,
  ) {
    this.subscriptions = new Map([...feeds].map(([name, feed]) => [name, new Subscription(feed, isInRows)]));
    const marks = [...feeds].map(([name, { epoch, seq }]) => [name, { epoch, seq }]);
    this.outbox.push({ type: "welcome", feeds: Object.fromEntries(marks), heartbeatMs: 15_000, limits: {} });
  }

  /** Answers the client's oldest command. */
  obey(): void {
    const command = this.socket.sent.shift();
    if (!command || command.action === "ping") return;
    const subscription = this.subscriptions.get(command.feed as string) as Subscription;
    const { feed, id } = command;
    if (!subscription.feed.isLoaded) this.outbox.push({ type: "error", feed, code: 503, detail: "no data", id });
    else this.#send(command, subscription, this.#answer(command, subscription));
  }

  /** Sends an update of a feed, or a heartbeat. */
  tick(name: string): void {
    const subscription = this.subscriptions.get(name) as Subscription;
    const [update] = subscription.advance();
    const state = subscription.feed.isLoaded ? "live" : "down";
    this.outbox.push({ ...(update ?? { type: "heartbeat", ...subscription.mark, state, market: "open" }), feed: name });
  }

  /** Delivers the oldest frame to the client. */
  deliver(): void {
    const frame = this.outbox.shift();
    if (frame) this.socket.receive(frame);
  }

  #send({ feed, id, action, symbols: named }: Sent, { symbols }: Subscription, frames: object[]): void {
    const list = symbols === "all" ? "all" : [...symbols].sort();
    const unknown = action === "subscribe" && Array.isArray(named) ? named.filter((each) => !has(symbols, each)) : [];
    const rejected = unknown.map((symbol) => ({ symbol, code: 404 }));
    const acknowledgement = { type: "subscribed", symbols: list, rejected, interval: 250, id };
    for (const frame of frames) this.outbox.push({ ...("type" in frame ? frame : acknowledgement), feed });
  }

  /** Returns the frames of an answer, of which an empty one stands for the acknowledgement. */
  #answer(command: Sent, subscription: Subscription): object[] {
    const update = subscription.advance();
    const named = command.symbols === "all" ? "all" : (command.symbols as string[]);
    if (command.action === "unsubscribe") {
      const { symbols } = subscription;
      const isEmpty = named === "all" || symbols === "all";
      subscription.symbols = isEmpty ? new Set() : new Set([...symbols].filter((each) => !named.includes(each)));
      return [...update, {}];
    }
    if (command.fields) subscription.fields = command.fields === "all" ? MOVING : (command.fields as string[]);
    const before = subscription.symbols;
    const known = named === "all" || before === "all" ? "all" : named.filter((key) => this.#find(subscription, key));
    subscription.symbols = known === "all" ? "all" : new Set([...before, ...known]);
    if (command.since !== undefined)
      return [{}, this.#resume(subscription, command.since as string, known === "all" || known === named)];
    const added = subscription.changes(-1).filter(([key]) => !has(before, key));
    return [...update, {}, ...(added.length ? [subscription.snapshot("subscribe", added)] : [])];
  }

  #find({ feed }: Subscription, key: string): boolean {
    return key.startsWith(GROUP) || Boolean(feed.entries.get(key)?.quote);
  }

  #resume(subscription: Subscription, since: string, isKnown: boolean): object {
    const [epoch, seq] = [since.split("-")[0], Number(since.split("-")[1])];
    const changes = epoch === subscription.feed.epoch ? subscription.changes(seq) : null;
    return changes?.every(([, { quote }]) => quote) && isKnown
      ? subscription.snapshot("resume", changes)
      : subscription.snapshot("resync", subscription.changes(-1));
  }
}
