/** Client of a quotecast service: its HTTP routes and live feeds. MessagePack is in `./msgpack.ts`. */
export { Backoff } from "./backoff.ts";
export { Connection, type ConnectionOptions } from "./connection.ts";
export { type Encoding, JSON_TEXT, ROWS } from "./encodings.ts";
export type { Feed, FeedOptions, FeedState } from "./feed.ts";
export type { FeedName, MovingField, QuoteOf } from "./frames.ts";
export { type BarsChange, type LiveBar, LiveBars, type LiveInterval } from "./live-bars.ts";
export { type Change, Merged } from "./merged.ts";
export { Replay, type ReplayOptions } from "./replay.ts";
export { ApiError, type RateLimit, RateLimited, Rest } from "./rest.ts";
export type * from "./rest-types.ts";
