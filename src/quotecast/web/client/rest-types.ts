// Made by scripts/generate.js from the service's description; not to be edited.

export type Article = {
  id: string;
  headline: string;
  summary: string;
  author: string;
  source: string;
  url: string | null;
  images: NewsImage[];
  symbols: string[];
  created_at: string;
  updated_at: string;
};

export type Asset = {
  ticker: string;
  name: string;
  exchange: string;
  assetClass?: string;
  sector?: string;
  industry?: string;
  tradable?: boolean;
};

export type Bar = {
  time: string;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
};

export type ConvertedShown = {
  currency: string;
  market_value: number;
  gain: number;
  rates: RateShown[];
};

export type CryptoQuote = {
  provider: string;
  exchange: string;
  ticker: string;
  name: string;
  symbol: string;
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
  type: "crypto_quote";
};

export type CryptoSymbol = {
  ticker: string;
  symbol: string;
  name: string;
  quote: string;
  exchange: string;
  provider: string;
};

export type DovizBar = {
  time: string;
  open: number;
  high: number;
  low: number;
  close: number;
  volume?: number | null;
};

export type DovizQuote = {
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
  change: number | null;
  changePercent: number | null;
  open: number | null;
  high: number | null;
  low: number | null;
  previousClose: number | null;
  timestamp: string | null;
  type: "doviz_quote";
};

export type DovizSymbol = {
  symbol: string;
  name: string;
  unit: string;
  source: string;
};

export type Earnings = {
  symbol: string;
  period: string;
  quarter: number | null;
  year: number | null;
  actual: number | null;
  estimate: number | null;
  surprise: number | null;
  surprisePercent: number | null;
  currency?: string | null;
  homeSymbol?: string | null;
};

export type EarningsCalendar = {
  earningsCalendar: EarningsEvent[];
  coveredFrom?: string | null;
  coveredTo?: string | null;
};

export type EarningsEvent = {
  symbol: string;
  date: string;
  hour: string;
  year: number | null;
  quarter: number | null;
  epsEstimate: number | null;
  epsActual: number | null;
  revenueEstimate: number | null;
  revenueActual: number | null;
  abroad?: boolean;
};

export type EarningsQuality = {
  symbol: string;
  freq: string;
  data: QualityScore[];
};

export type Entry = {
  ticker: string;
  type: "stock" | "crypto" | "doviz";
  position: number;
  added_at: string;
  quote?: StockQuote | CryptoQuote | DovizQuote | null;
};

export type EpsEstimate = {
  period: string;
  quarter: number | null;
  year: number | null;
  epsAvg: number | null;
  epsHigh: number | null;
  epsLow: number | null;
  numberAnalysts: number | null;
};

export type EstimatesOfEpsEstimate = {
  symbol: string;
  freq: string;
  data: EpsEstimate[];
  currency?: string | null;
  homeSymbol?: string | null;
};

export type EstimatesOfRevenueEstimate = {
  symbol: string;
  freq: string;
  data: RevenueEstimate[];
  currency?: string | null;
  homeSymbol?: string | null;
};

export type FeedAge = {
  state: "live" | "stale" | "down";
  ageSeconds: number | null;
  problem?: "unreadable";
};

export type FeedStatus = {
  state: "live" | "stale" | "down";
  lastUpdate: string | null;
  symbols: number;
  provider: string;
  simulated: boolean | null;
  delaySeconds: number | null;
  epoch: string | null;
  seq: number;
};

export type FieldProblem = {
  field: string;
  message: string;
};

export type Health = {
  status?: "ok";
};

export type Heatmap = {
  lastUpdate: string | null;
  sectors: HeatmapSector[];
};

export type HeatmapSector = {
  sector: string;
  changePercent: number | null;
  advancers: number;
  decliners: number;
  unchanged: number;
  weight: number;
  stocks: HeatmapStock[];
};

export type HeatmapStock = {
  ticker: string;
  name: string;
  industry: string;
  price: number;
  change: number | null;
  changePercent: number | null;
  volume: string | null;
  weight: number;
};

export type HoldingShown = {
  id: string;
  ticker: string;
  shares: number;
  avg_cost: number;
  bought_at: string;
  currency: string;
  created_at: string;
  type?: "stock" | "crypto" | "doviz" | null;
  price?: number | null;
  market_value?: number | null;
  gain?: number | null;
  gain_percent?: number | null;
  day_change?: number | null;
  rates?: RateShown[] | null;
  converted?: ConvertedShown | null;
};

export type LayoutShown = {
  layout: Record<string, unknown>;
  version: number;
  updated_at: string | null;
};

