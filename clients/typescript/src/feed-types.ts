// Made by scripts/generate.js from the service's description; not to be edited.

export type Command = {
  action: "list" | "ping" | "subscribe" | "unsubscribe";
  symbols?: string[] | "all" | null;
  id?: number | string | null;
  interval?: 100 | 250 | 500 | 1000 | 5000 | null;
  since?: string | null;
  fields?: string[] | "all" | null;
  bars?: "15m" | "1h" | "1m" | "5m" | "D" | "none" | null;
  barsSince?: string | null;
  snapshot?: boolean;
  feed?: "market" | "crypto" | "doviz" | null;
};

export type Closed = {
  time: string;
  count: number;
};

export type Welcome = {
  type: "welcome";
  feed: "market" | "crypto" | "doviz";
  epoch: string;
  seq: number;
  heartbeatMs: number;
  limits: Announced;
  connection: string;
  replayed?: boolean;
  at?: string;
};

export type Announced = {
  symbols: number;
  interval?: number;
};

export type WelcomeToAll = {
  type: "welcome";
  feeds: Record<string, Place>;
  heartbeatMs: number;
  limits: Announced;
  connection: string;
};

export type Place = {
  epoch: string;
  seq: number;
};

export type Subscribed = {
  type: "subscribed";
  feed?: "market" | "crypto" | "doviz";
  symbols: string[] | string;
  rejected: Rejected[];
  renamed?: Record<string, string>;
  interval: 100 | 250 | 500 | 1000 | 5000;
  fields?: string[];
  bars?: "15m" | "1h" | "1m" | "5m" | "D";
  id?: number | string;
};

export type Rejected = {
  symbol: string;
  code?: 404;
};

export type Heartbeat = {
  type: "heartbeat";
  epoch: string;
  seq: number;
  timestamp: string;
  feed: "down" | "live" | "stale";
  market: "open" | "closed";
  replayed?: boolean;
  at?: string;
};

export type FeedHeartbeat = {
  type: "heartbeat";
  feed: "market" | "crypto" | "doviz";
  epoch: string;
  seq: number;
  timestamp: string;
  state: "down" | "live" | "stale";
  market: "open" | "closed";
};

export type Pong = {
  type: "pong";
  timestamp: string;
  id?: number | string;
};

export type Error = {
  type: "error";
  feed?: "market" | "crypto" | "doviz";
  code: 400 | 401 | 403 | 404 | 422 | 503;
  detail: string;
  id?: number | string;
};

export type Shutdown = {
  type: "shutdown";
  retryAfterMs: number;
};

export type StockQuote = {
  type: "stock_quote";
  ticker: string;
  name: string;
  price: number;
  change?: number | null;
  changePercent?: number | null;
  open?: number | null;
  high?: number | null;
  low?: number | null;
  previousClose?: number | null;
  volume?: string | null;
  sector?: string;
  industry?: string;
  timestamp?: string | null;
  extended?: ExtendedHours | null;
};

export type ExtendedHours = {
  session: "post" | "pre";
  price: number;
  change: number;
  changePercent: number;
  close: number;
  timestamp: string;
};

export type CryptoQuote = {
  type: "crypto_quote";
  provider: string;
  exchange: string;
  ticker: string;
  name: string;
  symbol: string;
  price: number;
  bid?: number | null;
  ask?: number | null;
  change?: number | null;
  changePercent?: number | null;
  open?: number | null;
  high?: number | null;
  low?: number | null;
  volume?: number | null;
  timestamp?: string | null;
};

export type DovizQuote = {
  type: "doviz_quote";
  provider: string;
  symbol: string;
  name: string;
  category: string;
  source: string;
  unit: string;
  currency: string;
  buying: number;
  selling: number;
  price: number;
  change?: number | null;
  changePercent?: number | null;
  open?: number | null;
  high?: number | null;
  low?: number | null;
  previousClose?: number | null;
  timestamp?: string | null;
};

export type StockMove = {
  ticker: string;
  price: number;
  change: number | null;
  changePercent: number | null;
  open: number | null;
  high: number | null;
  low: number | null;
  volume: string | null;
  timestamp: string | null;
};

export type CryptoMove = {
  ticker: string;
  price: number;
  bid: number | null;
  ask: number | null;
  change: number | null;
  changePercent: number | null;
  open: number | null;
  high: number | null;
  low: number | null;
  volume: number | null;
  timestamp: string | null;
};

export type DovizMove = {
  symbol: string;
  buying: number;
  selling: number;
  price: number;
  change: number | null;
  changePercent: number | null;
  open: number | null;
  high: number | null;
  low: number | null;
  timestamp: string | null;
};

export type Subscribe = {
  action: "subscribe";
  symbols?: string[] | "all" | null;
  interval?: 100 | 250 | 500 | 1000 | 5000 | null;
  since?: string | null;
  fields?: string[] | "all" | null;
  bars?: "15m" | "1h" | "1m" | "5m" | "D" | "none" | null;
  barsSince?: string | null;
  snapshot?: boolean;
  id?: number | string | null;
  feed?: "market" | "crypto" | "doviz" | null;
};

