/** Client of a quotecast service: its HTTP routes and live feeds. */
export { Backoff } from "./backoff.ts";
export type { BarChange, BarStream } from "./bar-stream.ts";
export { Client, type ClientOptions, type StreamOptions } from "./client.ts";
export { Connection, type ConnectionOptions, type SocketConstructor } from "./connection.ts";
export { type Change, Copy, type CopyFrame } from "./copy.ts";
export { type Encoding, JSON_TEXT, messagePack, ROWS, rowsInMessagePack, type Unpack } from "./encodings.ts";
export { ApiError, ConnectionFailed, RateLimited, StreamRefused, UnknownSymbols } from "./errors.ts";
export type { Feed, FeedOptions, FeedState } from "./feed.ts";
export type { Service } from "./following.ts";
export type { FeedName, MovingField, Quote, QuoteOf } from "./frames.ts";
export type { BarsOptions, HistoryBar } from "./history.ts";
export { type BarsChange, type ClosedBar, type LiveBar, LiveBars, type LiveInterval } from "./live-bars.ts";
export type { LiveQuotes } from "./live-quotes.ts";
export { Replay, type ReplayOptions } from "./replay.ts";
export { type Answer, type Given, type Page, type RateLimit, Rest, type RestOptions, type Route } from "./rest.ts";
export type * from "./rest-types.ts";
export { fetchWithRetries, type RetryOptions } from "./retries.ts";
export type { QuoteChange, Stream } from "./stream.ts";
