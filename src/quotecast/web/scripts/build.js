// Builds the page into dist/: file names have content hashes, compressed forms are beside each file.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as zlib from "node:zlib";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
/** Bytes below which compression is not worth it. */
const COMPRESSED_FROM = 1024;

const COMPRESSORS = {
  br: (data) => zlib.brotliCompressSync(data),
  gz: (data) => zlib.gzipSync(data, { level: 9 }),
  // Node has Zstandard since 22.15; without it browsers take Brotli.
  ...(zlib.zstdCompressSync && {
    zst: (data) => zlib.zstdCompressSync(data, { params: { [zlib.constants.ZSTD_c_compressionLevel]: 19 } }),
  }),
};

async function bundle() {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { terminal: "page/main.tsx", style: "page/styles/all.css" },
    outdir: "dist/assets",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    target: ["es2022", "safari16"],
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    legalComments: "eof",
    metafile: true,
  });
  return Object.keys(metafile.outputs).map((path) => `/${path.slice("dist/".length)}`);
}

function writePage(outputs) {
  const outputLike = (pattern) => outputs.find((path) => pattern.test(path));
  const page = readFileSync(join(root, "page/index.html"), "utf8")
    .replace("{{style}}", outputLike(/\/style-.*\.css$/))
    .replace("{{script}}", outputLike(/\/terminal-.*\.js$/));
  writeFileSync(join(dist, "index.html"), page);
  writeFileSync(join(dist, "favicon.svg"), readFileSync(join(root, "page/favicon.svg")));
}

function compressAll() {
  const files = readdirSync(dist, { recursive: true }).map((name) => join(dist, name));
  for (const file of files.filter((each) => statSync(each).isFile() && statSync(each).size >= COMPRESSED_FROM))
    for (const [suffix, compress] of Object.entries(COMPRESSORS))
      writeFileSync(`${file}.${suffix}`, compress(readFileSync(file)));
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
writePage(await bundle());
compressAll();
