// Made by scripts/generate.js from the service's description; not to be edited.

export type AlertShown = {
  id: string;
  ticker: string;
  type: "stock" | "crypto" | "doviz";
  condition: "above" | "below" | "rises" | "falls";
  value: number;
  window: "5m" | "15m" | "1h" | "day" | null;
  note: string;
  repeats: boolean;
  webhook: boolean;
  push: boolean;
  active: boolean;
  created_at: string;
  armed_at: string;
};

export type Allocation = {
  currency: string;
  by: "symbol" | "type" | "currency" | "sector";
  market_value: number;
  parts: AllocationPart[];
  missing: Missing[];
};

export type AllocationPart = {
  name: string | null;
  tickers: string[];
  market_value: number;
  weight: number;
};

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
  assetClass: string;
  sector: string;
  industry: string;
  tradable: boolean;
};

export type Bar = {
  time: string;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
};

export type ChartBars = {
  s: "ok" | "no_data";
  t?: number[];
  o?: number[];
  h?: number[];
  l?: number[];
  c?: number[];
  v?: number[];
  nextTime?: number;
};

export type ChartProblem = {
  detail: string;
  code?: string;
  request_id?: string;
  errors?: FieldProblem[];
  s: "error";
  errmsg: string;
};

export type ChartQuotes = {
  s: "ok";
  d: (KnownQuote | UnknownQuote)[];
};

export type Configuration = {
  supports_search: boolean;
  supports_group_request: boolean;
  supports_marks: boolean;
  supports_timescale_marks: boolean;
  supports_time: boolean;
  supported_resolutions: string[];
  exchanges: ExchangeChoice[];
  symbols_types: TypeChoice[];
};

export type ConversionRate = {
  from: string;
  to: string;
  rate: number;
  date: string | null;
  dateAsked: string | null;
  rates: RateShown[];
};

export type ConvertedPosition = {
  currency: string;
  cost: number | null;
  realized_gain: number | null;
  dividends: number | null;
  fees: number | null;
  market_value: number | null;
  unrealized_gain: number | null;
  rates: RateShown[];
};

export type ConvertedShown = {
  currency: string;
  market_value: number;
  gain: number;
  rates: RateShown[];
};

