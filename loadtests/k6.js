// The users of this folder's locust kit, for k6: `k6 run loadtests/k6.js`. See docs/load-testing.md.
//
//   BASE_URL=http://127.0.0.1:8000   the service
//   VUS=50 DURATION=60s              users, in the shares of `USERS`, and for how long
//   ONLY=Frontend,FeedReader         some of the users
//   P95_MS=500 AGE_P99_MS=5000       thresholds of requests and of the ages of quotes
import { sleep } from "k6";
import http from "k6/http";
import { Counter, Trend } from "k6/metrics";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "k6/timers";
import { WebSocket } from "k6/websockets";

// Users and their shares.
const USERS = { Frontend: 6, FeedReader: 3, PollingReader: 1, ReplayReader: 1, Account: 1 };

const ROUTES = {
  status: "GET /api/market/status",
  heatmap: "GET /api/market/heatmap",
  movers: "GET /api/market/movers",
  news: "GET /api/market/news",
  assets: "GET /api/market/assets",
  quotes: "GET /api/market/quotes",
  sparklines: "GET /api/market/sparklines",
  bars: "GET /api/market/bars/{symbol}",
  cryptoQuotes: "GET /api/crypto/quotes",
  dovizQuotes: "GET /api/doviz/quotes",
  dovizSymbols: "GET /api/doviz/symbols",
  dovizBars: "GET /api/doviz/bars/{symbol}",
  dovizSparklines: "GET /api/doviz/sparklines",
  search: "GET /api/search",
  feed: "WS /api/ws/{feed}",
  feeds: "WS /api/ws",
  replay: "WS /api/ws/market",
  register: "POST /api/auth/register",
  login: "POST /api/auth/login",
  profile: "DELETE /api/auth/profile",
  sessions: "GET /api/auth/sessions",
  holdings: "GET /api/portfolio/holdings",
  addHolding: "POST /api/portfolio/holdings",
  changeHolding: "PATCH /api/portfolio/holdings/{id}",
  deleteHolding: "DELETE /api/portfolio/holdings/{id}",
  value: "GET /api/portfolio/value",
  export: "GET /api/portfolio/export",
  import: "POST /api/portfolio/import",
  watchlist: "GET /api/watchlist",
  watch: "POST /api/watchlist",
  reorder: "PUT /api/watchlist/order",
  unwatch: "DELETE /api/watchlist/{ticker}",
  addList: "POST /api/watchlists",
  deleteList: "DELETE /api/watchlists/{id}",
  layout: "GET /api/terminal/layout",
  saveLayout: "PUT /api/terminal/layout",
  addAlert: "POST /api/alerts",
  alertEvents: "GET /api/alerts/events",
  changeAlert: "PATCH /api/alerts/{id}",
  deleteAlert: "DELETE /api/alerts/{id}",
};

const BASE = (__ENV.BASE_URL || "http://127.0.0.1:8000").replace(/\/$/, "");
const DURATION = __ENV.DURATION || "60s";
const FEEDS = { market: ROUTES.quotes, crypto: ROUTES.cryptoQuotes, doviz: ROUTES.dovizQuotes };
const TICKERS = ["AAPL", "MSFT", "NVDA", "BTC/USDT", "gram-altin"];
const SOUGHT = ["altin", "gold", "btcusdt", "is bankasi dolar", "apple", "etherium"];
const RANGES = ["1D", "5D", "1M", "1Y", "5Y"];
const FEED_SECONDS = 180;
// Heartbeats of silence after which a connection counts as dead.
const SILENT_HEARTBEATS = 2.5;

const quoteAge = new Trend("feed_quote_age", true);
const frames = new Counter("feed_frames");
const broken = new Counter("feed_broken");
const limited = new Counter("requests_limited");

