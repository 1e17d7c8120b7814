// Builds the page into dist/: file names have content hashes, compressed forms are beside each file.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as zlib from "node:zlib";
import { build } from "esbuild";

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

async function bundle() {
  const { metafile } = await build({
    ...OPTIONS,
    entryPoints: {
      terminal: "page/main.tsx",
      style: "page/styles/all.css",
      admin: "page/admin/main.tsx",
      "admin-style": "page/styles/admin.css",
    },
    outdir: `${NEW}/assets`,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    splitting: true,
    target: ["es2022", "safari16"],
    jsx: "automatic",
    jsxImportSource: "preact",
    metafile: true,
  });
  return Object.keys(metafile.outputs).map((path) => `/${path.slice(`${NEW}/`.length)}`);
}

/** Writes the page and the files that it names; returns the hash of all, which is the page's version. */
function writePage(outputs) {
  const outputLike = (pattern) => outputs.find((path) => pattern.test(path));
  const filled = (name, style, script) =>
    readFileSync(join(root, "page", name), "utf8")
      .replace("{{style}}", outputLike(style))
      .replace("{{script}}", outputLike(script));
  const page = filled("index.html", /\/style-.*\.css$/, /\/terminal-.*\.js$/);
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
await writeWorker(writePage(await bundle()));
compressAll();
rmSync(join(root, "dist"), { recursive: true, force: true });
renameSync(dist, join(root, "dist"));
