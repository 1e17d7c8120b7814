import assert from "node:assert/strict";
import { test } from "node:test";

import { coverage, feedRows, keyRows, limitRows, slowRows } from "../admin/rows.ts";
import type { Overview, Report, WorkerReport } from "../admin/types.ts";

const feed = (silence_seconds: number, seq: number) => ({
  feed: "stocks",
  provider: "simulator",
  simulated: true,
  state: "live",
  epoch: "e",
  seq,
  symbols: 1,
  silence_seconds,
  delay_seconds: 0,
  overdue: false,
});
const slow = (connection: string, unsent_bytes: number) => ({
  connection,
  feed: "stocks",
  transport: "websocket",
  address: "203.0.113.0/24",
  key: "k1",
  plan: "silver",
  paused_seconds: 1,
  unsent_bytes,
  behind: 2,
});
const worker = (given: Partial<WorkerReport>): WorkerReport => ({
  sockets: 0,
  http: 0,
  requests: 0,
  requests_per_second: 0,
  lag_seconds: 0,
  limits_alone: false,
  feeds: [],
  keys: [],
  slow: [],
  limits: [],
  handshakes_refused: {},
  expelled: 0,
  logins: {},
  ...given,
});
const process = (given: Partial<Report>): Report => ({
  id: "1-a",
  host: "here",
  pid: 1,
  version: "0",
  started_at: 0,
  at: 100,
  worker: null,
  ingest: null,
  ...given,
});
const overview = (processes: Report[]): Overview => ({ at: "", available: true, processes, keys: { k1: "Lobby" } });

test("a feed is that of the worker that heard it last, with its leader", () => {
  const led = { feed: "stocks", standing: "leading", since: 40, epochs: 1, seq: 9, failures: 0, heard_at: 0 };
  const counts = { connections: [], calls: [], refusals: [], budgets: [] };
  const ingest = process({ pid: 3, ingest: { lease_seconds: 3, feeds: [led], ...counts } });
  const workers = [5, 1].map((silence) => process({ worker: worker({ feeds: [feed(silence, 10 - silence)] }) }));
  const [row] = feedRows(overview([...workers, ingest]));
  assert.equal(row?.seq, 9);
  assert.deepEqual([row?.leader, row?.leadsForMs, row?.leaseSeconds], ["here 3", 60_000, 3]);
});

test("a feed that nobody leads has no leader", () => {
  const [row] = feedRows(overview([process({ worker: worker({ feeds: [feed(1, 1)] }) })]));
  assert.equal(row?.leader, "");
});

test("sockets and requests of a key are summed over workers", () => {
  const keys = [{ key: "k1", sockets: 2, requests: 3 }];
  const rows = keyRows(overview([process({ worker: worker({ keys }) }), process({ worker: worker({ keys }) })]));
  assert.deepEqual(rows, [{ key: "k1", name: "Lobby", sockets: 4, requests: 6 }]);
});

test("the slowest clients of all workers come first, twenty at most", () => {
  const many = Array.from({ length: 15 }, (_, index) => slow(`c${index}`, index));
  const more = [slow("most", 99), ...many];
  const rows = slowRows(
    overview([process({ worker: worker({ slow: many }) }), process({ worker: worker({ slow: more }) })]),
  );
  assert.equal(rows.length, 20);
  assert.deepEqual([rows[0]?.connection, rows[0]?.keyName], ["most", "Lobby"]);
});

test("limits are summed, and those that never refused or admitted are left out", () => {
  const limits = [{ group: "market", admitted: 5, refused: 2 }];
  const given = worker({ limits, handshakes_refused: { address_full: 7 }, logins: { refused: 1, limited: 0, ok: 9 } });
  const both = overview([process({ worker: given }), process({ worker: worker({ limits }) })]);
  const rows = limitRows(both, (word, values) => `${word} ${Object.values(values ?? {})}`);
  assert.deepEqual(
    rows.map(({ refused, admitted }) => [refused, admitted]),
    [
      [7, null],
      [4, 10],
      [1, null],
    ],
  );
});

test("the coverage of a day is rounded down, and there is none without a session", () => {
  const figures = { staleSeconds: 0, refused: {}, ageP99Ms: null };
  const of = (covered: number, minutes: number) =>
    coverage({ feed: "stocks", date: "2026-11-27", minutes, figures: { ...figures, covered } });
  assert.deepEqual([of(1439, 1440), of(210, 210), of(211, 210), of(0, 390), of(0, 0)], [99.9, 100, 100, 0, null]);
});
