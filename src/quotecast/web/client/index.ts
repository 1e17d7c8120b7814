/** Client of a quotecast service: its HTTP routes and live feeds. MessagePack is in `./msgpack.ts`. */
export { Backoff } from "./backoff.ts";
export { Bars, type Interval, isDaily, type Tick } from "./bars.ts";
export { DEFLATE, type Encoding, JSON_TEXT } from "./encodings.ts";
export { Feed, type FeedOptions, type FeedState } from "./feed.ts";
export { type Change, type FeedName, Merged, type QuoteOf } from "./merged.ts";
export { ApiError, type RateLimit, RateLimited, Rest } from "./rest.ts";
export type * from "./rest-types.ts";
