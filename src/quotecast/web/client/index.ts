/** Client of a quotecast service: its routes and its live feeds. MessagePack is in `./msgpack.ts`. */
export { Backoff } from "./backoff.ts";
export { Bars, type Interval, isDaily, type Tick } from "./bars.ts";
export { DEFLATE, JSON_TEXT, type Encoding } from "./encodings.ts";
export { Feed, type FeedOptions, type FeedState } from "./feed.ts";
export { Merged, type Change, type FeedName, type QuoteOf } from "./merged.ts";
export { ApiError, RateLimited, Rest, type RateLimit } from "./rest.ts";
export type * from "./rest-types.ts";