export type MarketStatus = {
  status: "running" | "degraded" | "down";
  lastUpdate: string | null;
  marketOpen: boolean;
  session: "pre" | "regular" | "post" | "closed";
  nextOpen: string | null;
  nextClose: string | null;
  timestamp: string;
  feeds: Record<string, FeedStatus>;
};

export type Metrics = {
  symbol: string;
  metricType: string;
  metric: Record<string, number | string | null>;
  series: Series;
  currency?: string | null;
  homeSymbol?: string | null;
};

export type Mover = {
  ticker: string;
  name: string;
  price: number;
  change: number | null;
  changePercent: number;
  volume: string | null;
  sector: string;
};

export type Movers = {
  lastUpdate: string | null;
  gainers: Mover[];
  losers: Mover[];
};

export type NewsImage = {
  size: string;
  url: string;
};

export type Overview = {
  symbol: string;
  metrics: Metrics | null;
  earnings: Earnings[] | null;
  recommendations: Recommendation[] | null;
  revenueEstimates: EstimatesOfRevenueEstimate | null;
  epsEstimates: EstimatesOfEpsEstimate | null;
  earningsQuality: EarningsQuality | null;
  errors: Record<string, string>;
};

export type Problem = {
  detail: string;
  code?: string;
  request_id?: string;
  errors?: FieldProblem[];
};

export type Profile = {
  id: string;
  name: string;
  email: string;
};

export type QualityScore = {
  period: string;
  growth: number | null;
  profitability: number | null;
  cashGenerationCapitalAllocation: number | null;
  leverage: number | null;
  score: number | null;
  letterScore: string | null;
};

export type RateShown = {
  from: string;
  to: string;
  rate: number;
  symbol: string;
  timestamp: string | null;
};

export type Readiness = {
  status: "ready" | "loading" | "draining";
  checks: Record<string, string>;
  feeds: Record<string, FeedAge>;
  detail?: string;
  code?: string;
};

export type Recommendation = {
  symbol: string;
  period: string;
  strongBuy: number | null;
  buy: number | null;
  hold: number | null;
  sell: number | null;
  strongSell: number | null;
  homeSymbol?: string | null;
};

export type RevenueEstimate = {
  period: string;
  quarter: number | null;
  year: number | null;
  revenueAvg: number | null;
  revenueHigh: number | null;
  revenueLow: number | null;
  numberAnalysts: number | null;
};

export type Series = {
  annual: Record<string, SeriesPoint[]>;
  quarterly: Record<string, SeriesPoint[]>;
};

export type SeriesPoint = {
  period: string;
  v: number | null;
};

export type Session = {
  token: string;
  user: Profile;
};

export type Sparkline = {
  start: string;
  end: string;
  closes: number[];
};

export type StockQuote = {
  ticker: string;
  name: string;
  price: number;
  change: number | null;
  changePercent: number | null;
  open: number | null;
  high: number | null;
  low: number | null;
  previousClose: number | null;
  volume: string | null;
  sector: string;
  industry: string;
  timestamp: string | null;
  type: "stock_quote";
};

export type Registration = {
  name: string;
  email: string;
  password: string;
};

export type Credentials = {
  email: string;
  password: string;
};

export type ProfileChange = {
  name?: string;
  end_sessions?: boolean;
};

export type NewHolding = {
  ticker: string;
  shares: number;
  avg_cost: number;
  bought_at?: string | null;
  currency?: string;
};

export type NewEntry = {
  ticker: string;
  type?: "crypto" | "doviz" | "stock" | null;
};

export type NewLayout = {
  layout: Record<string, unknown>;
  version?: number | null;
};

