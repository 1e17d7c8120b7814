// Rows of the overview: sums and newest values over the reports of all processes.
import type { Counted, FeedDay, FeedReport, Overview, SlowClient } from "./types.ts";
import type { Word } from "./words.ts";

/** Returns a text in the reader's language. */
type Say = (word: Word, values?: Record<string, string | number>) => string;

/** Clients in the table of slow ones. */
const MOST_SLOW = 20;

export interface FeedRow extends FeedReport {
  readonly leader: string;
  readonly leadsForMs: number;
  readonly leaseSeconds: number;
}

export interface SlowRow extends SlowClient {
  readonly keyName: string;
}

/** Returns each feed as the worker sees it that heard of it last, with the ingest that leads it. */
export function feedRows({ processes }: Overview): FeedRow[] {
  const newest = new Map<string, FeedReport>();
  for (const feed of processes.flatMap((each) => each.worker?.feeds ?? [])) {
    const known = newest.get(feed.feed);
    if (!known || feed.silence_seconds < known.silence_seconds) newest.set(feed.feed, feed);
  }
  const leaders = processes.flatMap(({ host, pid, at, ingest }) =>
    (ingest?.feeds ?? [])
      .filter((each) => each.standing === "leading")
      .map((each) => ({
        feed: each.feed,
        leader: `${host} ${pid}`,
        leadsForMs: (at - each.since) * 1000,
        leaseSeconds: ingest?.lease_seconds ?? 0,
      })),
  );
  return [...newest.values()].map((feed) => {
    const leader = leaders.find((each) => each.feed === feed.feed);
    return { ...feed, leader: "", leadsForMs: 0, leaseSeconds: 0, ...leader };
  });
}

/** Returns the percentage of a day's minutes with a bar, rounded down; null on a date without a session. */
export function coverage({ figures, minutes }: FeedDay): number | null {
  // The last minute may be counted before it is stored.
  return minutes ? Math.min(100, Math.floor((1000 * figures.covered) / minutes) / 10) : null;
}

/** Returns what the upstreams of each ingest did, with the calls that their plans leave. */
export function upstreamRows({ processes }: Overview, say: Say): { process: string; what: string; count: number }[] {
  return processes.flatMap(({ host, pid, ingest }) => {
    if (!ingest) return [];
    const named = (about: string, counts: readonly Counted[]) =>
      counts.map(({ of, count }) => ({ process: `${host} ${pid}`, what: `${about}: ${of.join(" ")}`, count }));
    return [
      ...named(say("connectionsEnded"), ingest.connections),
      ...named(say("calls"), ingest.calls),
      ...named(say("refused"), ingest.refusals),
      ...named(say("plan"), ingest.budgets),
    ];
  });
}

/** Returns the keys with the most sockets over all workers. */
export function keyRows({ processes, keys }: Overview) {
  const sums = new Map<string, { key: string; name: string; sockets: number; requests: number }>();
  for (const { key, sockets, requests } of processes.flatMap((each) => each.worker?.keys ?? [])) {
    const sum = sums.get(key) ?? { key, name: keys[key] ?? "", sockets: 0, requests: 0 };
    sums.set(key, { ...sum, sockets: sum.sockets + sockets, requests: sum.requests + requests });
  }
  return [...sums.values()].sort((a, b) => b.sockets - a.sockets || b.requests - a.requests);
}

/** Returns the clients with the most unsent bytes over all workers. */
export function slowRows({ processes, keys }: Overview): SlowRow[] {
  const all = processes.flatMap((each) => each.worker?.slow ?? []);
  const slowest = all.sort((a, b) => b.unsent_bytes - a.unsent_bytes || b.paused_seconds - a.paused_seconds);
  return slowest.slice(0, MOST_SLOW).map((each) => ({ ...each, keyName: keys[each.key] ?? each.key }));
}

/** Returns what the limits of all workers refused: by group of paths, then handshakes, slow clients and logins. */
export function limitRows(
  { processes }: Overview,
  say: Say,
): { what: string; refused: number; admitted: number | null }[] {
  const rows = new Map<string, { what: string; refused: number; admitted: number | null }>();
  const add = (what: string, refused: number, admitted: number | null) => {
    const sum = rows.get(what);
    const both = admitted === null ? null : (sum?.admitted ?? 0) + admitted;
    rows.set(what, { what, refused: (sum?.refused ?? 0) + refused, admitted: both });
  };
  for (const { worker } of processes) {
    if (!worker) continue;
    for (const { group, refused, admitted } of worker.limits) add(group, refused, admitted);
    for (const [reason, count] of Object.entries(worker.handshakes_refused))
      add(say("handshakes", { reason }), count, null);
    for (const outcome of ["refused", "limited"])
      add(say("loginOutcome", { outcome }), worker.logins[outcome] ?? 0, null);
    add(say("expelled"), worker.expelled, null);
  }
  return [...rows.values()].filter((each) => each.refused || each.admitted).sort((a, b) => b.refused - a.refused);
}
