// Runs the tests of the page's computations.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const folder = mkdtempSync(join(tmpdir(), "quotecast-page-"));
try {
  const tests = new URL("../page/tests/", import.meta.url).pathname;
  const entryPoints = readdirSync(tests)
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(tests, name));
  await build({
    entryPoints,
    outdir: folder,
    entryNames: "[name]",
    bundle: true,
    platform: "node",
    format: "esm",
    outExtension: { ".js": ".mjs" },
  });
  const found = readdirSync(folder).map((name) => join(folder, name));
  const command = ["--test", "--test-reporter=spec", ...found];
  process.exitCode = spawnSync(process.execPath, command, { stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