export const options = {
  scenarios: scenariosOf(__ENV.ONLY ? __ENV.ONLY.split(",") : Object.keys(USERS)),
  summaryTrendStats: ["avg", "med", "p(95)", "p(99)", "max"],
  thresholds: {
    http_req_failed: ["rate==0"],
    http_req_duration: [`p(95)<${__ENV.P95_MS || 500}`],
    feed_quote_age: [`p(99)<${__ENV.AGE_P99_MS || 5000}`],
    feed_broken: ["count==0"],
  },
};

function scenariosOf(names) {
  const unknown = names.filter((name) => !(name in USERS));
  if (unknown.length) throw new Error(`ONLY: no user ${unknown}; there are ${Object.keys(USERS)}`);
  const all = names.reduce((sum, name) => sum + USERS[name], 0);
  const vus = Number(__ENV.VUS || 50);
  const scenarioOf = (name) => ({
    executor: "constant-vus",
    exec: name,
    vus: Math.max(1, Math.round((vus * USERS[name]) / all)),
    duration: DURATION,
    gracefulStop: "5s",
  });
  return Object.fromEntries(names.map((name) => [name, scenarioOf(name)]));
}

// Sends a request of a route; 429 is no failure: the user waits, as its answer says.
function send(route, { fill = {}, query = {}, body, headers = {}, token, expected = [200, 304] } = {}) {
  const [method, template] = route.split(" ");
  const json = body !== undefined && typeof body !== "string";
  const answer = http.request(method, address(BASE, template, fill, query), json ? JSON.stringify(body) : body, {
    headers: {
      ...(json ? { "Content-Type": "application/json" } : {}),
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
    tags: { name: template },
    responseCallback: http.expectedStatuses(429, ...expected),
  });
  if (answer.status === 429) {
    limited.add(1);
    sleep(Math.min(Number(answer.headers["Retry-After"] || 1), 10));
  }
  return answer;
}

function address(base, template, fill, query) {
  const path = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(fill[name]));
  const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return base + path + (text.length ? `?${text.join("&")}` : "");
}

const chance = (share) => Math.random() < share;
const between = (least, most) => least + Math.random() * (most - least);
const choose = (list) => list[Math.floor(Math.random() * list.length)];
const some = (list, count) => [...list].sort(() => Math.random() - 0.5).slice(0, count);

// Each user has its own copy of these: k6 runs this file once a user.
let tickers = [];
let doviz = [];
const tags = {};

// Sends a request that is conditional after the first one, as a browser's.
function read(route, more = {}) {
  const key = JSON.stringify([route, more]);
  const answer = send(route, { ...more, headers: tags[key] ? { "If-None-Match": tags[key] } : {} });
  if (answer.headers.Etag) tags[key] = answer.headers.Etag;
  return answer;
}

export function Frontend() {
  if (!tickers.length) {
    const answer = send(ROUTES.assets, { query: { limit: 500 } });
    if (answer.status === 200) tickers = some(answer.json().map((asset) => asset.ticker), 12);
  } else if (chance(0.5)) {
    showPage();
  } else {
    choose([showMoment, showPast, showGold, typeSearch])();
  }
  sleep(between(2, 8));
}

function showPage() {
  const symbols = tickers.join();
  read(ROUTES.quotes, { query: { symbols } });
  for (const route of [ROUTES.status, ROUTES.heatmap, ROUTES.movers]) read(route);
  read(ROUTES.news, { query: { limit: 20 } });
  read(ROUTES.bars, { fill: { symbol: choose(tickers) }, query: { range: choose(RANGES) } });
  read(ROUTES.sparklines, { query: { symbols } });
}

// A service without a recording of the moment answers 422.
function showMoment() {
  const at = Date.now() / 1000 - between(5, 3600);
  send(ROUTES.quotes, { query: { symbols: tickers.join(), at: at.toFixed(3) }, expected: [200, 422, 503] });
}

function showPast() {
  const fill = { symbol: choose(tickers) };
  const query = { range: "1Y", interval: "1h", order: "desc", limit: 300 };
  for (let page = 0; page < 3; page += 1) {
    const next = send(ROUTES.bars, { fill, query }).headers["X-Next-Page"];
    if (!next) return;
    query.page = next;
  }
}

