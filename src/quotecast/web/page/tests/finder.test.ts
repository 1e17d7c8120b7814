import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Finder, type Found } from "../finder.ts";

/** A service that answers when the test says so, in any order. */
class Service {
  readonly asked: string[] = [];
  readonly #answers = new Map<string, { resolve: (found: string[]) => void; reject: (error: Error) => void }>();

  ask = (text: string): Promise<string[]> => {
    this.asked.push(text);
    return new Promise((resolve, reject) => this.#answers.set(text, { resolve, reject }));
  };

  async answer(text: string): Promise<void> {
    this.#answers.get(text)?.resolve([`found ${text}`]);
    await settle();
  }

  async fail(text: string): Promise<void> {
    this.#answers.get(text)?.reject(new Error("away"));
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

function started(): { service: Service; finder: Finder<string>; found: Found<string>[] } {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  const service = new Service();
  const found: Found<string>[] = [];
  return { service, found, finder: new Finder<string>(service.ask, (each) => found.push(each)) };
}

test("a text is looked up once its reader pauses, within 120 ms", () => {
  const { service, finder } = started();
  finder.seek("g");
  mock.timers.tick(50);
  finder.seek("go");
  mock.timers.tick(90);
  assert.deepEqual(service.asked, []);
  mock.timers.tick(30);
  assert.deepEqual(service.asked, ["go"]);
});

test("only the answer to the newest text counts, whatever their order", async () => {
  const { service, finder, found } = started();
  for (const text of ["g", "go"]) {
    finder.seek(text);
    mock.timers.tick(120);
  }
  await service.answer("go");
  await service.answer("g");
  assert.deepEqual(found, [{ text: "go", results: ["found go"], error: null }]);
});

test("an answer to an older text is dropped before the newer text is looked up", async () => {
  const { service, finder, found } = started();
  finder.seek("g");
  mock.timers.tick(120);
  finder.seek("go");
  await service.answer("g");
  assert.deepEqual(found, []);
});

test("in a hurry a text is looked up at once, and only once", () => {
  const { service, finder } = started();
  finder.seek("gold");
  finder.hurry();
  finder.hurry();
  mock.timers.tick(500);
  assert.deepEqual(service.asked, ["gold"]);
});

test("the empty text has no results and asks nothing", () => {
  const { service, finder, found } = started();
  finder.seek("g");
  finder.seek("");
  mock.timers.tick(500);
  assert.deepEqual(found, [{ text: "", results: [], error: null }]);
  assert.deepEqual(service.asked, []);
});

test("a failure is reported, and the text can be looked up again", async () => {
  const { service, finder, found } = started();
  finder.seek("gold");
  finder.hurry();
  await service.fail("gold");
  assert.deepEqual(found[0]?.error, new Error("away"));
  finder.again();
  await service.answer("gold");
  assert.deepEqual(found[1], { text: "gold", results: ["found gold"], error: null });
});
