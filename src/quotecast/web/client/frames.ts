/** Frames and commands of `/api/ws`, the socket of all feeds; `feed-types.ts` has those of a feed's own path. */
import type * as own from "./feed-types.ts";
import type { CryptoQuote, DovizQuote, StockQuote } from "./rest-types.ts";

export type FeedName = "market" | "crypto" | "doviz";
export type QuoteOf = { market: StockQuote; crypto: CryptoQuote; doviz: DovizQuote };

type MoveOf = { market: own.StockMove; crypto: own.CryptoMove; doviz: own.DovizMove };
/** A field of a feed's quotes that moves, and that a client may select. */
export type MovingField<N extends FeedName> = Exclude<keyof MoveOf[N] & string, "ticker" | "symbol">;

/** A quote or its changed fields: an object, or values in the order of the last snapshot's columns. */
export type Item = object | readonly unknown[];

/** The first frame: the feeds that the service has a provider for. */
export type Welcome = Pick<own.Welcome, "type" | "heartbeatMs" | "limits"> & {
  feeds: Partial<Record<FeedName, Pick<own.Welcome, "epoch" | "seq">>>;
};
export type Subscribed = own.Subscribed & { fields?: string[] };
export type Snapshot = Omit<own.MarketSnapshot, "data"> & { columns?: readonly string[]; data: readonly Item[] };
export type Update = Omit<own.MarketUpdate, "data"> & { data: readonly Item[] };
export type Heartbeat = Omit<own.Heartbeat, "feed"> & { state: own.Heartbeat["feed"] };
/** The answer to a rejected command. */
export type CommandError = own.Error;

interface OfFeed {
  feed: FeedName;
}
export type FeedFrame = OfFeed & (Subscribed | Snapshot | Update | Heartbeat | CommandError);
export type Frame = Welcome | FeedFrame | CommandError | own.Pong | own.Shutdown;

type Selection = { fields?: readonly string[] | "all" };
export type FeedCommand = OfFeed & Selection & own.Command;
export type Command = { action: "ping" } | FeedCommand;