function showGold() {
  if (!doviz.length) {
    const answer = send(ROUTES.dovizSymbols);
    if (answer.status === 200) doviz = Object.values(answer.json()).flat().map((each) => each.symbol);
    return;
  }
  const symbols = some(doviz, 12);
  read(ROUTES.dovizBars, { fill: { symbol: symbols[0] }, query: { timeframe: "5m" } });
  read(ROUTES.dovizSparklines, { query: { symbols: symbols.join() } });
}

function typeSearch() {
  const text = choose(SOUGHT);
  for (let end = 1; end <= text.length; end += 1) read(ROUTES.search, { query: { q: text.slice(0, end), limit: 10 } });
}

// Follows one feed: three of ten of all symbols, the others of twenty; half of them on the socket of all feeds.
export function FeedReader() {
  const feed = choose(Object.keys(FEEDS));
  const state = { feed, isWhole: chance(0.3), isShared: chance(0.5), epoch: "", seq: 0 };
  let symbols = "all";
  if (!state.isWhole) {
    const answer = send(FEEDS[feed], { query: feed === "market" ? { symbols: "all" } : {} });
    if (answer.status !== 200) return sleep(1);
    symbols = some(Object.keys(answer.json()), 20).join();
  }
  const query = { [state.isShared ? feed : "symbols"]: symbols, interval: choose([250, 500, 1000]) };
  follow(state.isShared ? ROUTES.feeds : ROUTES.feed, { feed }, query, FEED_SECONDS, (frame) => {
    if (!state.isShared || frame.feed === feed) takeFrame(state, frame);
  });
  return undefined;
}

// Opens a socket for some seconds, with a watchdog; the iteration ends with its close.
function follow(route, fill, query, seconds, take) {
  const url = address(BASE.replace(/^http/, "ws"), route.split(" ")[1], fill, query);
  const socket = new WebSocket(url, null, { tags: { name: route.split(" ")[1] } });
  let heard = Date.now();
  let silence = 30_000;
  let isOurs = false;
  const end = () => {
    isOurs = true;
    socket.close();
  };
  const watching = setInterval(() => {
    if (Date.now() - heard < silence) return;
    fail(`${url}: silent for ${silence} ms`);
    end();
  }, 1000);
  const ending = setTimeout(end, seconds * 1000);
  socket.onmessage = (message) => {
    heard = Date.now();
    frames.add(1);
    const frame = JSON.parse(message.data);
    if (frame.type === "welcome") silence = frame.heartbeatMs * SILENT_HEARTBEATS;
    if (frame.type === "shutdown") isOurs = true;
    take(frame, end);
  };
  socket.onerror = (event) => {
    if (!isOurs) fail(`${url}: ${event.error}`);
    isOurs = true;
  };
  socket.onclose = () => {
    clearInterval(watching);
    clearTimeout(ending);
    if (!isOurs) fail(`${url}: closed`);
  };
}

function fail(reason) {
  broken.add(1);
  console.warn(reason);
}

// Checks the order of frames, and counts the ages of quotes.
function takeFrame(state, frame) {
  if (!["snapshot", "update", "heartbeat"].includes(frame.type)) return;
  const ahead = frame.epoch === state.epoch ? frame.seq - state.seq : 0;
  if (ahead < 0) fail(`${state.feed}: seq went back`);
  // One batch between two heartbeats may change no quote: it closes bars.
  if (ahead > 1 && frame.type === "heartbeat" && state.isWhole) fail(`${state.feed}: a gap`);
  state.epoch = frame.epoch;
  state.seq = frame.seq;
  if (frame.type !== "update") return;
  const now = Date.now();
  for (const quote of frame.data) if (quote.timestamp) quoteAge.add(Math.max(0, now - Date.parse(quote.timestamp)));
}

