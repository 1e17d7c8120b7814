// Builds the page into dist/: file names have content hashes, compressed forms are beside each file.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as zlib from "node:zlib";
import { build } from "esbuild";
import { rollup } from "rollup";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** The build takes the place of the last one when it is whole, for a running service may read that. */
const NEW = "dist.new";
const dist = join(root, NEW);
/** Bytes below which compression is not worth it. */
const COMPRESSED_FROM = 1024;

/** Files whose names have no hash, for other programs name them: browsers ask for them each time. */
const NAMED = ["favicon.svg", "manifest.webmanifest", "icons"];

const COMPRESSORS = {
  br: (data) => zlib.brotliCompressSync(data),
  gz: (data) => zlib.gzipSync(data, { level: 9 }),
  // Node has Zstandard since 22.15; without it browsers take Brotli.
  ...(zlib.zstdCompressSync && {
    zst: (data) => zlib.zstdCompressSync(data, { params: { [zlib.constants.ZSTD_c_compressionLevel]: 19 } }),
  }),
};

/** The TypeScript client: the page uses its sources. */
const CLIENT = "../../../clients/typescript/src/index.ts";

const OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  minify: true,
  legalComments: "eof",
  alias: { "quotecast-client": join(root, CLIENT) },
};

/** Scripts that the start does not need are joined up to this size, where the same panes need them. */
const CHUNK_BYTES = 5000;

/** Bundles the script and the style of a page; returns their paths and those of the scripts that load later. */
async function bundle(name, script, style) {
  const options = {
    ...OPTIONS,
    target: ["es2022", "safari16"],
    jsx: "automatic",
    jsxImportSource: "preact",
    entryNames: "[name]-[hash]",
    metafile: true,
  };
  const assets = `${NEW}/assets`;
  const { metafile } = await build({ ...options, entryPoints: { [`${name}-style`]: style }, outdir: assets });
  const parts = `${NEW}/parts`;
  await build({ ...options, entryPoints: { [name]: script }, entryNames: "[name]", outdir: parts, splitting: true });
  // esbuild gives code that panes share files of its own, and the start would load twenty; Rollup puts it into one.
  const joined = await rollup({ input: join(root, parts, `${name}.js`), logLevel: "warn" });
  const { output } = await joined.write({
    dir: join(root, assets),
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: (chunk) => `${chunk.name.replace(/-[A-Z0-9]{8}$/, "")}-[hash].js`,
    experimentalMinChunkSize: CHUNK_BYTES,
  });
  rmSync(join(root, parts), { recursive: true });
  const names = [
    ...Object.keys(metafile.outputs).map((path) => basename(path)),
    ...output.map((each) => each.fileName),
  ];
  return names.map((each) => `/assets/${each}`);
}

/** Writes the page and the files that it names; returns the hash of all, which is the page's version. */
function writePage(outputs) {
  const outputLike = (pattern) => outputs.find((path) => pattern.test(path));
  const filled = (name, style, script) =>
    readFileSync(join(root, "page", name), "utf8")
      .replace("{{style}}", outputLike(style))
      .replace("{{script}}", outputLike(script));
  const page = filled("index.html", /\/terminal-style-.*\.css$/, /\/terminal-(?!style).*\.js$/);
  writeFileSync(join(dist, "admin.html"), filled("admin.html", /\/admin-style-.*\.css$/, /\/admin-(?!style).*\.js$/));
  for (const name of NAMED) cpSync(join(root, "page", name), join(dist, name), { recursive: true });
  const hash = createHash("sha256").update(page);
  for (const file of filesIn(dist)) hash.update(file.slice(dist.length)).update(readFileSync(file));
  const version = hash.digest("hex").slice(0, 12);
  writeFileSync(join(dist, "index.html"), page.replace("{{version}}", version));
  return version;
}

/** Writes the service worker, which names the files of this build. */
async function writeWorker(version) {
  // The operator's page is for the network alone: it is off by default, and useless without the service.
  const paths = filesIn(dist)
    .map((file) => file.slice(dist.length))
    .filter((path) => !/\/admin[.-]/.test(path));
  await build({
    ...OPTIONS,
    entryPoints: ["worker/worker.ts"],
    outfile: `${NEW}/sw.js`,
    format: "iife",
    target: ["es2022", "safari16"],
    define: {
      FILES: JSON.stringify(paths.map((path) => path.replace("/index.html", "/"))),
      VERSION: JSON.stringify(version),
    },
  });
}

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((each) => statSync(each).isFile())
    .sort();

function compressAll() {
  const isWorthIt = (file) => !file.endsWith(".png") && statSync(file).size >= COMPRESSED_FROM;
  for (const file of filesIn(dist).filter(isWorthIt))
    for (const [suffix, compress] of Object.entries(COMPRESSORS))
      writeFileSync(`${file}.${suffix}`, compress(readFileSync(file)));
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
const terminal = await bundle("terminal", "page/main.tsx", "page/styles/all.css");
const admin = await bundle("admin", "page/admin/main.tsx", "page/styles/admin.css");
await writeWorker(writePage([...terminal, ...admin]));
compressAll();
rmSync(join(root, "dist"), { recursive: true, force: true });
renameSync(dist, join(root, "dist"));
