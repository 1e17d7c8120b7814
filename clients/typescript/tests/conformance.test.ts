import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { type Case, playOnCopies } from "./cases.ts";
import { isOffered, playOnConnection } from "./conformance.ts";

const FOLDER = process.env.CONFORMANCE ?? "../conformance/cases";
const CASES: Case[] = readdirSync(FOLDER).map((name) => JSON.parse(readFileSync(join(FOLDER, name), "utf8")));

for (const each of CASES) test(`a copy: ${each.name}`, () => playOnCopies(each));

for (const each of CASES.filter(isOffered)) test(`a connection: ${each.name}`, () => playOnConnection(each));
