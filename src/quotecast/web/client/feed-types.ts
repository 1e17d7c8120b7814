// Made by scripts/generate.js from the service's description; not to be edited.

export type Command = {
  action: "list" | "ping" | "subscribe" | "unsubscribe";
  symbols?: string[] | "all" | null;
  id?: number | string | null;
  interval?: number | null;
  since?: string | null;
};

export type Welcome = {
  type: "welcome";
  feed: string;
  epoch: string;
  seq: number;
  heartbeatMs: number;
  limits: Limits;
};

export type Limits = {
  symbols?: number;
};

export type Subscribed = {
  type: "subscribed";
  symbols: string[] | string;
  rejected: Rejected[];
  interval: number;
  id?: number | string;
};

export type Rejected = {
  symbol: string;
  code?: number;
};

export type Heartbeat = {
  type: "heartbeat";
  epoch: string;
  seq: number;
  timestamp: string;
  feed: "down" | "live" | "stale";
  market: string;
};

export type Pong = {
  type: "pong";
  timestamp: string;
  id?: number | string;
};

export type Error = {
  type: "error";
  code: number;
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

export type MarketSnapshot = {
  type: "snapshot";
  epoch: string;
  seq: number;
  reason: "subscribe" | "resume" | "resync";
  data: StockQuote[];
};

export type MarketUpdate = {
  type: "update";
  epoch: string;
  seq: number;
  data: (StockMove | StockQuote)[];
  removed?: string[];
};

export type CryptoSnapshot = {
  type: "snapshot";
  epoch: string;
  seq: number;
  reason: "subscribe" | "resume" | "resync";
  data: CryptoQuote[];
};

export type CryptoUpdate = {
  type: "update";
  epoch: string;
  seq: number;
  data: (CryptoMove | CryptoQuote)[];
  removed?: string[];
};

export type DovizSnapshot = {
  type: "snapshot";
  epoch: string;
  seq: number;
  reason: "subscribe" | "resume" | "resync";
  data: DovizQuote[];
};

export type DovizUpdate = {
  type: "update";
  epoch: string;
  seq: number;
  data: (DovizMove | DovizQuote)[];
  removed?: string[];
};
