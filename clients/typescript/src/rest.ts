import { ApiError, RateLimited } from "./errors.ts";
import type { Operations } from "./rest-types.ts";

/** A route of the service, such as `GET /api/market/movers`. */
export type Route = keyof Operations;
type Parameters<N extends Route> = Omit<Operations[N], "answer"> & { readonly signal?: AbortSignal };
/** The arguments of a call of a route, after its name. */
export type Given<N extends Route> = object extends Parameters<N> ? [Parameters<N>?] : [Parameters<N>];
/** The answer of a route. */
export type Answer<N extends Route> = Operations[N]["answer"];

/** Rate limit of one path, from the headers of an answer. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the next request is allowed. */
  readonly reset: number;
}

export interface RestOptions {
  /** Origin of the service, such as `https://quotes.example.com`. */
  readonly address: string;
  /** Returns the token of the session; null without one. */
  readonly token?: () => string | null;
  /** Returns the API key, for the header `X-API-Key`: a function, so that no log of these options shows the key. */
  readonly apiKey?: () => string | null;
  /** Called after every answer with rate limit headers. */
  readonly onLimit?: (limit: RateLimit) => void;
  /** Called with a token that the service refused as expired or void; `true`, once another is there, repeats the request. */
  readonly onVoidToken?: (token: string) => boolean | Promise<boolean>;
  readonly fetch?: typeof fetch;
}

export interface Page<T> {
  readonly data: T;
  /** The `page` or `after` of the next page; null on the last one. */
  readonly next: string | null;
  /** Smallest step of the prices in `X-Tick-Size`; null without one. */
  readonly tick: number | null;
  /** Hours of a stock's bars in `X-Session`; null without them. */
  readonly session: string | null;
  /** The present symbols of former ones in the request, from `X-Renamed-Symbols`. */
  readonly renamed: Readonly<Record<string, string>>;
}

interface Sent {
  readonly path?: Record<string, string>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
  readonly csv?: string;
  /** Makes a retry safe: the `Idempotency-Key`. */
  readonly key?: string;
  readonly signal?: AbortSignal;
}

/** The service's routes, named as in its OpenAPI document: `rest.call("GET /api/market/movers")`. */
export class Rest {
  /** Paths over their limit, and when by the page's timer they allow a request; earlier requests are not sent. */
  readonly #busy = new Map<string, number>();

  constructor(private readonly options: RestOptions) {}

  /** Returns the body of a route's answer. Throws ApiError, RateLimited, or without an answer fetch's TypeError. */
  async call<N extends Route>(name: N, ...[given]: Given<N>): Promise<Answer<N>> {
    return (await bodyOf(await this.#send(name, given))) as Answer<N>;
  }

  /** Returns a page of a route's answer, and the `page` or `after` of the next one: null on the last. Throws as `call`. */
  async page<N extends Route>(name: N, ...[given]: Given<N>): Promise<Page<Answer<N>>> {
    const response = await this.#send(name, given);
    const header = (name: string) => response.headers.get(name);
    return {
      data: (await bodyOf(response)) as Answer<N>,
      next: header("X-Next-Page") ?? header("X-Next-After"),
      tick: Number(header("X-Tick-Size")) || null,
      session: header("X-Session"),
      renamed: renamedIn(header("X-Renamed-Symbols") ?? ""),
    };
  }

  async #send(name: Route, given: object | undefined): Promise<Response> {
    const [method, template] = name.split(" ") as [string, string];
    const sent = (given ?? {}) as Sent;
    const { path = {}, query = {} } = sent;
    const filled = template.replace(/\{(\w+)\}/g, (_, field: string) => encodeURIComponent(path[field] ?? ""));
    this.#checkBusy(filled);
    const token = this.options.token?.() ?? null;
    const response = await (this.options.fetch ?? fetch)(
      this.options.address + filled + queryString(query),
      request(method, sent, token, this.options.apiKey?.() ?? null),
    );
    this.#reportLimit(response.headers);
    if (response.status === 401 && token && (await this.options.onVoidToken?.(token))) return this.#send(name, given);
    if (!response.ok) throw await this.#toError(filled, response);
    return response;
  }

  #checkBusy(path: string): void {
    const left = ((this.#busy.get(path) ?? 0) - performance.now()) / 1000;
    if (left > 0) throw new RateLimited({ detail: "Too Many Requests" }, left);
    this.#busy.delete(path);
  }

  #reportLimit(headers: Headers): void {
    const remaining = headers.get("X-RateLimit-Remaining");
    if (remaining === null) return;
    const number = (name: string) => Number(headers.get(`X-RateLimit-${name}`) ?? 0);
    this.options.onLimit?.({ limit: number("Limit"), remaining: Number(remaining), reset: number("Reset") });
  }

  async #toError(path: string, response: Response): Promise<ApiError> {
    const problem = await response.json().catch(() => ({
      detail: response.statusText || `HTTP status ${response.status}`,
      request_id: response.headers.get("X-Request-ID") ?? undefined,
    }));
    if (response.status !== 429) return new ApiError(response.status, problem);
    const seconds = Number(response.headers.get("Retry-After") ?? 1);
    this.#busy.set(path, performance.now() + seconds * 1000);
    return new RateLimited(problem, seconds);
  }
}

function bodyOf(response: Response): Promise<unknown> {
  if (response.status === 204) return Promise.resolve(null);
  return response.headers.get("Content-Type")?.startsWith("text/csv") ? response.text() : response.json();
}

function renamedIn(header: string): Record<string, string> {
  return Object.fromEntries(header.split(",").flatMap((each) => (each.includes("=") ? [each.split("=", 2)] : [])));
}

function request(
  method: string,
  { body, csv, key, signal }: Sent,
  token: string | null,
  apiKey: string | null,
): RequestInit {
  const type = csv !== undefined ? "text/csv" : body !== undefined ? "application/json" : null;
  const headers: Record<string, string> = {
    ...(token ? { Authorization: `Bearer ${token}` } : {}),
    ...(apiKey ? { "X-API-Key": apiKey } : {}),
    ...(type ? { "Content-Type": type } : {}),
    ...(key ? { "Idempotency-Key": key } : {}),
  };
  return {
    method,
    headers,
    // `fetch` would send the key to another origin, too.
    ...(apiKey ? { redirect: "error" } : {}),
    ...(signal ? { signal } : {}),
    ...(type ? { body: csv ?? JSON.stringify(body) } : {}),
  };
}

function queryString(query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return given.length ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}` : "";
}
