// Builds the package into dist/: one module and its types per source.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");

/** The compiler renames imports of `./feed.ts` in modules, not in their types. */
function renameImports() {
  for (const name of readdirSync(dist, { recursive: true }).filter((each) => each.endsWith(".d.ts"))) {
    const text = readFileSync(join(dist, name), "utf8");
    writeFileSync(join(dist, name), text.replace(/(from "\.[^"]*)\.ts"/g, '$1.js"'));
  }
}

rmSync(dist, { recursive: true, force: true });
const compiler = join(root, "node_modules/.bin/tsc");
const { status } = spawnSync(compiler, ["--project", join(root, "tsconfig.build.json")], { stdio: "inherit" });
if (status === 0) renameImports();
process.exitCode = status ?? 1;
