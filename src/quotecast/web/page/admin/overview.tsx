import { age, compact, milliseconds, plain } from "../formats.ts";
import { explain, useAnswer } from "./client.ts";
import { coverage, type FeedRow, feedRows, keyRows, limitRows, type SlowRow, slowRows, upstreamRows } from "./rows.ts";
import { type Column, Table } from "./table.tsx";
import type { Overview as Answer, FeedDay, Report } from "./types.ts";
import { say } from "./words.ts";

const EVERY_MS = 3000;
const EVERY_MINUTE_MS = 60_000;

const FEEDS: readonly Column<FeedRow>[] = [
  { word: "feed", cell: (row) => row.feed },
  { word: "provider", cell: (row) => `${row.provider}${row.simulated ? ` (${say("simulated")})` : ""}` },
  {
    word: "state",
    cell: (row) => (
      <span class={row.state === "live" && !row.overdue ? "good" : "bad"}>
        {row.overdue ? `${row.state}, ${say("overdue")}` : row.state}
      </span>
    ),
  },
  { word: "epoch", cell: (row) => row.epoch },
  { word: "seq", cell: (row) => plain(row.seq), isNumber: true },
  { word: "age", cell: (row) => age(row.silence_seconds * 1000), isNumber: true },
  { word: "delay", cell: (row) => age(row.delay_seconds * 1000), isNumber: true },
  { word: "leader", cell: (row) => row.leader || say("nobody") },
  { word: "leads", cell: (row) => (row.leader ? age(row.leadsForMs) : "–"), isNumber: true },
  { word: "lease", cell: (row) => (row.leader ? age(row.leaseSeconds * 1000) : "–"), isNumber: true },
];

const WORKERS: readonly Column<Report>[] = [
  { word: "process", cell: (row) => `${row.host} ${row.pid}` },
  { word: "version", cell: (row) => row.version },
  { word: "started", cell: (row) => age((row.at - row.started_at) * 1000), isNumber: true },
  { word: "sockets", cell: (row) => plain(row.worker?.sockets), isNumber: true },
  { word: "http", cell: (row) => plain(row.worker?.http), isNumber: true },
  { word: "requestsPerSecond", cell: (row) => plain(row.worker?.requests_per_second), isNumber: true },
  { word: "lag", cell: (row) => milliseconds((row.worker?.lag_seconds ?? 0) * 1000), isNumber: true },
  { word: "state", cell: (row) => (row.worker?.limits_alone ? <span class="bad">{say("windowAlone")}</span> : "") },
];

const sum = (counts: readonly number[]) => counts.reduce((before, each) => before + each, 0);

const DAYS: readonly Column<FeedDay>[] = [
  { word: "day", cell: (row) => row.date },
  { word: "feed", cell: (row) => row.feed },
  { word: "coverage", cell: (row) => plain(coverage(row)), isNumber: true },
  { word: "stale", cell: ({ figures }) => age(figures.staleSeconds * 1000), isNumber: true },
  { word: "refused", cell: ({ figures }) => plain(sum(Object.values(figures.refused))), isNumber: true },
  {
    word: "ageP99",
    cell: ({ figures }) => (figures.ageP99Ms === null ? "–" : milliseconds(figures.ageP99Ms)),
    isNumber: true,
  },
];

const SLOW: readonly Column<SlowRow>[] = [
  { word: "client", cell: (row) => row.connection },
  { word: "feed", cell: (row) => `${row.feed} ${row.transport}` },
  { word: "address", cell: (row) => row.address },
  { word: "key", cell: (row) => row.keyName },
  { word: "plan", cell: (row) => row.plan },
  { word: "unsent", cell: (row) => compact(row.unsent_bytes), isNumber: true },
  { word: "waits", cell: (row) => age(row.paused_seconds * 1000), isNumber: true },
  { word: "behind", cell: (row) => plain(row.behind), isNumber: true },
];

/** Feeds, upstreams, workers, sockets by key, slow clients and limits: what all processes report. */
export function Overview() {
  const { data, error } = useAnswer<Answer>("/overview", EVERY_MS);
  return (
    <>
      {error !== null && (
        <p class="notice" role="alert">
          {explain(error)}
        </p>
      )}
      {data && !data.available && (
        <p class="notice" role="alert">
          {say("noReports")}
        </p>
      )}
      {data && <Tables overview={data} />}
    </>
  );
}

function Days() {
  const { data } = useAnswer<readonly FeedDay[]>("/quality?days=7", EVERY_MINUTE_MS);
  return <Table title={say("days")} columns={DAYS} rows={data ?? []} keyOf={(row) => `${row.date} ${row.feed}`} />;
}

function Tables({ overview }: { readonly overview: Answer }) {
  const workers = overview.processes.filter((each) => each.worker);
  return (
    <>
      <Table title={say("feeds")} columns={FEEDS} rows={feedRows(overview)} keyOf={(row) => row.feed} />
      <Days />
      <Table title={say("workers")} columns={WORKERS} rows={workers} keyOf={(row) => row.id} />
      <Table
        title={say("upstreams")}
        columns={[
          { word: "ingest", cell: (row) => row.process },
          { word: "what", cell: (row) => row.what },
          { word: "count", cell: (row) => plain(row.count), isNumber: true },
        ]}
        rows={upstreamRows(overview, say)}
        keyOf={(row) => `${row.process} ${row.what}`}
      />
      <Table
        title={say("socketsByKey")}
        columns={[
          { word: "key", cell: (row) => row.name },
          { word: "id", cell: (row) => row.key },
          { word: "sockets", cell: (row) => plain(row.sockets), isNumber: true },
          { word: "requests", cell: (row) => plain(row.requests), isNumber: true },
        ]}
        rows={keyRows(overview)}
        keyOf={(row) => row.key}
      />
      <Table title={say("slow")} columns={SLOW} rows={slowRows(overview)} keyOf={(row) => row.connection} />
      <Table
        title={say("limits")}
        columns={[
          { word: "what", cell: (row) => row.what },
          { word: "refused", cell: (row) => plain(row.refused), isNumber: true },
          { word: "admitted", cell: (row) => plain(row.admitted), isNumber: true },
        ]}
        rows={limitRows(overview, say)}
        keyOf={(row) => row.what}
      />
    </>
  );
}
