import assert from "node:assert/strict";
import { test } from "node:test";
import { type AskPage, MOST_BARS, Past, type PastState } from "../panes/chart/past.ts";
import type { Candle } from "../panes/chart-bars.ts";

const START = Date.UTC(2026, 0, 1);
const bar = (minute: number): Candle => ({
  time: new Date(START + minute * 60_000).toISOString(),
  open: 1,
  high: 1,
  low: 1,
  close: minute,
});
const minutes = (bars: readonly Candle[]): number[] => bars.map((each) => each.close);
const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

interface Running {
  readonly past: Past;
  readonly asked: [string | undefined, string | null][];
  readonly states: PastState[];
  readonly waits: { seconds: number; again: () => void }[];
}

function run(ask: AskPage): Running {
  const running: Omit<Running, "past"> = { asked: [], states: [], waits: [] };
  const past = new Past({
    ask: (end, page) => {
      running.asked.push([end, page]);
      return ask(end, page);
    },
    waitAfter: (error) => (error as { seconds: number | null }).seconds,
    later: (again, seconds) => {
      running.waits.push({ seconds, again });
      return () => {};
    },
    onState: (state) => running.states.push(state),
  });
  return { past, ...running };
}

test("older bars come in ascending order, by one request at a time", async () => {
  const { past, asked, states } = run(async () => ({ bars: [bar(9), bar(8)], next: "later" }));
  const taken: number[][] = [];
  for (let each = 0; each < 3; each += 1) past.load([bar(10)], (older) => taken.push(minutes(older)));
  await settled();
  assert.deepEqual([taken, asked], [[[8, 9]], [[bar(10).time, null]]]);
  assert.deepEqual(states, ["loading", "more"]);
});

test("an empty page with a next one is followed, an empty last one is the beginning", async () => {
  const pages = { first: { bars: [], next: "second" }, second: { bars: [bar(1)], next: null } } as const;
  const { past, asked } = run(async (end, page) =>
    end === bar(1).time ? { bars: [], next: null } : page ? pages.second : pages.first,
  );
  const taken: number[][] = [];
  past.load([bar(10)], (older) => taken.push(minutes(older)));
  await settled();
  assert.deepEqual(asked, [
    [bar(10).time, null],
    [bar(10).time, "second"],
  ]);
  past.load([bar(1)], (older) => taken.push(minutes(older)));
  await settled();
  assert.deepEqual([taken, past.state], [[[1]], "start"]);
  past.load([bar(1)], () => assert.fail("nothing is older"));
  assert.equal(asked.length, 3);
});

test("a chart that begins later again searches from its new beginning", async () => {
  const { past, asked } = run(async () => ({ bars: [], next: null }));
  past.load([bar(1)], () => assert.fail("nothing is older"));
  await settled();
  assert.equal(past.state, "start");
  past.load([bar(50)], () => assert.fail("nothing is older"));
  await settled();
  assert.deepEqual(
    asked.map(([end]) => end),
    [bar(1).time, bar(50).time],
  );
});

test("a busy service is asked again when it allows", async () => {
  let isBusy = true;
  const { past, asked, waits } = run(async () => {
    if (isBusy) throw { seconds: 7 };
    return { bars: [bar(2)], next: null };
  });
  const taken: number[][] = [];
  const load = () => past.load([bar(3)], (older) => taken.push(minutes(older)));
  load();
  await settled();
  load();
  assert.deepEqual([past.state, waits[0]?.seconds, asked.length], ["waiting", 7, 1]);
  isBusy = false;
  waits[0]?.again();
  await settled();
  assert.deepEqual([taken, past.state], [[[2]], "more"]);
});

test("an error that a repetition repeats ends it", async () => {
  const { past } = run(async () => Promise.reject({ seconds: null }));
  past.load([bar(3)], () => assert.fail("no bars"));
  await settled();
  assert.equal(past.state, "failed");
});

test("a chart holds a bounded number of bars", async () => {
  const { past, asked } = run(async () => ({ bars: [bar(9), bar(8), bar(7)], next: "more" }));
  const held = Array.from({ length: MOST_BARS - 2 }, (_, index) => bar(10 + index));
  const taken: number[][] = [];
  past.load(held, (older) => taken.push(minutes(older)));
  await settled();
  assert.deepEqual([taken, past.state], [[[8, 9]], "full"]);
  past.load([bar(8), bar(9), ...held], () => assert.fail("no room"));
  assert.equal(asked.length, 1);
});

test("an ended chart takes no answer", async () => {
  const { past } = run(async () => ({ bars: [bar(9)], next: null }));
  past.load([bar(10)], () => assert.fail("the chart is gone"));
  past.end();
  await settled();
});
