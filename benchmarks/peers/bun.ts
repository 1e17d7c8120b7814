// Bun as its users write it: its HTTP server with a limiter on its Redis client, and native publish for feeds.
// With SCRIPT, the path of quotecast's script, the limiter holds the same promise as quotecast's: a window that
// all processes share, exact also for requests at the same moment, and free of slots for refused ones.
import { RedisClient, serve } from "bun";

const LIMIT = 1_000_000;
const WINDOW_SECONDS = 60;
const script = process.env.SCRIPT;
const deflate = process.env.DEFLATE === "1";
const redis = new RedisClient(process.env.REDIS_URL);

const quotes = new Map(
  Array.from({ length: 500 }, (_, number) => {
    const ticker = `S${String(number).padStart(4, "0")}`;
    return [
      ticker,
      {
        ticker,
        name: "Example Industries, Inc.",
        price: 100.5,
        change: 1.23,
        changePercent: 0.4567,
        open: 100.12,
        high: 712.34,
        low: 98.76,
        previousClose: 99.27,
        volume: "12345678",
        sector: "Information Technology",
        industry: "Technology Hardware, Storage & Peripherals",
        timestamp: "2026-11-20T20:59:59.123Z",
      },
    ] as const;
  }),
);

/** A sliding window over the past minute: a sorted set in Redis for each address and path, four commands in one batch. */
async function admitted(address: string, path: string): Promise<boolean> {
  const key = `limit:${address}:${path}`;
  const now = Date.now() / 1000;
  const [, , count] = await Promise.all([
    redis.send("ZREMRANGEBYSCORE", [key, "0", String(now - WINDOW_SECONDS)]),
    redis.send("ZADD", [key, String(now), crypto.randomUUID()]),
    redis.send("ZCARD", [key]),
    redis.send("EXPIRE", [key, String(WINDOW_SECONDS)]),
  ]);
  return Number(count) <= LIMIT;
}

const digest = script ? String(await redis.send("SCRIPT", ["LOAD", await Bun.file(script).text()])) : "";

/** The exact window: one call of the script, which Bun's client sends together with those of other requests. */
async function admittedExactly(address: string, path: string): Promise<[boolean, HeadersInit]> {
  const key = `{limit}:${address}:${path}`;
  const microseconds = String(WINDOW_SECONDS * 1_000_000);
  const [admitted, remaining, reset] = await redis.send("EVALSHA", [digest, "1", key, microseconds, String(LIMIT)]);
  const headers = {
    "X-RateLimit-Limit": String(LIMIT),
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(Math.ceil(reset / 1_000_000)),
  };
  return [admitted === 1, headers];
}

const server = serve({
  hostname: process.env.HOST,
  port: Number(process.env.PORT),
  async fetch(request, server) {
    const url = new URL(request.url);
    if (url.pathname === "/ws") {
      return server.upgrade(request) ? undefined : new Response("Upgrade Required", { status: 426 });
    }
    if (url.pathname !== "/quotes") return new Response("Not Found", { status: 404 });
    const address = server.requestIP(request)?.address ?? "";
    const [isAdmitted, headers] = script
      ? await admittedExactly(address, url.pathname)
      : [await admitted(address, url.pathname), {}];
    if (!isAdmitted) return new Response("Too many requests", { status: 429, headers });
    const symbols = url.searchParams.get("symbols") ?? "";
    const wanted = symbols === "all" ? [...quotes.keys()] : symbols.split(",");
    return Response.json(Object.fromEntries(wanted.filter((each) => quotes.has(each)).map((each) => [each, quotes.get(each)])), { headers });
  },
  websocket: {
    perMessageDeflate: deflate ? { compress: "shared", decompress: "shared" } : false,
    open: (socket) => socket.subscribe("quotes"),
    message: () => {},
  },
});

const subscriber = new RedisClient(process.env.REDIS_URL);
await subscriber.connect();
await subscriber.subscribe("quotes", (message) => {
  for (const { ticker, ...moved } of JSON.parse(message).data) {
    const known = quotes.get(ticker);
    if (known) quotes.set(ticker, { ...known, ...moved });
  }
  server.publish("quotes", message, deflate);
});