export type CorporateAction = {
  id: string;
  type: "split" | "stock_dividend" | "cash_dividend" | "rename" | "merger";
  symbol: string;
  exDate: string;
  recordDate: string | null;
  payableDate: string | null;
  oldShares: number | null;
  newShares: number | null;
  amount: number | null;
  currency: string | null;
  newSymbol: string | null;
  provider: string;
  knownAt: string | null;
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

export type DayPrice = {
  date: string;
  price: number | null;
  quotedPrice: number;
  rate: number | null;
  rateDate: string | null;
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
  category: "gold" | "silver" | "precious_metals" | "currency" | "index";
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
  hour: "bmo" | "amc" | "dmh" | "";
  year: number | null;
  quarter: number | null;
  epsEstimate: number | null;
  epsActual: number | null;
  revenueEstimate: number | null;
  revenueActual: number | null;
  abroad: boolean;
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

export type EventShown = {
  id: number;
  alert_id: string;
  ticker: string;
  type: "stock" | "crypto" | "doviz";
  condition: "above" | "below" | "rises" | "falls";
  value: number;
  window: "5m" | "15m" | "1h" | "day" | null;
  note: string;
  measured: number;
  price: number;
  happened_at: string;
};

export type Events = {
  events: EventShown[];
  last: number;
};

export type ExchangeChoice = {
  value: string;
  name: string;
  desc: string;
};

export type ExtendedHours = {
  session: "pre" | "post";
  price: number;
  change: number;
  changePercent: number;
  close: number;
  timestamp: string;
};

export type FeedAge = {
  state: "live" | "stale" | "down";
  ageSeconds: number | null;
  problem?: "unreadable";
};

export type FeedDay = {
  covered: number;
  updates: number;
  ageP50Ms: number | null;
  ageP90Ms: number | null;
  ageP99Ms: number | null;
  staleSeconds: number;
  ledSeconds: number;
  refused: Record<string, number>;
  corrections: number;
  writtenAt: string;
};

export type FeedMinutes = {
  symbols: number;
  medianCovered: number;
  fewestCovered: Record<string, number>;
};

export type FeedStatus = {
  state: "live" | "stale" | "down";
  lastUpdate: string | null;
  symbols: number;
  provider: string;
  terms: Terms | null;
  simulated: boolean | null;
  delaySeconds: number | null;
  epoch: string | null;
  seq: number;
};

export type FieldProblem = {
  field: string;
  message: string;
  line?: number;
};

export type FoundSymbol = {
  symbol: string;
  full_name: string;
  description: string;
  exchange: string;
  ticker: string;
  type: string;
};

export type Gap = {
  from: string;
  to: string;
  minutes: number;
};

export type Health = {
  status: "ok";
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

export type Imported = {
  count: number;
  rows?: RowShown[];
};

export type ImportedTransactions = {
  count: number;
  dry_run: boolean;
};

export type KeySecret = {
  id: string;
  name: string;
  key: string;
  plan: string;
  scope: Scope;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  previous_until: string | null;
  secret_key: string;
};

export type KeyShown = {
  id: string;
  name: string;
  key: string;
  plan: string;
  scope: Scope;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  previous_until: string | null;
};

export type KnownQuote = {
  n: string;
  v: QuoteValues;
  s: "ok";
};

export type LayoutShown = {
  layout: Record<string, unknown>;
  version: number;
  updated_at: string | null;
};

export type LotShown = {
  date: string;
  shares: number;
  cost: number;
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

export type Marks = {
  id: string[];
  time: number[];
  color: string[];
  text: string[];
  label: string[];
  labelFontColor: string[];
  minSize: number[];
};

export type Metrics = {
  symbol: string;
  metricType: string;
  metric: Record<string, number | string | null>;
  series: Series;
  currency?: string | null;
  homeSymbol?: string | null;
};

export type Missing = {
  ticker: string;
  reason: "unknown" | "bars" | "rate" | "limit" | "late";
  since?: string | null;
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

export type PathStep = {
  from: string;
  to: string;
  symbol: string;
  provider: string;
};

export type Performance = {
  currency: string;
  range: string;
  start: string;
  end: string;
  start_value: number | null;
  end_value: number | null;
  paid_in: number | null;
  taken_out: number | null;
  gain: number | null;
  time_weighted_return: number | null;
  money_weighted_return: number | null;
  missing: Missing[];
};

export type PortfolioValue = {
  currency: string;
  range: string;
  points: ValuePoint[];
  missing: Missing[];
};

export type PositionShown = {
  ticker: string;
  type: "stock" | "crypto" | "doviz" | null;
  currency: string;
  shares: number;
  cost: number;
  average_cost: number | null;
  realized_gain: number;
  dividends: number;
  fees: number;
  price: number | null;
  market_value: number | null;
  unrealized_gain: number | null;
  converted: ConvertedPosition | null;
  lots: LotShown[];
  problem: string | null;
};

export type Price = {
  symbol: string;
  type: "stock" | "crypto" | "doviz";
  name: string;
  unit: string;
  price: number | null;
  currency: string;
  date: string | null;
  dateAsked: string | null;
  timestamp: string | null;
  status: "live" | "delayed" | "stale" | "close";
  delaySeconds: number | null;
  quotedPrice: number | null;
  quotedCurrency: string;
  rates: RateShown[];
  provider: string;
  show: "yes" | "no" | "agreement" | "unknown" | null;
  attribution: string | null;
  terms: Terms | null;
  adjusted: "raw" | "splits" | "all";
  problem: string | null;
};

export type PriceHistory = {
  symbol: string;
  type: "stock" | "crypto" | "doviz";
  name: string;
  unit: string;
  currency: string;
  quotedCurrency: string;
  path: PathStep[];
  provider: string;
  terms: Terms | null;
  adjusted: "raw" | "splits" | "all";
  prices: DayPrice[];
};

export type Problem = {
  detail: string;
  code?: "bad_request" | "busy" | "cross_site" | "database" | "email_taken" | "forbidden" | "full" | "header_too_large" | "history" | "history_off" | "http_version_not_supported" | "idempotency_key_reused" | "internal_server_error" | "invalid" | "invalid_key" | "invalid_token" | "key_not_enough" | "key_scope" | "malformed_json" | "method_not_allowed" | "misdirected_request" | "name_taken" | "no_data" | "no_provider" | "not_authenticated" | "not_found" | "not_offered" | "not_recorded" | "operator_session_ended" | "plan_doors" | "plan_feeds" | "plan_freshness" | "plan_history" | "plan_sockets" | "push_off" | "request_timeout" | "service_unavailable" | "stale_version" | "symbol_not_found" | "tickets_away" | "too_large" | "unknown_parameter" | "upgrade_required" | "upstream" | "uri_too_long" | "wrong_credentials" | "wrong_operator" | "wrong_password";
  request_id?: string;
  errors?: FieldProblem[];
};

export type Profile = {
  id: string;
  name: string;
  email: string;
};

export type ProposedTransaction = {
  type: "split" | "dividend";
  ticker: string;
  date: string;
  currency: string;
  old_shares: number | null;
  new_shares: number | null;
  amount: number | null;
  held: number;
  action: "split" | "stock_dividend" | "cash_dividend" | "rename" | "merger";
};

export type Push = {
  public_key: string;
  subscriptions: Subscription[];
};

export type Quality = {
  feed: string;
  date: string;
  opensAt: string | null;
  until: string | null;
  minutes: number;
  symbol: SymbolMinutes | null;
  symbols: FeedMinutes | null;
  figures: FeedDay | null;
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

export type QuoteValues = {
  lp: number;
  ch?: number;
  chp?: number;
  short_name: string;
  exchange: string;
  description: string;
  ask?: number;
  bid?: number;
  open_price?: number;
  high_price?: number;
  low_price?: number;
  prev_close_price?: number;
  volume?: number;
};

export type RateShown = {
  from: string;
  to: string;
  rate: number;
  symbol: string;
  timestamp: string | null;
  date: string | null;
  provider: string;
};

export type Readiness = {
  status: "ready" | "loading" | "draining";
  checks: Record<string, string>;
  feeds: Record<string, FeedAge>;
  detail?: string;
  code?: "no_data" | "draining" | "not_serving";
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

export type RowShown = {
  ticker: string;
  shares: number;
  avg_cost: number;
  bought_at: string;
  currency: string;
  type?: "stock" | "crypto" | "doviz" | null;
};

export type Scope = {
  feeds?: ("crypto" | "doviz" | "market")[];
  symbols?: string[];
  origins?: string[];
  addresses?: string[];
};

export type SearchResult = {
  type: "stock" | "crypto" | "doviz";
  ticker: string;
  name: string;
  currency: string;
  exchange?: string | null;
  source?: string | null;
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

export type SessionShown = {
  id: string;
  device: string;
  address: string;
  created_at: string;
  expires_at: string;
  current: boolean;
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
  extended?: ExtendedHours | null;
  type: "stock_quote";
};

export type Subscription = {
  id: string;
  service: string;
  created_at: string;
};

export type SymbolInfo = {
  name: string;
  ticker: string;
  description: string;
  type: string;
  exchange: string;
  listed_exchange: string;
  timezone: string;
  session: string;
  session_holidays: string;
  corrections: string;
  minmov: number;
  pricescale: number;
  format: "price";
  has_intraday: boolean;
  has_daily: boolean;
  has_weekly_and_monthly: boolean;
  intraday_multipliers: string[];
  supported_resolutions: string[];
  visible_plots_set: "ohlcv" | "ohlc";
  volume_precision: number;
  data_status: "streaming" | "delayed_streaming";
  delay?: number;
  currency_code: string;
};

export type SymbolMinutes = {
  symbol: string;
  covered: number;
  gapCount: number;
  gaps: Gap[];
};

export type Terms = {
  show: "yes" | "no" | "agreement" | "unknown";
  store: "yes" | "no" | "agreement" | "unknown";
  redistribute: "yes" | "no" | "agreement" | "unknown";
  delayMinutes: number | null;
  attribution: string | null;
  source: string | null;
  read: string | null;
  summary: string;
};

export type Ticket = {
  ticket: string;
  expires_in: number;
};

export type TransactionShown = {
  id: string;
  type: "buy" | "sell" | "dividend" | "fee" | "split";
  ticker: string;
  date: string;
  currency: string;
  shares: number | null;
  price: number | null;
  fee: number | null;
  amount: number | null;
  old_shares: number | null;
  new_shares: number | null;
  created_at: string;
};

export type Trial = {
  delivered: boolean;
  status: number | null;
  error: string | null;
};

export type TypeChoice = {
  name: string;
  value: string;
};

export type UnknownQuote = {
  n: string;
  v: Record<string, number>;
  s: "error";
};

export type UsageRow = {
  key_id: string;
  name: string;
  day: string;
  requests: number;
  refused: number;
  socket_minutes: number;
  quotes: number;
  bytes: number;
};

export type UserTicket = {
  ticket: string | null;
  expires_in: number;
};

export type ValuePoint = {
  date: string;
  value: number | null;
};

export type Watchlist = {
  id: string;
  name: string;
  position: number;
  size: number;
};

export type WebhookSecret = {
  url: string;
  created_at: string;
  waiting: number;
  failed: number;
  last_sent_at: string | null;
  last_error: string | null;
  last_error_at: string | null;
  secret: string;
};

export type WebhookShown = {
  url: string;
  created_at: string;
  waiting: number;
  failed: number;
  last_sent_at: string | null;
  last_error: string | null;
  last_error_at: string | null;
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

export type PasswordChange = {
  current: string;
  new: string;
};

export type AccountDeletion = {
  password: string;
};

export type NewHolding = {
  ticker: string;
  shares: number;
  avg_cost: number;
  bought_at?: string | null;
  currency?: string;
};

export type HoldingChange = {
  shares?: number;
  avg_cost?: number;
  bought_at?: string;
  currency?: string;
};

export type NewTransaction = {
  type: "buy" | "dividend" | "fee" | "sell" | "split";
  ticker: string;
  date: string;
  currency?: string;
  shares?: number;
  price?: number;
  fee?: number;
  amount?: number;
  old_shares?: number;
  new_shares?: number;
};

export type NewEntry = {
  ticker: string;
  type?: "crypto" | "doviz" | "stock" | null;
};

export type NewOrder = {
  symbols: NamedSymbol[];
};

export type NamedSymbol = {
  ticker: string;
  type: "crypto" | "doviz" | "stock";
};

export type NewAlert = {
  ticker: string;
  condition: "above" | "below" | "falls" | "rises";
  value: number;
  type?: "crypto" | "doviz" | "stock" | null;
  window?: "15m" | "1h" | "5m" | "day" | null;
  note?: string;
  repeats?: boolean;
  webhook?: boolean;
  push?: boolean;
};

export type AlertChange = {
  condition?: "above" | "below" | "falls" | "rises";
  value?: number;
  window?: "15m" | "1h" | "5m" | "day" | null;
  note?: string;
  repeats?: boolean;
  webhook?: boolean;
  push?: boolean;
  active?: boolean;
};

export type NewWebhook = {
  url: string;
};

export type NewSubscription = {
  endpoint: string;
  keys: Keys;
};

export type Keys = {
  p256dh: string;
  auth: string;
};

export type NewWatchlist = {
  name: string;
  symbols?: NamedSymbol[];
};

export type WatchlistChange = {
  name?: string | null;
  position?: number | null;
};

export type NewLayout = {
  layout: Record<string, unknown>;
  version?: number | null;
};

export type NewKey = {
  name: string;
  scope?: Scope;
  expires_at?: string | null;
};

export type KeyChange = {
  name?: string | null;
  scope?: Scope | null;
};

export type KeyRotation = {
  overlap_seconds?: number;
};

export interface Operations {
  "GET /api/market/quotes": { answer: Record<string, StockQuote>; query?: { symbols?: string; limit?: number; after?: string; at?: string; format?: "json" | "csv"; }; };
  "GET /api/market/quotes/{symbol}": { answer: StockQuote; path: { symbol: string; }; query?: { format?: "json" | "csv"; }; };
  "GET /api/market/bars": { answer: Record<string, Bar[]>; query: { symbols: string; range?: "1D" | "5D" | "1M" | "3M" | "6M" | "YTD" | "1Y" | "5Y"; interval?: "1m" | "5m" | "15m" | "1h" | "4h" | "D" | "W" | "M"; timeframe?: "1m" | "5m" | "15m" | "1h" | "4h" | "D" | "W" | "M"; start?: string; end?: string; limit?: number; order?: "asc" | "desc"; page?: string; source?: "own"; as_of?: string; format?: "json" | "csv"; }; };
  "GET /api/market/bars/{symbol}": { answer: Bar[]; path: { symbol: string; }; query?: { range?: "1D" | "5D" | "1M" | "3M" | "6M" | "YTD" | "1Y" | "5Y"; interval?: "1m" | "5m" | "15m" | "1h" | "4h" | "D" | "W" | "M"; timeframe?: "1m" | "5m" | "15m" | "1h" | "4h" | "D" | "W" | "M"; start?: string; end?: string; limit?: number; order?: "asc" | "desc"; page?: string; source?: "own"; session?: "regular" | "extended"; adjustment?: "raw" | "splits" | "all"; as_of?: string; format?: "json" | "csv"; }; };
  "GET /api/market/sparklines": { answer: Record<string, Sparkline>; query: { symbols: string; }; };
  "GET /api/market/actions": { answer: CorporateAction[]; query: { symbols: string; start?: string; end?: string; as_of?: string; format?: "json" | "csv"; }; };
  "GET /api/market/heatmap": { answer: Heatmap; };
  "GET /api/market/movers": { answer: Movers; query?: { format?: "json" | "csv"; }; };
  "GET /api/market/news": { answer: Article[]; query?: { symbols?: string; limit?: number; }; };
  "GET /api/market/assets": { answer: Asset[]; query?: { search?: string; limit?: number; offset?: number; }; };
  "GET /api/market/status": { answer: MarketStatus; };
  "GET /api/crypto/quotes": { answer: Record<string, CryptoQuote>; query?: { limit?: number; after?: string; at?: string; format?: "json" | "csv"; }; };
  "GET /api/crypto/quotes/{symbol}": { answer: CryptoQuote; path: { symbol: string; }; query?: { format?: "json" | "csv"; }; };
  "GET /api/crypto/bars": { answer: Record<string, Bar[]>; query: { symbols: string; timeframe?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; interval?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; start?: string; end?: string; limit?: number; order?: "asc" | "desc"; page?: string; source?: "own"; as_of?: string; format?: "json" | "csv"; }; };
  "GET /api/crypto/bars/{symbol}": { answer: Bar[]; path: { symbol: string; }; query?: { timeframe?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; interval?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; start?: string; end?: string; limit?: number; order?: "asc" | "desc"; page?: string; source?: "own"; as_of?: string; format?: "json" | "csv"; }; };
  "GET /api/crypto/sparklines": { answer: Record<string, Sparkline>; query: { symbols: string; }; };
  "GET /api/crypto/symbols": { answer: CryptoSymbol[]; };
  "GET /api/doviz/quotes": { answer: Record<string, DovizQuote>; query?: { category?: "gold" | "silver" | "precious_metals" | "currency" | "index"; limit?: number; after?: string; at?: string; format?: "json" | "csv"; }; };
  "GET /api/doviz/quotes/{symbol}": { answer: DovizQuote; path: { symbol: string; }; query?: { format?: "json" | "csv"; }; };
  "GET /api/doviz/bars": { answer: Record<string, DovizBar[]>; query: { symbols: string; timeframe?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; interval?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; start?: string; end?: string; limit?: number; order?: "asc" | "desc"; page?: string; source?: "own"; as_of?: string; format?: "json" | "csv"; }; };
  "GET /api/doviz/bars/{symbol}": { answer: DovizBar[]; path: { symbol: string; }; query?: { timeframe?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; interval?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; start?: string; end?: string; limit?: number; order?: "asc" | "desc"; page?: string; source?: "own"; as_of?: string; format?: "json" | "csv"; }; };
  "GET /api/doviz/sparklines": { answer: Record<string, Sparkline>; query: { symbols: string; }; };
  "GET /api/doviz/symbols": { answer: Record<string, DovizSymbol[]>; };
  "GET /api/financials/earnings-calendar": { answer: EarningsCalendar; query?: { from?: string; to?: string; symbol?: string; }; };
  "GET /api/financials/company/{symbol}/overview": { answer: Overview; path: { symbol: string; }; };
  "GET /api/financials/company/{symbol}/metrics": { answer: Metrics; path: { symbol: string; }; };
  "GET /api/financials/company/{symbol}/earnings": { answer: Earnings[]; path: { symbol: string; }; };
  "GET /api/financials/company/{symbol}/recommendations": { answer: Recommendation[]; path: { symbol: string; }; };
  "GET /api/financials/company/{symbol}/revenue-estimates": { answer: EstimatesOfRevenueEstimate; path: { symbol: string; }; };
  "GET /api/financials/company/{symbol}/eps-estimates": { answer: EstimatesOfEpsEstimate; path: { symbol: string; }; };
  "GET /api/financials/company/{symbol}/earnings-quality": { answer: EarningsQuality; path: { symbol: string; }; };
  "GET /api/search": { answer: SearchResult[]; query: { q: string; limit?: number; }; };
  "GET /api/prices": { answer: Record<string, Price>; query: { symbols: string; currency?: string; date?: string; type?: "stock" | "crypto" | "doviz"; unit?: "ounce" | "gram" | "kilogram"; fineness?: string; adjusted?: "raw" | "splits" | "all"; as_of?: string; format?: "json" | "csv" | "beancount" | "ledger"; }; };
  "GET /api/prices/{symbol}": { answer: Price; path: { symbol: string; }; query?: { currency?: string; date?: string; type?: "stock" | "crypto" | "doviz"; unit?: "ounce" | "gram" | "kilogram"; fineness?: string; adjusted?: "raw" | "splits" | "all"; as_of?: string; format?: "json" | "csv" | "beancount" | "ledger"; }; };
  "GET /api/prices/{symbol}/history": { answer: PriceHistory; path: { symbol: string; }; query?: { currency?: string; start?: string; end?: string; type?: "stock" | "crypto" | "doviz"; unit?: "ounce" | "gram" | "kilogram"; fineness?: string; adjusted?: "raw" | "splits" | "all"; as_of?: string; format?: "json" | "csv" | "beancount" | "ledger"; }; };
  "GET /api/quality": { answer: Quality; query: { feed: "market" | "stocks" | "crypto" | "doviz"; symbol?: string; date?: string; }; };
  "GET /api/rates": { answer: ConversionRate; query: { from: string; to: string; date?: string; as_of?: string; }; };
  "GET /widgets.json": { answer: Record<string, unknown>; };
  "GET /apps.json": { answer: (Record<string, unknown>)[]; };
  "GET /api/openbb/market/grid": { answer: (Record<string, unknown>)[]; query: { symbol: string; }; };
  "GET /api/openbb/market/quotes": { answer: (Record<string, unknown>)[]; query?: { group?: string; }; };
  "GET /api/openbb/market/symbols": { answer: (Record<string, unknown>)[]; };
  "GET /api/openbb/market/bars": { answer: Record<string, unknown> | (Record<string, unknown>)[]; query: { symbol: string; range?: "1D" | "5D" | "1M" | "3M" | "6M" | "YTD" | "1Y" | "5Y"; theme?: "dark" | "light"; raw?: "true" | "false"; }; };
  "GET /api/openbb/market/groups": { answer: (Record<string, unknown>)[]; };
  "GET /api/openbb/market/movers": { answer: (Record<string, unknown>)[]; query?: { list?: "gainers" | "losers"; }; };
  "GET /api/openbb/market/heatmap": { answer: Record<string, unknown> | (Record<string, unknown>)[]; query?: { theme?: "dark" | "light"; raw?: "true" | "false"; }; };
  "GET /api/openbb/market/news": { answer: (Record<string, unknown>)[]; query?: { symbol?: string; limit?: number; }; };
  "GET /api/openbb/market/status": { answer: (Record<string, unknown>)[]; };
  "GET /api/openbb/crypto/grid": { answer: (Record<string, unknown>)[]; query: { symbol: string; }; };
  "GET /api/openbb/crypto/quotes": { answer: (Record<string, unknown>)[]; query?: { group?: string; }; };
  "GET /api/openbb/crypto/symbols": { answer: (Record<string, unknown>)[]; };
  "GET /api/openbb/crypto/bars": { answer: Record<string, unknown> | (Record<string, unknown>)[]; query: { symbol: string; timeframe?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; theme?: "dark" | "light"; raw?: "true" | "false"; }; };
  "GET /api/openbb/doviz/grid": { answer: (Record<string, unknown>)[]; query: { symbol: string; }; };
  "GET /api/openbb/doviz/quotes": { answer: (Record<string, unknown>)[]; query?: { group?: string; }; };
  "GET /api/openbb/doviz/symbols": { answer: (Record<string, unknown>)[]; };
  "GET /api/openbb/doviz/bars": { answer: Record<string, unknown> | (Record<string, unknown>)[]; query: { symbol: string; timeframe?: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "D" | "W" | "M"; theme?: "dark" | "light"; raw?: "true" | "false"; }; };
  "GET /api/openbb/doviz/groups": { answer: (Record<string, unknown>)[]; };
  "GET /api/openbb/doviz/banks": { answer: (Record<string, unknown>)[]; query?: { instrument?: string; }; };
  "GET /api/openbb/doviz/instruments": { answer: (Record<string, unknown>)[]; };
  "GET /api/openbb/company/profile": { answer: (Record<string, unknown>)[]; query: { symbol: string; }; };
  "GET /api/openbb/company/metrics": { answer: (Record<string, unknown>)[]; query: { symbol: string; }; };
  "GET /api/openbb/company/earnings": { answer: (Record<string, unknown>)[]; query: { symbol: string; }; };
  "GET /api/openbb/company/recommendations": { answer: (Record<string, unknown>)[]; query: { symbol: string; }; };
  "GET /api/udf/config": { answer: Configuration; };
  "GET /api/udf/symbols": { answer: SymbolInfo; query: { symbol: string; }; };
  "GET /api/udf/search": { answer: FoundSymbol[]; query?: { query?: string; type?: "" | "stock" | "crypto" | "forex" | "commodity" | "index"; exchange?: string; limit?: number; }; };
  "GET /api/udf/history": { answer: ChartBars; query: { symbol: string; resolution: "1" | "5" | "15" | "30" | "60" | "240" | "1D" | "1W" | "1M" | "D" | "W" | "M"; to: number; from?: number; countback?: number; }; };
  "GET /api/udf/marks": { answer: Marks; query: { symbol: string; from: number; to: number; resolution: "1" | "5" | "15" | "30" | "60" | "240" | "1D" | "1W" | "1M" | "D" | "W" | "M"; }; };
  "GET /api/udf/time": { answer: number; };
  "GET /api/udf/quotes": { answer: ChartQuotes; query: { symbols: string; }; };
  "POST /api/auth/register": { answer: Session; body: Registration; };
  "POST /api/auth/login": { answer: Session; body: Credentials; };
  "GET /api/auth/profile": { answer: Profile; };
  "PATCH /api/auth/profile": { answer: Profile; body: ProfileChange; };
  "DELETE /api/auth/profile": { answer: null; body: AccountDeletion; };
  "POST /api/auth/password": { answer: Session; body: PasswordChange; };
  "GET /api/auth/sessions": { answer: SessionShown[]; };
  "DELETE /api/auth/sessions/{session_id}": { answer: null; path: { session_id: string; }; };
  "GET /api/portfolio/holdings": { answer: HoldingShown[]; query?: { include?: "quote"; currency?: string; format?: "json" | "csv"; }; };
  "POST /api/portfolio/holdings": { answer: HoldingShown; body: NewHolding; key?: string; };
  "PATCH /api/portfolio/holdings/{holding_id}": { answer: HoldingShown; path: { holding_id: string; }; body: HoldingChange; };
  "DELETE /api/portfolio/holdings/{holding_id}": { answer: null; path: { holding_id: string; }; };
  "GET /api/portfolio/value": { answer: PortfolioValue; query?: { range?: "1M" | "3M" | "6M" | "YTD" | "1Y" | "5Y"; currency?: string; as_of?: string; }; };
  "GET /api/portfolio/export": { answer: string; };
  "POST /api/portfolio/import": { answer: Imported; query?: { dry_run?: boolean; }; csv: string; key?: string; };
  "GET /api/portfolio/transactions": { answer: TransactionShown[]; query?: { format?: "json" | "csv"; }; };
  "POST /api/portfolio/transactions": { answer: TransactionShown; body: NewTransaction; key?: string; };
  "DELETE /api/portfolio/transactions/{transaction_id}": { answer: null; path: { transaction_id: string; }; };
  "POST /api/portfolio/transactions/import": { answer: ImportedTransactions; query?: { dry_run?: boolean; }; csv: string; key?: string; };
  "GET /api/portfolio/positions": { answer: PositionShown[]; query?: { method?: "fifo" | "average"; currency?: string; }; };
  "GET /api/portfolio/allocation": { answer: Allocation; query?: { by?: "symbol" | "type" | "currency" | "sector"; currency?: string; }; };
  "GET /api/portfolio/proposals": { answer: ProposedTransaction[]; };
  "GET /api/portfolio/performance": { answer: Performance; query?: { range?: "1M" | "3M" | "6M" | "YTD" | "1Y" | "5Y"; currency?: string; }; };
  "GET /api/watchlist": { answer: Entry[]; query?: { include?: "quote"; list?: string; }; };
  "POST /api/watchlist": { answer: Entry; query?: { list?: string; }; body: NewEntry; };
  "PUT /api/watchlist/order": { answer: Entry[]; query?: { list?: string; }; body: NewOrder; };
  "DELETE /api/watchlist/{ticker}": { answer: null; path: { ticker: string; }; query?: { type?: "stock" | "crypto" | "doviz"; list?: string; }; };
  "GET /api/alerts": { answer: AlertShown[]; };
  "POST /api/alerts": { answer: AlertShown; body: NewAlert; key?: string; };
  "GET /api/alerts/{alert_id}": { answer: AlertShown; path: { alert_id: string; }; };
  "PATCH /api/alerts/{alert_id}": { answer: AlertShown; path: { alert_id: string; }; body: AlertChange; };
  "DELETE /api/alerts/{alert_id}": { answer: null; path: { alert_id: string; }; };
  "GET /api/alerts/events": { answer: Events; query?: { after?: number; limit?: number; wait?: number; }; };
  "GET /api/alerts/webhook": { answer: WebhookShown; };
  "PUT /api/alerts/webhook": { answer: WebhookSecret; body: NewWebhook; };
  "DELETE /api/alerts/webhook": { answer: null; };
  "POST /api/alerts/webhook/test": { answer: Trial; };
  "GET /api/alerts/push": { answer: Push; };
  "POST /api/alerts/push": { answer: Subscription; body: NewSubscription; };
  "DELETE /api/alerts/push/{subscription_id}": { answer: null; path: { subscription_id: string; }; };
  "GET /api/watchlists": { answer: Watchlist[]; };
  "POST /api/watchlists": { answer: Watchlist; body: NewWatchlist; };
  "PATCH /api/watchlists/{list_id}": { answer: Watchlist; path: { list_id: string; }; body: WatchlistChange; };
  "DELETE /api/watchlists/{list_id}": { answer: null; path: { list_id: string; }; };
  "GET /api/terminal/layout": { answer: LayoutShown; };
  "PUT /api/terminal/layout": { answer: LayoutShown; body: NewLayout; };
  "POST /api/keys/ticket": { answer: Ticket; };
  "POST /api/auth/ticket": { answer: UserTicket; };
  "GET /api/keys/usage": { answer: UsageRow[]; query?: { key_id?: string; from?: string; to?: string; format?: "json" | "csv"; }; };
  "GET /api/keys": { answer: KeyShown[]; };
  "POST /api/keys": { answer: KeySecret; body: NewKey; };
  "PATCH /api/keys/{key_id}": { answer: KeyShown; path: { key_id: string; }; body: KeyChange; };
  "DELETE /api/keys/{key_id}": { answer: null; path: { key_id: string; }; };
  "POST /api/keys/{key_id}/rotate": { answer: KeySecret; path: { key_id: string; }; body: KeyRotation; };
  "GET /api/sse/market": { answer: string; query?: { symbols?: string; interval?: 100 | 250 | 500 | 1000 | 5000; fields?: string; bars?: "1m" | "5m" | "15m" | "1h" | "D" | "none"; bars_since?: string; since?: string; snapshot?: boolean; heartbeat?: number; }; };
  "GET /api/sse/crypto": { answer: string; query?: { symbols?: string; interval?: 100 | 250 | 500 | 1000 | 5000; fields?: string; bars?: "1m" | "5m" | "15m" | "1h" | "D" | "none"; bars_since?: string; since?: string; snapshot?: boolean; heartbeat?: number; }; };
  "GET /api/sse/doviz": { answer: string; query?: { symbols?: string; interval?: 100 | 250 | 500 | 1000 | 5000; fields?: string; bars?: "1m" | "5m" | "15m" | "1h" | "D" | "none"; bars_since?: string; since?: string; snapshot?: boolean; heartbeat?: number; }; };
  "GET /api/health": { answer: Health; };
  "GET /api/ready": { answer: Readiness; };
  "GET /api/openapi.json": { answer: Record<string, unknown>; };
  "GET /api/asyncapi.json": { answer: Record<string, unknown>; };
}
