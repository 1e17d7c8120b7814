// The page's service worker: caches the page's own files, so that it opens without the service.
import { listenForPushes } from "./push.ts";

/** Paths of the build's files, and the hash of their contents; the build writes both. */
declare const FILES: readonly string[];
declare const VERSION: string;

const worker = self as unknown as ServiceWorkerGlobalScope;

const PREFIX = "page-";
const CACHE = PREFIX + VERSION;
/** Windows of the version before may still load their parts. */
const CACHES_AT_MOST = 2;
const paths = new Set(FILES);

worker.addEventListener("install", (event) => {
  event.waitUntil(install());
});

worker.addEventListener("activate", (event) => {
  event.waitUntil(takeOver());
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  // All else, above all the API, goes to the network as if there were no worker.
  if (request.method !== "GET" || url.origin !== worker.location.origin) return;
  if (url.pathname.startsWith("/assets/")) event.respondWith(fromCache(request));
  else if (paths.has(url.pathname)) event.respondWith(fromNetwork(request, url.pathname));
});

listenForPushes();

async function install(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll(FILES.map((path) => new Request(path, { cache: "no-cache" })));
  const page = await (await cache.match("/"))?.text();
  // While a new version is rolled out, another server may answer with the page of the old one; browsers try again.
  if (!page?.includes(VERSION)) {
    await caches.delete(CACHE);
    throw new Error("The page is of another version");
  }
  // Windows that are open stay as they are: their files are in the cache of their version.
  await worker.skipWaiting();
}

/** Serves the open windows too, and names the version to them: they offer to reload. */
async function takeOver(): Promise<void> {
  await removeOldCaches();
  await worker.clients.claim();
  for (const client of await worker.clients.matchAll({ type: "window" })) client.postMessage({ version: VERSION });
}

async function removeOldCaches(): Promise<void> {
  // In the order in which the versions came.
  const others = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(others.slice(0, 1 - CACHES_AT_MOST).map((name) => caches.delete(name)));
}

/** Answers a file whose name has a hash: it never changes, and any version's cache may have it. */
async function fromCache(request: Request): Promise<Response> {
  return (await caches.match(request)) ?? fetch(request);
}

/** Answers the newest file; the last one while the service does not answer. */
async function fromNetwork(request: Request, path: string): Promise<Response> {
  const cached = async () => (await caches.open(CACHE)).match(path);
  try {
    const answer = await fetch(request);
    return answer.status >= 500 ? ((await cached()) ?? answer) : answer;
  } catch (error) {
    const found = await cached();
    if (!found) throw error;
    return found;
  }
}
