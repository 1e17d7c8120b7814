/** Plays the cases of clients/conformance on a connection to a fake server. No module of Node: browsers run it, too. */
import { Backoff, Connection, type Feed, type FeedName, JSON_TEXT, ROWS } from "../src/index.ts";
import { CaseSocket } from "./case-socket.ts";
import {
  type Asked,
  type ByFeed,
  type Case,
  comparable,
  compareAll,
  type Frame,
  fill,
  type Json,
  require,
  type Step,
  text,
} from "./cases.ts";
import { FakeClock } from "./fake-clock.ts";

/** Longer than the first wait before a reconnection, and shorter than the silence that counts as a loss. */
const RETRY_MS = 1000;

/** Throws if a connection whose server sends the frames of the case has another copy, or asks for something else. */
export function playOnConnection(given: Case): void {
  const clock = new FakeClock();
  const run = new Run(given, clock);
  try {
    for (const [number, step] of given.steps.entries()) run.take(number, step);
  } finally {
    run.close();
    clock.restore();
  }
}

/** What a case asks of a client that this one does not offer. */
export const isOffered = ({ steps }: Case): boolean =>
  !JSON.stringify(steps[0]).includes('"snapshot"') && !JSON.stringify(steps[0]).includes('"at"');

class Run {
  readonly #sockets: CaseSocket[] = [];
  readonly #connection: Connection;
  readonly #feeds = new Map<FeedName, Feed<FeedName>>();
  readonly #wanted = new Map<FeedName, string[] | "all">();
  /** Feeds of whose list the server does not know a name: the client asks again for all, with `none`. */
  readonly #unsure = new Set<FeedName>();
  /** The right answers of a reconnection, until the client has asked. */
  #expected: readonly ByFeed<Asked>[] | null = null;

