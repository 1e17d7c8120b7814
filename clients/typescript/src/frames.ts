/** Frames and commands of `/api/ws`, the socket of all feeds. */
import type {
  AnyBars,
  AnySnapshot,
  AnyUpdate,
  Error as CommandError,
  CryptoMove,
  DovizMove,
  FeedHeartbeat,
  Command as GeneratedCommand,
  Pong,
  Shutdown,
  StockMove,
  Subscribed,
  WelcomeToAll,
} from "./feed-types.ts";
import type { CryptoQuote, DovizQuote, StockQuote } from "./rest-types.ts";

export type FeedName = "market" | "crypto" | "doviz";
/** A quote of any feed; `type` says of which. */
export type Quote = QuoteOf[FeedName];
export type QuoteOf = { market: StockQuote; crypto: CryptoQuote; doviz: DovizQuote };

type MoveOf = { market: StockMove; crypto: CryptoMove; doviz: DovizMove };
/** A field of a feed's quotes that moves, and that a client may select. */
export type MovingField<N extends FeedName> =
  | Exclude<keyof MoveOf[N] & string, "ticker" | "symbol">
  | ("extended" & keyof QuoteOf[N]);

interface OfFeed {
  feed: FeedName;
}
export type FeedFrame = OfFeed & (Subscribed | AnySnapshot | AnyUpdate | AnyBars | FeedHeartbeat | CommandError);
export type Frame = WelcomeToAll | FeedFrame | CommandError | Pong | Shutdown;
export type FeedCommand = OfFeed & GeneratedCommand;
export type Command = { action: "ping" } | FeedCommand;