export type Unsubscribe = {
  action: "unsubscribe";
  symbols: string[] | "all" | null;
  id?: number | string | null;
  feed?: "market" | "crypto" | "doviz" | null;
};

export type List = {
  action: "list";
  id?: number | string | null;
  feed?: "market" | "crypto" | "doviz" | null;
};

export type Ping = {
  action: "ping";
  id?: number | string | null;
  feed?: "market" | "crypto" | "doviz" | null;
};

export type StockQuotePart = {
  type?: "stock_quote";
  ticker: string;
  name?: string;
  price?: number;
  change?: number | null;
  changePercent?: number | null;
  open?: number | null;
  high?: number | null;
  low?: number | null;
  previousClose?: number | null;
  volume?: string | null;
  sector?: string;
  industry?: string;
  timestamp?: string | null;
  extended?: ExtendedHours | null;
};

export type CryptoQuotePart = {
  type?: "crypto_quote";
  provider?: string;
  exchange?: string;
  ticker: string;
  name?: string;
  symbol?: string;
  price?: number;
  bid?: number | null;
  ask?: number | null;
  change?: number | null;
  changePercent?: number | null;
  open?: number | null;
  high?: number | null;
  low?: number | null;
  volume?: number | null;
  timestamp?: string | null;
};

export type DovizQuotePart = {
  type?: "doviz_quote";
  provider?: string;
  symbol: string;
  name?: string;
  category?: string;
  source?: string;
  unit?: string;
  currency?: string;
  buying?: number;
  selling?: number;
  price?: number;
  change?: number | null;
  changePercent?: number | null;
  open?: number | null;
  high?: number | null;
  low?: number | null;
  previousClose?: number | null;
  timestamp?: string | null;
};

export type MarketBar = {
  ticker: string;
  time: string;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number | null;
  updates: number;
  final: boolean;
};

export type CryptoBar = {
  ticker: string;
  time: string;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number | null;
  updates: number;
  final: boolean;
};

export type DovizBar = {
  symbol: string;
  time: string;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number | null;
  updates: number;
  final: boolean;
};

export type MarketSnapshot = {
  type: "snapshot";
  epoch: string;
  seq: number;
  reason: "subscribe" | "resume" | "resync";
  data: (StockQuote | StockQuotePart | (string | number | null)[])[];
  feed?: "market";
  columns?: string[];
};

export type MarketUpdate = {
  type: "update";
  epoch: string;
  seq: number;
  data: (StockMove | StockQuote | StockQuotePart | (string | number | null)[])[];
  feed?: "market";
  removed?: string[];
};

export type MarketBars = {
  type: "bars";
  epoch: string;
  seq: number;
  interval: "1m" | "5m" | "15m" | "1h" | "D";
  data: (MarketBar | (string | number | boolean | null)[])[];
  feed?: "market";
  reason?: "subscribe" | "resume" | "resync";
  columns?: string[];
  closed?: Closed;
};

export type CryptoSnapshot = {
  type: "snapshot";
  epoch: string;
  seq: number;
  reason: "subscribe" | "resume" | "resync";
  data: (CryptoQuote | CryptoQuotePart | (string | number | null)[])[];
  feed?: "crypto";
  columns?: string[];
};

export type CryptoUpdate = {
  type: "update";
  epoch: string;
  seq: number;
  data: (CryptoMove | CryptoQuote | CryptoQuotePart | (string | number | null)[])[];
  feed?: "crypto";
  removed?: string[];
};

export type CryptoBars = {
  type: "bars";
  epoch: string;
  seq: number;
  interval: "1m" | "5m" | "15m" | "1h" | "D";
  data: (CryptoBar | (string | number | boolean | null)[])[];
  feed?: "crypto";
  reason?: "subscribe" | "resume" | "resync";
  columns?: string[];
  closed?: Closed;
};

export type DovizSnapshot = {
  type: "snapshot";
  epoch: string;
  seq: number;
  reason: "subscribe" | "resume" | "resync";
  data: (DovizQuote | DovizQuotePart | (string | number | null)[])[];
  feed?: "doviz";
  columns?: string[];
};

export type DovizUpdate = {
  type: "update";
  epoch: string;
  seq: number;
  data: (DovizMove | DovizQuote | DovizQuotePart | (string | number | null)[])[];
  feed?: "doviz";
  removed?: string[];
};

export type DovizBars = {
  type: "bars";
  epoch: string;
  seq: number;
  interval: "1m" | "5m" | "15m" | "1h" | "D";
  data: (DovizBar | (string | number | boolean | null)[])[];
  feed?: "doviz";
  reason?: "subscribe" | "resume" | "resync";
  columns?: string[];
  closed?: Closed;
};

export type AnySnapshot = MarketSnapshot | CryptoSnapshot | DovizSnapshot;

export type AnyUpdate = MarketUpdate | CryptoUpdate | DovizUpdate;

export type AnyBars = MarketBars | CryptoBars | DovizBars;