  constructor(
    private readonly given: Case,
    private readonly clock: FakeClock,
  ) {
    const sockets = this.#sockets;
    this.#connection = new Connection({
      address: "http://localhost",
      encoding: given.subprotocol.includes("rows") ? ROWS : JSON_TEXT,
      backoff: new Backoff(() => 0.5),
      WebSocket: class extends CaseSocket {
        constructor() {
          super();
          sockets.push(this);
        }
      },
    });
  }

  close(): void {
    this.#connection.close();
  }

  take(number: number, step: Step): void {
    const [kind = "", value] = Object.entries(step)[0] ?? [];
    const where = `step ${number}: ${kind}`;
    if (kind === "connect") this.#connect(this.#byFeed<Asked>(value as Json));
    else if (kind === "frame") this.#receive(where, value as Frame);
    else if (kind === "send") this.#send(value as Json);
    else if (kind === "rest") fill(this.#feed((value as Json).feed).copy, value as Json);
    else if (kind === "copy") compareAll(this.given, number, value as Json, (feed) => this.#feed(feed).copy);
    else if (kind === "close") this.#break(value as number);
    else if (kind === "resumes") this.#expectReturn(where, value as boolean, step.after_ms as number | undefined);
    else if (kind === "watchdog_ms") this.#expectWatchdog(where, value as number);
    else if (kind === "reconnect") {
      this.#expected = [value as Json, ...((step.or as Json[]) ?? [])].map((each) => this.#byFeed<Asked>(each));
      if (this.#socket.isGreeted) this.#break(1006);
      this.clock.tick(RETRY_MS);
    } else throw new Error(`${where} is an unknown step`);
  }

  get #socket(): CaseSocket {
    return this.#sockets.at(-1) as CaseSocket;
  }

  #feed(name: unknown): Feed<FeedName> {
    const feed = (name ?? this.given.feed) as FeedName;
    const known = this.#feeds.get(feed) ?? this.#connection.feed<FeedName>(feed);
    this.#feeds.set(feed, known);
    return known;
  }

  #byFeed<T>(value: Json): ByFeed<T> {
    return (this.given.feed === "all" ? value : { [this.given.feed]: value }) as ByFeed<T>;
  }

  #connect(asked: ByFeed<Asked>): void {
    for (const [name, { symbols, fields, bars }] of Object.entries(asked) as [FeedName, Asked][]) {
      const options = { ...(fields ? { fields } : {}), ...(bars ? { bars } : {}) };
      const feed = this.#connection.feed<FeedName>(name, options);
      this.#feeds.set(name, feed);
      this.#wanted.set(name, symbols);
      feed.follow(symbols);
    }
  }

  #send({ action, feed, symbols, fields, bars }: Json): void {
    const name = (feed ?? this.given.feed) as FeedName;
    const wanted = this.#wanted.get(name) ?? [];
    if (fields) this.#feed(name).select(fields as "price"[]);
    if (bars) this.#feed(name).selectBars(bars as "1m");
    if (!symbols || (action !== "subscribe" && action !== "unsubscribe")) return;
    const list =
      action === "unsubscribe"
        ? symbols === "all" || wanted === "all"
          ? []
          : wanted.filter((each) => !(symbols as string[]).includes(each))
        : symbols === "all" || wanted === "all"
          ? "all"
          : [...new Set([...wanted, ...(symbols as string[])])];
    this.#wanted.set(name, list);
    this.#feed(name).follow(list);
  }

  #receive(where: string, frame: Frame): void {
    const { feed } = this.given;
    const isWelcome = frame.type === "welcome";
    const { epoch, seq } = frame;
    const sent =
      feed === "all"
        ? frame
        : isWelcome
          ? { ...frame, feeds: { [feed]: { epoch, seq } } }
          : { ...frame, ...(frame.type === "heartbeat" ? { state: frame.feed } : {}), feed };
    const name = sent.feed as FeedName;
    if ((frame.rejected as unknown[] | undefined)?.length) this.#unsure.add(name);
    const id = frame.type === "subscribed" ? { id: this.#socket.lastId(name) } : {};
    this.#socket.receive({ ...sent, ...id });
    if (isWelcome && this.#expected) this.#checkAsked(where);
  }

  /** Compares the commands of a new connection with the right answers. */
  #checkAsked(where: string): void {
    const asked: ByFeed<object> = {};
    for (const { action, feed, symbols, since, fields, bars, barsSince } of this.#socket.commands)
      if (action === "subscribe" && Array.isArray(symbols) ? symbols.length : symbols)
        asked[feed as FeedName] = comparable({
          ...{ symbols, since, fields: fields === "all" ? undefined : fields, bars, bars_since: barsSince },
        } as Asked);
    const answers = (this.#expected ?? []).flatMap((each) => [each, this.#askAfresh(each)]);
    const right = answers.map((each) =>
      Object.fromEntries(
        Object.entries(each)
          .filter(([, { symbols }]) => symbols.length)
          .map(([name, value]) => [name, comparable(value)]),
      ),
    );
    this.#expected = null;
    if (!right.some((each) => text(each) === text(asked)))
      throw new Error(`${where}: asked ${text(asked)} instead of one of ${text(right)}`);
  }

  /** Returns an answer in which the feeds with an unknown name ask for all of their list. */
  #askAfresh(answer: ByFeed<Asked>): ByFeed<Asked> {
    const feeds = [...this.#unsure].filter((name) => answer[name]);
    const changed = feeds.map((name) => {
      const { bars_since: _, ...rest } = answer[name] as Asked;
      return [name, { ...rest, symbols: this.#wanted.get(name) ?? [], since: "none" }];
    });
    return { ...answer, ...Object.fromEntries(changed) };
  }

  #break(code: number): void {
    this.#socket.isClosed = true;
    this.#socket.onclose?.({ code });
  }

  #expectReturn(where: string, resumes: boolean, afterMs: number | undefined): void {
    const before = this.#sockets.length;
    if (afterMs !== undefined) {
      this.clock.tick(0.8 * afterMs - 1);
      require(`${where} too early`, this.#sockets.length, before);
      this.clock.tick(0.4 * afterMs + 1);
    } else this.clock.tick(resumes ? RETRY_MS : 60_000);
    require(where, this.#sockets.length > before, resumes);
  }

  #expectWatchdog(where: string, milliseconds: number): void {
    const socket = this.#socket;
    this.clock.tick(milliseconds - 1);
    require(`${where} too early`, socket.isClosed, false);
    this.clock.tick(1);
    require(where, socket.isClosed, true);
  }
}
