import assert from "node:assert/strict";
import { test } from "node:test";

import type { Command } from "../commands.ts";
import { type Choice, choiceOf, fold, matchCommands, type Section, sectionsOf, soughtIn } from "../palette-list.ts";

const command = (id: string, title: string): Command => ({ id, title: () => title, run: () => undefined });
const COMMANDS = [
  command("goToNews", "Go to pane: News"),
  command("themeDark", "Theme: Dark"),
  command("light", "Tema: Işıklı"),
];
const choice = (key: string, name = key): Choice => ({ feed: "market", key, name, venue: "NASDAQ" });

const ids = (commands: readonly Command[]): string[] => commands.map((each) => each.id);
const shown = (sections: readonly Section[]): [string, string[]][] =>
  sections.map(({ title, items }) => [
    title,
    items.map((each) => (each.kind === "command" ? each.command.id : each.choice.key)),
  ]);

test("letter case, accents and Turkish letters make no difference", () => {
  assert.equal(fold("İŞ Bankası"), "is bankasi");
  assert.equal(fold("ÇEYREK Altın"), "ceyrek altin");
});

test("every word begins a word of the command's title, in any order", () => {
  assert.deepEqual(ids(matchCommands(COMMANDS, "dark the")), ["themeDark"]);
  assert.deepEqual(ids(matchCommands(COMMANDS, "isik")), ["light"]);
  assert.deepEqual(ids(matchCommands(COMMANDS, "> news")), ["goToNews"]);
  assert.deepEqual(ids(matchCommands(COMMANDS, "ark")), []);
  assert.equal(matchCommands(COMMANDS, "").length, 3);
});

test("without a text the recent choices come first, then all commands", () => {
  const sections = sectionsOf(" ", [], [choice("AAPL")], COMMANDS);
  assert.deepEqual(shown(sections), [
    ["recent", ["AAPL"]],
    ["commands", ["goToNews", "themeDark", "light"]],
  ]);
  assert.deepEqual(shown(sectionsOf("", [], [], COMMANDS))[0]?.[0], "commands");
});

test("symbols come before commands", () => {
  const sections = sectionsOf("news", [choice("NWSA", "News Corporation")], [choice("AAPL")], COMMANDS);
  assert.deepEqual(shown(sections), [
    ["symbols", ["NWSA"]],
    ["commands", ["goToNews"]],
  ]);
});

test("a command whose title the text begins comes first, unless the text is a symbol", () => {
  assert.deepEqual(shown(sectionsOf("them", [choice("ABC")], [], COMMANDS))[0], ["commands", ["themeDark"]]);
  assert.deepEqual(shown(sectionsOf("THEM", [choice("THEM")], [], COMMANDS))[0], ["symbols", ["THEM"]]);
  assert.deepEqual(shown(sectionsOf("th", [choice("ABC")], [], COMMANDS))[0], ["symbols", ["ABC"]]);
});

test("a text that begins with > finds commands only", () => {
  assert.equal(soughtIn(" > dark"), "");
  assert.equal(soughtIn(" gold "), "gold");
});

test("a result shows its exchange, its bank or its market", () => {
  const result = { type: "doviz", ticker: "isbank-USD", name: "ABD Doları", currency: "TRY" } as const;
  const found = choiceOf({ ...result, exchange: null, source: "İş Bankası" });
  assert.deepEqual(found, { feed: "doviz", key: "isbank-USD", name: "ABD Doları", venue: "İş Bankası" });
});