export interface Operations {
  "GET /api/market/quotes": { answer: Record<string, StockQuote>; query: { symbols: string; at?: string | null; }; };
  "GET /api/market/quotes/{symbol}": { answer: StockQuote; path: { symbol: string; }; };
  "GET /api/market/bars": { answer: Record<string, Bar[]>; query: { symbols: string; range?: "1D" | "5D" | "1M" | "3M" | "6M" | "YTD" | "1Y" | "5Y"; interval?: "1m" | "5m" | "15m" | "1h" | "4h" | "D" | "W" | "M"; start?: string; end?: string; limit?: number; order?: "asc" | "desc"; page?: string; source?: "own"; }; };
  "GET /api/market/bars/{symbol}": { answer: Bar[]; path: { symbol: string; }; query?: { range?: "1D" | "5D" | "1M" | "3M" | "6M" | "YTD" | "1Y" | "5Y"; interval?: "1m" | "5m" | "15m" | "1h" | "4h" | "D" | "W" | "M"; start?: string; end?: string; limit?: number; order?: "asc" | "desc"; page?: string; source?: "own"; }; };
  "GET /api/market/sparklines": { answer: Record<string, Sparkline>; query: { symbols: string; }; };
  "GET /api/market/heatmap": { answer: Heatmap; };
  "GET /api/market/movers": { answer: Movers; };
  "GET /api/market/news": { answer: Article[]; query?: { symbols?: string | null; limit?: number; }; };
  "GET /api/market/assets": { answer: Asset[]; query?: { search?: string; limit?: number | null; offset?: number; }; };
  "GET /api/market/status": { answer: MarketStatus; };
  "GET /api/crypto/quotes": { answer: Record<string, CryptoQuote>; query?: { at?: string | null; }; };
  "GET /api/crypto/quotes/{symbol}": { answer: CryptoQuote; path: { symbol: string; }; };
  "GET /api/crypto/bars": { answer: Record<string, Bar[]>; query: { symbols: string; timeframe?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; start?: string; end?: string; limit?: number; order?: "asc" | "desc"; page?: string; source?: "own"; }; };
  "GET /api/crypto/bars/{symbol}": { answer: Bar[]; path: { symbol: string; }; query?: { timeframe?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; start?: string; end?: string; limit?: number; order?: "asc" | "desc"; page?: string; source?: "own"; }; };
  "GET /api/crypto/sparklines": { answer: Record<string, Sparkline>; query: { symbols: string; }; };
  "GET /api/crypto/symbols": { answer: CryptoSymbol[]; };
  "GET /api/doviz/quotes": { answer: Record<string, DovizQuote>; query?: { category?: "gold" | "silver" | "precious_metals" | "currency" | "index"; at?: string | null; }; };
  "GET /api/doviz/quotes/{symbol}": { answer: DovizQuote; path: { symbol: string; }; };
  "GET /api/doviz/bars": { answer: Record<string, DovizBar[]>; query: { symbols: string; timeframe?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; start?: string; end?: string; limit?: number; order?: "asc" | "desc"; page?: string; source?: "own"; }; };
  "GET /api/doviz/bars/{symbol}": { answer: DovizBar[]; path: { symbol: string; }; query?: { timeframe?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; start?: string; end?: string; limit?: number; order?: "asc" | "desc"; page?: string; source?: "own"; }; };
  "GET /api/doviz/sparklines": { answer: Record<string, Sparkline>; query: { symbols: string; }; };
  "GET /api/doviz/symbols": { answer: Record<string, DovizSymbol[]>; };
  "GET /api/financials/earnings-calendar": { answer: EarningsCalendar; query?: { from?: string | null; to?: string | null; }; };
  "GET /api/financials/company/{symbol}/overview": { answer: Overview; path: { symbol: string; }; };
  "GET /api/financials/company/{symbol}/metrics": { answer: Metrics; path: { symbol: string; }; };
  "GET /api/financials/company/{symbol}/earnings": { answer: Earnings[]; path: { symbol: string; }; };
  "GET /api/financials/company/{symbol}/recommendations": { answer: Recommendation[]; path: { symbol: string; }; };
  "GET /api/financials/company/{symbol}/revenue-estimates": { answer: EstimatesOfRevenueEstimate; path: { symbol: string; }; };
  "GET /api/financials/company/{symbol}/eps-estimates": { answer: EstimatesOfEpsEstimate; path: { symbol: string; }; };
  "GET /api/financials/company/{symbol}/earnings-quality": { answer: EarningsQuality; path: { symbol: string; }; };
  "POST /api/auth/register": { answer: Session; body: Registration; };
  "POST /api/auth/login": { answer: Session; body: Credentials; };
  "GET /api/auth/profile": { answer: Profile; };
  "PATCH /api/auth/profile": { answer: Profile; body: ProfileChange; };
  "GET /api/portfolio/holdings": { answer: HoldingShown[]; query?: { include?: "quote" | null; currency?: string | null; }; };
  "POST /api/portfolio/holdings": { answer: HoldingShown; body: NewHolding; };
  "DELETE /api/portfolio/holdings/{holding_id}": { answer: null; path: { holding_id: string; }; };
  "GET /api/watchlist": { answer: Entry[]; query?: { include?: "quote" | null; }; };
  "POST /api/watchlist": { answer: Entry; body: NewEntry; };
  "DELETE /api/watchlist/{ticker}": { answer: null; path: { ticker: string; }; query?: { type?: "stock" | "crypto" | "doviz" | null; }; };
  "GET /api/terminal/layout": { answer: LayoutShown; };
  "PUT /api/terminal/layout": { answer: LayoutShown; body: NewLayout; };
  "GET /api/health": { answer: Health; };
  "GET /api/ready": { answer: Readiness; };
  "GET /api/openapi.json": { answer: Record<string, unknown>; };
  "GET /api/asyncapi.json": { answer: Record<string, unknown>; };
}