// k6 cannot read event streams: this user asks for the quotes of one feed every second.
export function PollingReader() {
  const feed = choose(Object.keys(FEEDS));
  for (let round = 0; round < 30; round += 1) {
    read(FEEDS[feed], { query: feed === "market" ? { symbols: "all" } : {} });
    sleep(1);
  }
}

// Six seconds of a replay at ten times its speed; a service without history refuses it in an error frame.
export function ReplayReader() {
  sleep(between(5, 15));
  const at = (Date.now() / 1000 - between(60, 3600)).toFixed(3);
  follow(ROUTES.replay, {}, { symbols: "all", at, speed: 10 }, 6, (frame, end) => {
    if (frame.type === "error") end();
  });
}

// Registers, makes a visit, and deletes the account with all it added.
export function Account() {
  const name = Math.random().toString(36).slice(2);
  const login = { email: `load-${name}@example.com`, password: `${name}${name}!` };
  const made = send(ROUTES.register, { body: { ...login, name: "Load Test" }, expected: [201] });
  const answer = made.status === 201 && send(ROUTES.login, { body: login });
  if (answer && answer.status === 200) {
    const { token } = answer.json();
    for (const step of [showAccount, changeHoldings, changeLists, waitForAlert, saveLayout]) {
      step(token);
      sleep(between(3, 10));
    }
    send(ROUTES.profile, { body: { password: login.password }, token, expected: [204] });
  }
  sleep(between(3, 10));
}

function showAccount(token) {
  send(ROUTES.holdings, { query: { include: "quote" }, token });
  send(ROUTES.watchlist, { query: { include: "quote" }, token });
  send(ROUTES.sessions, { token });
}

function changeHoldings(token) {
  const holding = { ticker: choose(TICKERS), shares: Math.ceil(between(0, 100)), avg_cost: 10.5 };
  const answer = send(ROUTES.addHolding, { body: holding, token, expected: [201] });
  if (answer.status !== 201) return;
  const fill = { id: answer.json().id };
  send(ROUTES.changeHolding, { fill, body: { shares: 7 }, token });
  send(ROUTES.value, { query: { range: "3M" }, token });
  const file = send(ROUTES.export, { token });
  if (file.status === 200) send(ROUTES.import, { query: { dry_run: true }, body: file.body, token });
  send(ROUTES.deleteHolding, { fill, token, expected: [204] });
}

function changeLists(token) {
  const ticker = choose(TICKERS);
  send(ROUTES.watch, { body: { ticker }, token, expected: [200, 201] });
  send(ROUTES.unwatch, { fill: { ticker }, token, expected: [204] });
  const symbols = TICKERS.slice(0, 3).map((each) => ({ ticker: each, type: "stock" }));
  const answer = send(ROUTES.addList, { body: { name: "List", symbols }, token, expected: [201] });
  if (answer.status !== 201) return;
  const { id } = answer.json();
  send(ROUTES.reorder, { query: { list: id }, body: { symbols: symbols.reverse() }, token });
  send(ROUTES.deleteList, { fill: { id }, token, expected: [204] });
}

function waitForAlert(token) {
  const body = { ticker: "AAPL", condition: "rises", value: 0.01, window: "5m", repeats: true };
  const answer = send(ROUTES.addAlert, { body, token, expected: [201] });
  if (answer.status !== 201) return;
  const fill = { id: answer.json().id };
  send(ROUTES.alertEvents, { query: { after: 0, wait: 2 }, token });
  send(ROUTES.changeAlert, { fill, body: { active: false }, token });
  send(ROUTES.deleteAlert, { fill, token, expected: [204] });
}

function saveLayout(token) {
  const answer = send(ROUTES.layout, { token });
  if (answer.status !== 200) return;
  const layout = { panes: [{ kind: "chart", symbol: "AAPL" }] };
  send(ROUTES.saveLayout, { body: { layout, version: answer.json().version }, token });
}
