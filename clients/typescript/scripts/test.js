// Runs the tests of the client, against the service at QUOTECAST_URL.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const folder = mkdtempSync(join(tmpdir(), "quotecast-client-"));
try {
  const tests = new URL("../tests/", import.meta.url).pathname;
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
  const env = { ...process.env, CONFORMANCE: new URL("../../conformance/cases", import.meta.url).pathname };
  // Node 20 has WebSocket behind this flag; later ones accept it.
  const found = readdirSync(folder).map((name) => join(folder, name));
  process.exitCode =
    spawnSync(process.execPath, ["--experimental-websocket", "--test", ...found], { stdio: "inherit", env }).status ??
    1;
} finally {
  rmSync(folder, { recursive: true });
}
